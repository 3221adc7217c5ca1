import { expect, it } from 'vitest'
import { searchTarget } from '../../../../src/explorer/find/search-target.js'
import { addressDid, didOfTarget } from '../../../../src/explorer/mirror/address-did.js'

const did = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'
const written: readonly string[] = [
  did,
  ` "${did}",`,
  `\u200b${did}`,
  `${did}?versionTime=2027-01-01T00:00:00Z`,
  `${did}#primary`,
  did.replace('did', 'DID'),
  encodeURIComponent(did),
  did.replace('did:ledger:', ''),
  `https://mirror.example/mirror.html#/did/${did}`,
]

it.each(written)('%j names the DID, in the address and in the field', (text) => {
  expect(addressDid({ hash: `#/did/${encodeURIComponent(text)}`, search: '' })).toBe(did)
  expect(addressDid({ hash: '', search: `?did=${encodeURIComponent(text)}` })).toBe(did)
  const target = searchTarget(text)
  expect(target !== undefined && target.kind !== 'secret' && didOfTarget(target, text)).toBe(did)
})

it.each(['did:web:example.org', 'shop', '<script>'])('%s stays as it is', (text) =>
  expect(addressDid({ hash: '', search: `?did=${encodeURIComponent(` ${text} `)}` })).toBe(text),
)

it('an address without a DID, or with the words of a wallet, names none', () => {
  const words = Array(12).fill('abandon').join('+')
  for (const search of ['', '?did=', '?did=+', `?did=${words}`])
    expect(addressDid({ hash: '', search })).toBeUndefined()
  expect(addressDid({ hash: '#/charts', search: '' })).toBeUndefined()
})
