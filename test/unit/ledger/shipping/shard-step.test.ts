import { describe, expect, it } from 'vitest'
import { shardOf } from '../../../../src/ledger/engine/slots.js'
import { gatherStep, uuidOf } from '../../../../src/ledger/shipping/shard-step.js'
import { seal } from '../../../../src/ledger/storage/rows/sealed-row.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import type { NumberedRow } from '../../../../src/ledger/storage/write/outbox.js'
import { OutboxRows } from '../../../../src/ledger/storage/write/outbox-rows.js'

const digest = (sequence: number) => Buffer.alloc(32, sequence)
const key = (height: number) => tables.undo.key(height)

interface Batch {
  readonly sequence: number
  readonly before?: number
  readonly isOpen?: boolean
  readonly puts?: readonly (readonly [Buffer, string])[]
  readonly dels?: readonly Buffer[]
}

function rowOf({ sequence, before = sequence - 1, isOpen = false, puts = [], dels = [] }: Batch): NumberedRow {
  const collected = new OutboxRows()
  for (const [at, value] of puts) collected.put(at, seal(at, Buffer.from(value)))
  for (const at of dels) collected.del(at)
  const ends = {
    digestBefore: digest(before),
    digest: digest(sequence),
    height: sequence,
    hash: digest(0),
    time: sequence,
  }
  return { sequence, before, ...ends, isOpen: isOpen ? 1 : 0, total: 10 * sequence, rows: collected.bytes }
}

function gather(batches: readonly Batch[], { shards = 1, until = Infinity } = {}) {
  const after = async function* (sequence: number) {
    for (const row of batches.map(rowOf)) if (row.sequence > sequence) yield row
  }
  return gatherStep({ after }, { stream: 'the stream', sequence: 4, digest: digest(4) }, shards, until)
}

describe('a step', () => {
  it('has the last change of each key, and ends with the last batch', async () => {
    const step = await gather([
      {
        sequence: 5,
        puts: [
          [key(1), 'one'],
          [key(2), 'two'],
        ],
      },
      { sequence: 6, puts: [[key(1), 'other']], dels: [key(2), key(3)] },
      { sequence: 7, puts: [[key(3), 'three']] },
    ])
    expect(step?.to).toMatchObject({ stream: 'the stream', sequence: 7, digest: digest(7), height: 7, time: 7 })
    expect(step?.total).toBe(70)
    const [{ puts, dels }] = step?.changes as [{ puts: [Buffer, Buffer][]; dels: Buffer[] }]
    expect(puts.map(([at, sealed]) => [at, sealed])).toEqual([
      [key(1), seal(key(1), Buffer.from('other'))],
      [key(3), seal(key(3), Buffer.from('three'))],
    ])
    expect(dels).toEqual([key(2)])
  })

  it('gives every shard its rows, and the rows of all to each', async () => {
    const heights = Array.from({ length: 50 }, (_, height) => height)
    const puts = [...heights.map((height) => [key(height), 'row'] as const), [tables.active.key(1), 'all'] as const]
    const { changes } = (await gather([{ sequence: 5, puts }], { shards: 3 })) ?? { changes: [] }
    changes.forEach((change, shard) => {
      const own = heights.map(key).filter((at) => shardOf(at, 3) === shard)
      expect(change.puts.map(([at]) => at)).toEqual([...own, tables.active.key(1)])
    })
  })

  it('never ends in a reorganisation, however large', async () => {
    const large = 'x'.repeat(5 * 2 ** 20)
    const open = { isOpen: true, puts: [[key(1), large]] as const }
    const batches = [
      { sequence: 5 },
      { sequence: 6, ...open },
      { sequence: 7, ...open },
      { sequence: 8 },
      { sequence: 9 },
    ]
    expect((await gather(batches))?.to.sequence).toBe(8)
    expect((await gather(batches.slice(0, 3)))?.to.sequence).toBe(5)
    expect(
      await gather(batches.slice(1, 3).map((batch) => ({ ...batch, sequence: batch.sequence - 1 }))),
    ).toBeUndefined()
  })

  it('ends with 1000 batches, with 4 MiB, and where it is told to', async () => {
    const many = Array.from({ length: 200 }, (_, i) => ({ sequence: 5 + i }))
    expect((await gather(many, { until: 9 }))?.to.sequence).toBe(9)
    const large = { puts: [[key(1), 'x'.repeat(3 * 2 ** 20)]] as const }
    const some = [5, 6, 7, 8].map((sequence) => ({ sequence, ...large }))
    expect((await gather(some))?.to.sequence).toBe(6)
  })

  it('is refused where a batch is gone, or is not the one that was expected', async () => {
    await expect(gather([{ sequence: 6 }])).rejects.toThrow('batch 6 follows batch 5, the shards have 4')
    await expect(gather([{ sequence: 5 }, { sequence: 7 }])).rejects.toThrow('batch 7 follows batch 6')
    const other = gatherStep(
      {
        after: async function* () {
          yield rowOf({ sequence: 5 })
        },
      },
      { stream: '', sequence: 4, digest: digest(44) },
      1,
    )
    await expect(other).rejects.toThrow('batch 5 follows batch 4')
  })
})

it('uuidOf writes 16 bytes as a UUID', () => {
  expect(uuidOf(Uint8Array.from({ length: 16 }, (_, i) => i))).toBe('00010203-0405-0607-0809-0a0b0c0d0e0f')
})
