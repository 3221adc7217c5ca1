import { expect, it } from 'vitest'
import { keysOf } from '../../../../src/pages/did/key-uses.js'

it('says what each key may do', () => {
  const did = 'did:ledger:x'
  const key = (name: string, controller = did) => ({ id: `${did}#${name}`, controller, publicKeyBase58: name })
  const document = {
    id: did,
    publicKey: [key('primary'), key('spare'), key('friend', 'did:ledger:y')],
    authentication: [`${did}#primary`],
    authorization: [`${did}#friend`],
    proof: { creator: `${did}#primary` },
  }
  expect(keysOf(document).map(({ publicKey, controller, uses }) => [publicKey, controller, uses])).toEqual([
    ['primary', did, ['default key: its bytes derive the DID', 'sign updates', 'deactivate', 'issue credentials']],
    ['spare', did, []],
    ['friend', 'did:ledger:y', ['deactivate, on behalf of its controller']],
  ])
})

it('a document without keys, or with other things in their place, has none', () => {
  expect(keysOf({})).toEqual([])
  expect(keysOf({ id: 7, publicKey: 'x', authentication: {}, authorization: [null] })).toEqual([])
})
