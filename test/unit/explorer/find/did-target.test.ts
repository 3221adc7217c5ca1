import { expect, it } from 'vitest'
import { credentialSubject, didSubject } from '../../../../src/explorer/find/did-target.js'

const identifier = 'iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'
const did = `did:ledger:${identifier}`

it('a page of a DID takes it in full or as its identifier, and no other text', () => {
  for (const subject of [did, identifier, did.replace('did', 'DID')]) {
    expect(didSubject(subject)).toEqual({ kind: 'did', text: did })
  }
  expect(didSubject('did:ledger:the.shop')).toEqual({ kind: 'did', text: 'did:ledger:the.shop' })
  const reasons: [string, RegExp][] = [
    [`${did.slice(0, -1)}d`, /checksum is wrong/],
    ['did:ledger:EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG', /an address/],
    ['did:ledger:I', /34 characters/],
    [`did:ledger:x:${identifier}`, /34 characters/],
    [`${did} ${did}`, /34 characters/],
    ['', /34 characters/],
    ['did:web:example.org', /begin with did:ledger:/],
    [`${did}#key`, /the id of something/],
  ]
  for (const [subject, reason] of reasons) {
    expect(didSubject(subject)).toMatchObject({ kind: 'wrong', reason: expect.stringMatching(reason) as string })
  }
})

it('a page of a credential takes its absolute id, and no other text', () => {
  expect(credentialSubject(`${did}#a`)).toEqual({ kind: 'credential', text: `${did}#a` })
  for (const subject of [did, `${did}#`, `${did.slice(0, -1)}d#a`, '#a', ''])
    expect(credentialSubject(subject).kind, subject).toBe('wrong')
})
