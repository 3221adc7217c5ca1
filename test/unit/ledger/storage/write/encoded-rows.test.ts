import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finish } from '../../../../../src/base/primitives/steps.js'
import { BatchRows } from '../../../../../src/ledger/storage/write/batch-rows.js'
import { EncodedRows } from '../../../../../src/ledger/storage/write/encoded-rows.js'
import { unseal } from '../../../../../src/ledger/storage/rows/sealed-row.js'
import { collectGarbage } from '../../../../support/assert/heap-probe.js'

type Row = readonly [key: string, value: string | undefined]

/** The rows as a batch gets them. */
function rowsOf(encoded: EncodedRows): Row[] {
  const rows: Row[] = []
  const copy = (bytes: Uint8Array) => Buffer.from(bytes)
  const batch = new BatchRows({
    put: (key, sealed) => void rows.push([copy(key).toString('hex'), unseal(copy(key), copy(sealed)).toString('hex')]),
    del: (key) => void rows.push([copy(key).toString('hex'), undefined]),
    write: () => Promise.resolve(),
  })
  finish(encoded.steps(batch))
  return rows
}

const bytes = (maxLength: number) =>
  fc.integer({ min: 0, max: maxLength }).map((length) => Buffer.alloc(length, length))
const row = fc.record({
  key: bytes(60),
  value: fc.oneof({ weight: 5, arbitrary: fc.option(bytes(300), { nil: undefined }) }, bytes(400_000)),
})

describe('Encoded rows', () => {
  it('come back as they were written, in their order, with those appended', () => {
    fc.assert(
      fc.property(fc.array(fc.array(row, { maxLength: 12 }), { maxLength: 5 }), (parts) => {
        const encoded = new EncodedRows()
        for (const [i, part] of parts.entries()) {
          // Every other part comes by way of rows of its own.
          const own = i % 2 === 0 ? encoded : new EncodedRows()
          for (const { key, value } of part) {
            if (value === undefined) own.del(key)
            else own.put(key, value)
            // A caller may use the memory again.
            key.fill(0)
          }
          if (own !== encoded) encoded.append(own)
        }
        const expected = parts
          .flat()
          .map(({ key, value }) => [Buffer.alloc(key.length, key.length).toString('hex'), value?.toString('hex')])
        expect(JSON.stringify(rowsOf(encoded)) === JSON.stringify(expected)).toBe(true)
        expect(encoded.count).toBe(expected.length)
      }),
      { numRuns: 50 },
    )
  })

  it('take about their bytes, however many others are appended', () => {
    const before = process.memoryUsage().arrayBuffers
    const whole = new EncodedRows()
    for (let i = 0; i < 5_000; i++) {
      const encoded = new EncodedRows()
      encoded.put(Buffer.alloc(28, 1), Buffer.alloc(10))
      whole.append(encoded)
    }
    expect(rowsOf(whole)).toHaveLength(5_000)
    // 220 kB of rows; what was appended may not be collected yet.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(30_000_000)
  })

  it('leave no memory behind, of however many sizes they are', async () => {
    const write = (size: number) => {
      const encoded = new EncodedRows()
      encoded.put(Buffer.alloc(7, 1), Buffer.alloc(size))
      expect(rowsOf(encoded)).toHaveLength(1)
    }
    const held = () => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers
    }
    const before = held()
    for (let size = 40_000; size < 41_000; size++) write(size)
    // 40 MB were written. Memory is given back beside what runs.
    await expect.poll(() => held() - before, { timeout: 10_000 }).toBeLessThan(10_000_000)
  })
})
