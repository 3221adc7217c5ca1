import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatchRows } from '../../../../../src/ledger/storage/write/batch-rows.js'
import { RowBuffer } from '../../../../../src/ledger/storage/write/row-buffer.js'
import { seal, unseal } from '../../../../../src/ledger/storage/rows/sealed-row.js'

interface Row {
  readonly key: Buffer
  readonly value: Buffer | undefined
}

const bytes = (maxLength: number) => fc.uint8Array({ maxLength, size: 'max' }).map((some) => Buffer.from(some))
const row: fc.Arbitrary<Row> = fc.record({
  key: bytes(60),
  // Some are larger than what is gathered before it is hashed.
  value: fc.oneof(
    { weight: 5, arbitrary: fc.option(bytes(300), { nil: undefined }) },
    fc.integer({ min: 0, max: 40_000 }).map((length) => Buffer.alloc(length, length)),
  ),
})

/** Rows as text: comparing buffers byte by byte takes seconds. */
const textOf = (rows: readonly Row[]) =>
  rows.map(({ key, value }) => `${key.toString('hex')}:${value?.toString('hex')}`).join()

/** A row in memory of its size. */
function fixed(key: Buffer, value: Buffer): RowBuffer {
  const made = new RowBuffer(key.length, value.length)
  key.copy(made.key)
  // What was there before is no part of it.
  made.begin().bytes(Buffer.alloc(value.length, 0xee))
  made.begin().bytes(value)
  return made
}

describe('The rows of a batch', () => {
  it('carry the same checksum for every value without bytes, wherever these lie', () => {
    const key = Buffer.from('key')
    const nowhere = new Uint8Array(0)
    expect(nowhere.buffer.byteLength).toBe(0)
    for (const value of [nowhere, new Uint8Array(0), Buffer.alloc(4).subarray(2, 2)]) {
      const sealed = seal(key, value)
      expect(sealed).toEqual(seal(key, Buffer.alloc(0)))
      expect(unseal(key, sealed)).toHaveLength(0)
      expect(() => unseal(Buffer.from('kez'), sealed)).toThrow(/not as it was written/)
      new BatchRows({
        put: (_, stored) => expect(stored).toEqual(sealed),
        del: () => {},
        write: () => Promise.resolve(),
      }).put(key, value)
    }
  })

  it('carry their checksum, and have the digest of lengths, keys and values', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40, size: 'max' }), (rows) => {
        const stored: Row[] = []
        const batch = new BatchRows({
          put: (key, sealed) =>
            void stored.push({ key: Buffer.from(key), value: unseal(Buffer.from(key), Buffer.from(sealed)) }),
          del: (key) => void stored.push({ key: Buffer.from(key), value: undefined }),
          write: () => Promise.resolve(),
        })
        const digest = createHash('sha256')
        let size = 0
        for (const { key, value } of rows) {
          if (value === undefined) batch.del(key)
          else if (key.length > 0 && size % 2 === 1) batch.putRow(fixed(key, value))
          else batch.put(key, value)
          const lengths = Buffer.alloc(8)
          lengths.writeUInt32LE(key.length, 0)
          lengths.writeInt32LE(value?.length ?? -1, 4)
          digest
            .update(lengths)
            .update(key)
            .update(value ?? '')
          size += key.length + (value?.length ?? 0)
        }
        expect(textOf(stored) === textOf(rows)).toBe(true)
        expect(batch.bytes).toBe(size)
        expect(Buffer.from(batch.digest())).toEqual(digest.digest())
      }),
    )
  })
})
