import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Level } from 'level'
import type { SignatureCheck } from '../../src/primitives/signature.js'
import { type Block, type Chain, createVerifierPool, parseCode, parseParameter, SignatureCache } from './dist.js'
import { fundedSpec, mineBlock, selfTransfer, spendGenesis, withChain, withDirectory } from './load.js'
import { median, type Row } from './report.js'

const transactionsPerBlock = 1000
/** Rounds before the measured ones: the first blocks run before V8 has compiled the code. */
const warmUp = 6
const measured = 16
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
 * Connecting blocks of 1000 one-signature transactions by 1000 keys, every index, synced. With an empty signature cache, against
 * verifying the same signatures through the same pool; with a full one, against that and against writing rows of the same number
 * and sizes straight into a LevelDB. All alternate.
 */
export async function connectSuite(): Promise<Row[]> {
  const { spec, payers } = fundedSpec(transactionsPerBlock)
  const verifier = createVerifierPool()
  try {
    const signatures = new ChangingCache()
    return await withChain(spec, { verifier, signatures }, (chain) =>
      withRawStore(async (writeRows) => {
        spendGenesis(chain, payers)
        const blocks = await mineBlocks(chain, 2 * (warmUp + measured) + forDelay, () =>
          payers.map((payer) => selfTransfer(payer, chain.sanity.assetId)),
        )
        const verifying: number[] = []
        const uncached: number[] = []
        const cached: number[] = []
        const raw: number[] = []
        for (let round = 0; round < warmUp + measured; round++) {
          if (round === warmUp) for (const list of [verifying, uncached, cached, raw]) list.length = 0
          const [first, second] = blocks.slice(2 * round, 2 * round + 2) as [Prepared, Prepared]
          verifying.push(await rate(() => verifier.verifyAll(first.checks)))
          uncached.push(await rate(() => chain.acceptBlock(first.bytes)))
          signatures.current = new SignatureCache()
          signatures.current.add(second.checks)
          cached.push(await rate(() => chain.acceptBlock(second.bytes)))
          signatures.current = new SignatureCache()
          const rows = rawRows()
          raw.push(await rate(() => writeRows(rows)))
        }
        const last = blocks.slice(-forDelay)
        const calm = await delayWhile(last, ({ checks }) => verifier.verifyAll(checks))
        const busy = await delayWhile(last, ({ bytes }) => chain.acceptBlock(bytes))
        const [verify, connect, known, bare] = [verifying, uncached, cached, raw].map(median) as [
          number,
          number,
          number,
          number,
        ]
        return [
          { name: 'verify 1000 signatures by 1000 known keys, pool', value: verify, unit: '/s' },
          {
            name: 'connect 1000 transactions, synced',
            value: connect,
            unit: 'tx/s',
            ratio: { value: connect / verify, against: 'verifying' },
            target: { least: 0.5 },
          },
          {
            name: 'the same, signatures known from the pool',
            value: known,
            unit: 'tx/s',
            ratio: { value: known / connect, against: 'connecting' },
            target: { least: 2 },
          },
          {
            name: `rows of the same, ${rowSizes.length} a transaction`,
            value: known * rowSizes.length,
            unit: 'rows/s',
            ratio: { value: known / bare, against: 'a bare batch' },
          },
          {
            name: 'event-loop delay p99 while connecting',
            value: busy,
            unit: 'ms',
            target: { most: 10 },
          },
          { name: 'the same while only verifying', value: calm, unit: 'ms' },
        ]
      }),
    )
  } finally {
    await verifier.close()
  }
}

/** A signature cache whose contents can be replaced. */
class ChangingCache extends SignatureCache {
  current = new SignatureCache()

  override unknown(checks: readonly SignatureCheck[]): readonly SignatureCheck[] {
    return this.current.unknown(checks)
  }
}

interface Prepared {
  readonly bytes: Uint8Array
  readonly checks: readonly SignatureCheck[]
}

async function mineBlocks(
  chain: Chain,
  count: number,
  transactions: () => Parameters<typeof mineBlock>[2],
): Promise<Prepared[]> {
  const prepared: Prepared[] = []
  let parent = chain.genesis.header
  while (prepared.length < count) {
    const block = await mineBlock(chain, parent, transactions())
    prepared.push({ bytes: block.bytes, checks: checksOf(block) })
    parent = block.header
  }
  return prepared
}

function checksOf(block: Block): SignatureCheck[] {
  return block.transactions.slice(1).flatMap((tx) =>
    tx.programs.map(({ code, parameter }): SignatureCheck => {
      const script = parseCode(code)
      if (script === undefined) throw new Error('a program of our own does not parse')
      const signatures = parseParameter(parameter, script) ?? []
      return { message: tx.unsigned, keys: script.keys, signatures, code: 'tx-signature', subject: tx.txid }
    }),
  )
}

interface RawRow {
  readonly key: Buffer
  readonly value: Buffer | undefined
}

/** Rows of the number and sizes that one block changes, with keys in random order. */
function rawRows(): RawRow[] {
  return Array.from({ length: transactionsPerBlock }, () =>
    rowSizes.map(([keySize, valueSize]) => ({
      key: randomBytes(keySize),
      value: valueSize === undefined ? undefined : randomBytes(valueSize),
    })),
  ).flat()
}

/** Runs with a function that writes rows as one chained batch, synced, into a LevelDB of its own. */
function withRawStore<T>(run: (writeRows: (rows: readonly RawRow[]) => Promise<void>) => Promise<T>): Promise<T> {
  return withDirectory(async (directory) => {
    const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
    const level = new Level<Buffer, Buffer>(join(directory, 'rows'), { ...encodings, compression: false })
    try {
      return await run(async (rows) => {
        const batch = level.batch()
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

/** The 99th percentile of the event loop's delay while `act` runs for each block, in milliseconds. */
async function delayWhile(blocks: readonly Prepared[], act: (block: Prepared) => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  for (const block of blocks) await act(block)
  delay.disable()
  return delay.percentile(99) / 1e6
}

async function rate(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return transactionsPerBlock / ((performance.now() - start) / 1000)
}
