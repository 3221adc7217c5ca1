import { randomFillSync } from 'node:crypto'
import { join } from 'node:path'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { Block } from '../../../src/base/primitives/block.js'
import type { SignatureCheck } from '../../../src/base/primitives/signature.js'
import { ProgramCheck } from '../../../src/ledger/consensus/program-check.js'
import { NativeLevel, rowBatchOf } from '../../../src/ledger/storage/native-level.js'
import { ChangingCache } from '../changing-cache.js'
import { byTurns, delayDuring, eachOf, mean, rateOf, spentOn, type Work } from '../measure.js'
import { end, forked, said } from '../processes.js'
import { type Row, row } from '../report.js'
import { fundedSpec, transferBlocks, withChain, withDirectory } from '../workshop.js'
import { scriptAt, signaturesAt } from '../../../src/base/primitives/transaction-programs.js'

const transactions = 1000
const blockRounds = { warmUp: 8, measured: 16 }
/** Blocks given to the chain at once, as a sync does. */
const blocksOfSync = 8
const syncRounds = { warmUp: 1, measured: 4 }
/** Blocks for the measurement of the event loop's delay. */
const forDelay = 8

/** Key and value bytes of the rows that one transfer changes; undefined deletes. A value carries a checksum of 4. */
const rowSizes: readonly (readonly [key: number, value: number | undefined])[] = [
  [7, 284],
  [33, 10],
  [28, 4],
  [35, undefined],
  [60, undefined],
  [35, 42],
  [60, 12],
  [22, 16],
]

/**
 * Connecting blocks of 1000 one-signature transactions by 1000 keys, every index, synced: with unknown signatures, one block a
 * batch and eight as in a sync, against verifying as many in a process that does nothing else; with known ones against writing rows
 * of the same number and sizes straight into a LevelDB.
 */
export async function suite(): Promise<Row[]> {
  const before = await poolAlone()
  const { single, known, bare, sync, delay } = await withRawStore(figures)
  const pool = mean([before, await poolAlone()])
  const [one, eight, cached] = [
    rateOf(single, transactions),
    rateOf(sync, transactions * blocksOfSync),
    rateOf(known, transactions),
  ]
  const against = 'the pool'
  const raw = cached / rateOf(bare, transactions)
  return [
    row('verify signatures, a pool in a process of its own', pool, '/s'),
    row('connect blocks of 1000 transfers, one a batch', one, 'tx/s', { ratio: [one / pool, against], least: 0.5 }),
    row('the same, eight a batch as in a sync', eight, 'tx/s', { ratio: [eight / pool, against], least: 0.65 }),
    row('the same, signatures known from the pool of transactions', cached, 'tx/s', {
      ratio: [raw, 'a bare batch'],
      least: 0.7,
    }),
    row('main thread a transfer, verified', eachOf(single, 'main', transactions), 'µs', { most: 16 }),
    row('of it garbage collection', eachOf(single, 'collecting', transactions), 'µs', { most: 1 }),
    row('main thread a transfer, signatures known', eachOf(known, 'main', transactions), 'µs'),
    row('other threads a transfer, signatures known', eachOf(known, 'others', transactions), 'µs'),
    row('event-loop delay p99 while connecting', delay.percentile(99) / 1e6, 'ms', { most: 10 }),
  ]
}

async function poolAlone(): Promise<number> {
  const pool = forked(new URL('../pool-alone.ts', import.meta.url))
  const rate = await said<number>(pool)
  await end(pool)
  return rate
}

async function figures(rawWrite: () => Work) {
  const { spec, payers } = fundedSpec(transactions)
  const signatures = new ChangingCache()
  return withChain(
    spec,
    async (chain) => {
      const rounds = [blockRounds, syncRounds].map(({ warmUp, measured }) => warmUp + measured) as [number, number]
      const blocks = await transferBlocks(chain, payers, 2 * rounds[0] + rounds[1] * blocksOfSync + forDelay)
      const next = () => blocks.shift() as Uint8Array
      const singles = await byTurns(blockRounds, spentOn, {
        single: () => {
          signatures.current = new SignatureCache()
          return () => chain.acceptBlock(next())
        },
        known: () => {
          signatures.current = new SignatureCache()
          signatures.current.add(checksOf(blocks[0] as Uint8Array))
          return () => chain.acceptBlock(next())
        },
        bare: rawWrite,
      })
      signatures.current = new SignatureCache()
      const { sync } = await byTurns(syncRounds, spentOn, {
        sync: () => {
          const run = blocks.splice(0, blocksOfSync).map((block) => ({ block }))
          return () => chain.acceptBlocks(run)
        },
      })
      const delay = await delayDuring(async () => {
        for (const block of blocks) await chain.acceptBlock(block)
      })
      return { ...singles, sync, delay }
    },
    { signatures },
  )
}

/** The signatures of the programs in a block. */
function checksOf(bytes: Uint8Array): SignatureCheck[] {
  return Block.fromBytes(bytes)
    .transactions.slice(1)
    .flatMap((tx) =>
      tx.programs.map((_, i) => {
        const [script, signatures] = [scriptAt(tx, i), signaturesAt(tx, i)]
        if (script === undefined || signatures === undefined) throw new Error('a program of our own does not parse')
        return new ProgramCheck(tx, i, script, signatures)
      }),
    )
}

/**
 * Runs with the preparation of a write: as many rows of the same sizes as one block changes, with keys in random order, as one synced
 * batch into a LevelDB of its own. Always the same memory: new objects would be collected with those measured.
 */
function withRawStore<T>(run: (write: () => Work) => Promise<T>): Promise<T> {
  return withDirectory(async (directory) => {
    const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
    const level = new NativeLevel(join(directory, 'rows'), { ...encodings, compression: false })
    await level.open()
    const size = rowSizes.reduce((sum, [key, value = 0]) => sum + key + value, 0) * transactions
    const memory = Buffer.alloc(size)
    let at = 0
    const take = (length: number) => memory.subarray(at, (at += length))
    const rows = Array.from({ length: transactions }, () =>
      rowSizes.map(([key, value]) => ({ key: take(key), value: value === undefined ? undefined : take(value) })),
    ).flat()
    const write = async () => {
      const batch = rowBatchOf(level)
      for (const { key, value } of rows) {
        if (value === undefined) batch.del(key)
        else batch.put(key, value)
      }
      await batch.write({ sync: true })
    }
    try {
      return await run(() => {
        randomFillSync(memory)
        return write
      })
    } finally {
      await level.close()
    }
  })
}
