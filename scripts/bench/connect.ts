import { randomFillSync } from 'node:crypto'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { type Chain, createVerifierPool, NativeLevel, rowBatchOf, SignatureCache } from './dist.js'
import { fundedSpec, spendGenesis, withChain, withDirectory } from './load.js'
import { ChangingCache, checksOf, transferBlocks } from './prepared-blocks.js'
import { run } from './processes.js'
import { median, type Row } from './report.js'
import { type Spent, spentOn } from './thread-time.js'

const transactionsPerBlock = 1000
/** Rounds before the measured ones: the first blocks run before V8 has compiled the code. */
const warmUp = 8
const measured = 16
/** Blocks given to the chain at once, as a sync does. */
const blocksOfSync = 8
const syncs = { warmUp: 1, measured: 4 }
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
 * of the same number and sizes straight into a LevelDB. All alternate.
 */
export async function connectSuite(): Promise<Row[]> {
  const before = await poolAlone()
  const figures = await connectFigures()
  const pool = (before + (await poolAlone())) / 2
  const { single, sync, known, bare, delay } = figures
  const rate = (spent: readonly Spent[], blocks = 1) =>
    (transactionsPerBlock * blocks) / (median(spent.map(({ wall }) => wall)) / 1000)
  const each = (spent: readonly Spent[], of: keyof Spent) =>
    (median(spent.map((one) => one[of])) * 1000) / transactionsPerBlock
  return [
    { name: 'verify signatures, a pool in a process of its own', value: pool, unit: '/s' },
    {
      name: 'connect blocks of 1000 transfers, one a batch',
      value: rate(single),
      unit: 'tx/s',
      ratio: { value: rate(single) / pool, against: 'the pool' },
      target: { least: 0.5 },
    },
    {
      name: 'the same, eight a batch as in a sync',
      value: rate(sync, blocksOfSync),
      unit: 'tx/s',
      ratio: { value: rate(sync, blocksOfSync) / pool, against: 'the pool' },
      target: { least: 0.65 },
    },
    {
      name: 'the same, signatures known from the pool of transactions',
      value: rate(known),
      unit: 'tx/s',
      ratio: { value: rate(known) / rate(bare), against: 'a bare batch' },
      target: { least: 0.7 },
    },
    { name: 'main thread a transfer, verified', value: each(single, 'main'), unit: 'µs', target: { most: 16 } },
    { name: 'of it garbage collection', value: each(single, 'collecting'), unit: 'µs', target: { most: 1 } },
    { name: 'main thread a transfer, signatures known', value: each(known, 'main'), unit: 'µs' },
    { name: 'other threads a transfer, signatures known', value: each(known, 'others'), unit: 'µs' },
    { name: 'event-loop delay p99 while connecting', value: delay, unit: 'ms', target: { most: 10 } },
  ]
}

interface Figures {
  readonly single: readonly Spent[]
  readonly sync: readonly Spent[]
  readonly known: readonly Spent[]
  readonly bare: readonly Spent[]
  readonly delay: number
}

async function connectFigures(): Promise<Figures> {
  const { spec, payers } = fundedSpec(transactionsPerBlock)
  const verifier = createVerifierPool()
  try {
    const signatures = new ChangingCache()
    return await withChain(spec, { verifier, signatures }, (chain) =>
      withRawStore(async (writeRows) => {
        spendGenesis(chain, payers)
        const singles = 2 * (warmUp + measured)
        const inSyncs = (syncs.warmUp + syncs.measured) * blocksOfSync
        const blocks = await transferBlocks(chain, payers, singles + inSyncs + forDelay)
        const fresh = rawRows()
        const figures = { single: [], known: [], bare: [], sync: [] } satisfies Record<string, Spent[]>
        const { single, known, bare, sync }: Record<keyof typeof figures, Spent[]> = figures
        for (let round = 0; round < warmUp + measured; round++) {
          const [first, second] = blocks.splice(0, 2) as [Uint8Array, Uint8Array]
          const unknown = await spentOn(() => chain.acceptBlock(first))
          signatures.current = new SignatureCache()
          signatures.current.add(checksOf(second))
          const cached = await spentOn(() => chain.acceptBlock(second))
          signatures.current = new SignatureCache()
          const rows = fresh()
          const raw = await spentOn(() => writeRows(rows))
          if (round < warmUp) continue
          single.push(unknown)
          known.push(cached)
          bare.push(raw)
        }
        for (let round = 0; round < syncs.warmUp + syncs.measured; round++) {
          const run = blocks.splice(0, blocksOfSync).map((block) => ({ block }))
          const spent = await spentOn(() => chain.acceptBlocks(run))
          if (round >= syncs.warmUp) sync.push(spent)
        }
        return { single, sync, known, bare, delay: await delayWhile(chain, blocks) }
      }),
    )
  } finally {
    await verifier.close()
  }
}

async function poolAlone(): Promise<number> {
  const script = fileURLToPath(new URL('pool-alone.ts', import.meta.url))
  const pool = await run(['--import', 'tsx', script], /^rate (\d+)$/)
  await pool.stop()
  return Number(pool.announced)
}

interface RawRow {
  readonly key: Buffer
  readonly value: Buffer | undefined
}

/**
 * Rows of the number and sizes that one block changes; each call fills them anew, with keys in random order. Always the same memory:
 * new objects would be collected with those measured.
 */
function rawRows(): () => readonly RawRow[] {
  const size = rowSizes.reduce((sum, [key, value = 0]) => sum + key + value, 0) * transactionsPerBlock
  const memory = Buffer.alloc(size)
  let at = 0
  const take = (length: number) => memory.subarray(at, (at += length))
  const rows = Array.from({ length: transactionsPerBlock }, () =>
    rowSizes.map(([key, value]) => ({ key: take(key), value: value === undefined ? undefined : take(value) })),
  ).flat()
  return () => {
    randomFillSync(memory)
    return rows
  }
}

/** Runs with a function that writes rows as one batch, synced, into a LevelDB of its own. */
function withRawStore<T>(run: (writeRows: (rows: readonly RawRow[]) => Promise<void>) => Promise<T>): Promise<T> {
  return withDirectory(async (directory) => {
    const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
    const level = new NativeLevel(join(directory, 'rows'), { ...encodings, compression: false })
    await level.open()
    try {
      return await run(async (rows) => {
        const batch = rowBatchOf(level)
        for (const { key, value } of rows) {
          if (value === undefined) batch.del(key)
          else batch.put(key, value)
        }
        await batch.write({ sync: true })
      })
    } finally {
      await level.close()
    }
  })
}

/** The 99th percentile of the event loop's delay while blocks are connected, in milliseconds. */
async function delayWhile(chain: Chain, blocks: readonly Uint8Array[]): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  for (const block of blocks) await chain.acceptBlock(block)
  delay.disable()
  return delay.percentile(99) / 1e6
}
