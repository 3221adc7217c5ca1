import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatchRows } from '../../../src/storage/batch-rows.js'
import { unseal } from '../../../src/storage/sealed-row.js'

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

describe('The rows of a batch', () => {
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
