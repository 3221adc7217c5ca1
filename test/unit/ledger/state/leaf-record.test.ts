import { describe, expect, it } from 'vitest'
import { CodecError, decodeAll, Writer } from '../../../../src/base/primitives/codec.js'
import { keyOfIdentifier } from '../../../../src/base/primitives/did-key.js'
import { longestName } from '../../../../src/base/primitives/did-name.js'
import { credentialMapKey, didMapKey } from '../../../../src/identity/proofs/map-tree.js'
import { leafOf, type LeafRecord, leafSize, readLeaf, writeLeaf } from '../../../../src/ledger/state/leaf-record.js'
import { named } from '../../../support/builders/named-did.js'

const keyOf = (name: string) => keyOfIdentifier(name) as Uint8Array
const entry = { operation: 1, height: 7, time: 8, txid: new Uint8Array(32), payloadHash: new Uint8Array(32) } as const
const rest = { entries: [entry], transactions: [Uint8Array.of(1, 2)] }
const bytesOf = (record: LeafRecord) => {
  const writer = new Writer(256)
  writeLeaf(writer, record)
  return writer.finish()
}
const read = (bytes: Uint8Array) => decodeAll(bytes, readLeaf, (reason) => new CodecError(reason))

describe('a leaf of a state', () => {
  it.each<[string, LeafRecord, Uint8Array]>([
    ['of a short name', { did: keyOf('n'.repeat(30)), ...rest }, didMapKey(named('n'.repeat(30)))],
    ...[31, longestName].map((length): [string, LeafRecord, Uint8Array] => {
      const text = named('n'.repeat(length))
      return [`of a name of ${length}`, { did: keyOf('n'.repeat(length)), text, ...rest }, didMapKey(text)]
    }),
    [
      'of a credential of a long name',
      { did: keyOf('n'.repeat(31)), text: named('n'.repeat(31)), credential: 'did:ledger:x#1', ...rest },
      credentialMapKey('did:ledger:x#1', named('n'.repeat(31))),
    ],
  ])('%s is read as it was written, and has its place by the whole text', (_, record, key) => {
    const bytes = bytesOf(record)
    expect(read(bytes)).toMatchObject(record.text === undefined ? {} : { text: record.text })
    expect(bytesOf(read(bytes))).toEqual(bytes)
    expect(bytes.length).toBeGreaterThanOrEqual(leafSize)
    expect(leafOf(record).key).toEqual(key)
    for (let length = 0; length < bytes.length; length++) expect(() => read(bytes.subarray(0, length))).toThrow()
  })

  it.each([named('m'.repeat(31)), named('shop'), named('n'.repeat(32)), 'n'.repeat(31), ''])(
    'is refused with the key of a long name and the text %j',
    (text) => {
      expect(() => read(bytesOf({ did: keyOf('n'.repeat(31)), text, ...rest }))).toThrow(CodecError)
    },
  )
})
