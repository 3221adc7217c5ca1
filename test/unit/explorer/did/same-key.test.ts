import bs58 from 'bs58'
import { describe, expect, it } from 'vitest'
import {
  addressFromPublicKey,
  didFromPublicKey,
  singleKeyCode,
  trailer,
} from '../../../../src/base/primitives/address.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { multisigCode } from '../../../../src/base/primitives/program.js'
import { addressOfDocument, didOfCode } from '../../../../src/explorer/did/same-key.js'
import { testPublicKey } from '../../../support/builders/spec.js'

const [key, other] = [testPublicKey(1), testPublicKey(2)]
const address = addressFromPublicKey(key)
const did = didFromPublicKey(key, { method: 'ledger' })

describe('the address of a document', () => {
  const listed = (...keys: Uint8Array[]) => keys.map((one, at) => ({ id: `#${at}`, publicKeyBase58: bs58.encode(one) }))

  it('is that of the key that the DID is derived from', () => {
    expect(addressOfDocument({ id: did, publicKey: listed(other, key) })).toBe(address)
  })

  it.each([
    ['a document of another key', { id: did, publicKey: listed(other) }],
    ['one without keys', { id: did }],
    ['one without an id', { publicKey: listed(key) }],
    [
      'a key that is no key',
      { id: did, publicKey: [{ id: '#0', publicKeyBase58: 'l'.repeat(100_000) }, { id: '#1' }] },
    ],
  ])('there is none for %s', (_, document) => {
    expect(addressOfDocument(document)).toBeUndefined()
  })
})

describe('the DID of a code', () => {
  it('is that of the key that spends from the address', () => {
    expect(didOfCode(toHex(singleKeyCode(key)), address)).toBe(did)
  })

  it.each([
    ['the code of another address', toHex(singleKeyCode(other))],
    ['that of a DID', toHex(singleKeyCode(key, trailer.did))],
    ['one of several keys', toHex(multisigCode(1, [key, other]))],
    ['text that is no hex', 'zz'],
    ['nothing', ''],
  ])('there is none for %s', (_, code) => {
    expect(didOfCode(code, address)).toBeUndefined()
  })
})
