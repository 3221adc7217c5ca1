import { expect, it } from 'vitest'
import { longestName } from '../../../../src/base/primitives/did-name.js'
import { referredDid } from '../../../../src/explorer/did/referred-did.js'

const dids = [
  'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc',
  'did:ledger:acme-corp.eu',
  `did:ledger:${'n'.repeat(longestName)}`,
]

it.each(dids)('%s is referred to, also by what belongs to it', (did) => {
  for (const text of [did, `${did}#primary`]) expect(referredDid(text)).toBe(did)
})

it.each([
  'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  'did:web:example.org',
  'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4ud',
  'did:ledger:EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG',
  'did:ledger:Shop',
  `did:ledger:${'n'.repeat(longestName + 1)}`,
  'did:ledger:shop and more',
  'did:ledger:x:shop',
  'see did:ledger:shop',
  '',
])('%j refers to none of this chain', (text) => expect(referredDid(text)).toBeUndefined())
