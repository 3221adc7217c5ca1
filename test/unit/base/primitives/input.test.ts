import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import { Reader } from '../../../../src/base/primitives/codec.js'
import { sha256d, zeroHash } from '../../../../src/base/primitives/hash.js'
import {
  coinbaseInput,
  isCoinbaseOutpoint,
  outpointKey,
  outpointOf,
  outputKey,
  readInput,
} from '../../../../src/base/primitives/input.js'
import { hash, runs, u16, u32 } from '../../../support/builders/arbitraries.js'
import { plainForm } from '../../../support/assert/plain-form.js'

describe('outpoints', () => {
  it('know the one that coinbases name', () => {
    expect(isCoinbaseOutpoint(coinbaseInput)).toBe(true)
    expect(isCoinbaseOutpoint({ ...coinbaseInput, index: 0 })).toBe(false)
    expect(isCoinbaseOutpoint({ ...coinbaseInput, txid: sha256d(zeroHash) })).toBe(false)
  })

  it('have equal keys exactly when they are equal', () => {
    const txid = sha256d(zeroHash)
    expect(outpointKey({ txid, index: 12 })).toBe(outpointKey({ txid: Uint8Array.from(txid), index: 12 }))
    expect(outpointKey({ txid, index: 1 })).not.toBe(outpointKey({ txid, index: 12 }))
    expect(outpointKey({ txid: zeroHash, index: 1 })).not.toBe(outpointKey({ txid, index: 1 }))
  })

  it('are found again in their keys, however these were made', () => {
    fc.assert(
      fc.property(hash, u16, u32, (txid, index, sequence) => {
        const key = outpointKey({ txid, index })
        expect(plainForm(outpointOf(key))).toEqual(plainForm({ txid, index }))
        expect(outputKey(mapKey(txid), index)).toBe(key)
        const bytes = Buffer.alloc(38)
        bytes.set(txid)
        bytes.writeUInt16LE(index, 32)
        bytes.writeUInt32LE(sequence, 34)
        const input = readInput(new Reader(bytes))
        expect(outpointKey(input)).toBe(key)
        const read = { txid: input.txid, index: input.index, sequence: input.sequence }
        expect(plainForm(read)).toEqual(plainForm({ txid, index, sequence }))
      }),
      runs,
    )
  })
})
