import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CoinRoots } from '../../../src/ledger/chain/coin-roots.js'
import { coinRowSize } from '../../../src/ledger/consensus/coin-root.js'
import { byTurns, delayDuring, median, type Spent, spentOn, timeOf } from '../measure.js'
import { chainOfDids, topOf } from '../chain-of-dids.js'
import { didSizes } from '../did-rows.js'
import { following, reach, residentBytes, runNode } from '../processes.js'
import { type Row, row, shown } from '../report.js'
import { coinOf, prepareBlocks, withDirectory, withWorkshop, type Workshop } from '../workshop.js'

const coins = 1_000_000
const rounds = { warmUp: 1, measured: 5 }
/** Blocks between two roots on a chain as `genesis create` makes it. */
const interval = 10_080
const blocks = 40
const transfers = 1000

/** Work of a node by which others can join by state: it hashes all coins for the blocks that commit to them. */
export async function suite(): Promise<Row[]> {
  return [...(await withWorkshop(coinRows)), ...(await withDirectory(joinRows))]
}

/** DIDs of the chain that is joined, unless `--dids` says otherwise. */
const usualDids = [20_000]

/** Joining a chain by the state that a peer has, against syncing all of its blocks: two nodes by the command line, one after the other. */
async function joinRows(directory: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const dids of didSizes(usualDids)) rows.push(...(await joinOne(join(directory, String(dids)), dids)))
  return rows
}

async function joinOne(directory: string, dids: number): Promise<Row[]> {
  await mkdir(directory)
  const source = join(directory, 'source')
  const size = { dids, coins: dids }
  const { file } = await chainOfDids(directory, source, size)
  const peer = await runNode(following(file, source))
  const [address = ''] = peer.p2p
  try {
    const states = join(source, 'states')
    const kept = async () => (await readdir(states).catch(() => [])).find((name) => name.endsWith('.dls'))
    let name: string | undefined
    while ((name = await kept()) === undefined) await pause(100)
    const { size: bytes } = await stat(join(states, name))
    const learn = async (dataDir: string, ...more: string[]) => {
      let memory = 0
      let sampling: NodeJS.Timeout | undefined
      const sample = (child: ChildProcess) => {
        sampling = setInterval(() => (memory = Math.max(memory, residentBytes(child, 'RssAnon') / 1e6)), 100)
      }
      const args = [...following(file, join(directory, dataDir), [address]), ...more]
      const time = await timeOf(async () => {
        const node = await runNode(args, undefined, sample)
        await reach(topOf(size), node, 3600)
        clearInterval(sampling)
        await node.stop()
      })
      return { seconds: time / 1000, memory }
    }
    const joined = await learn('joined', '--state-from', 'peers', '--no-backfill')
    const synced = await learn('synced')
    const share = joined.seconds / synced.seconds
    return [
      row(`sync all blocks of a chain with ${shown(dids)} DIDs and as many coins`, synced.seconds, 's'),
      row('join it by the state of a peer', joined.seconds, 's', { ratio: [share, 'syncing'], most: 0.2 }),
      row('  bytes of the state, a DID with a coin', bytes / dids, 'B', { most: 5200 }),
      // Tables of LevelDB that are mapped come beside it; the system takes these back where it needs the room.
      row('  memory of a node that joins, at most, without mapped files', joined.memory, 'MB', { most: 400 }),
    ]
  } finally {
    await peer.stop()
  }
}

async function coinRows(shop: Workshop): Promise<Row[]> {
  await shop.fan(coins, undefined, 100_000n)
  const { database, spec, genesis, tip } = shop.chain
  const hash = () => new CoinRoots({ database, spec, genesis: genesis.header.hash }).of(tip.header)
  const bytes = Buffer.alloc(coins * coinRowSize, 1)
  const spent = await byTurns(rounds, spentOn, {
    hash: () => hash,
    alone: () => async () => void createHash('sha256').update(bytes).digest(),
  })
  const processor = (one: readonly Spent[]) => median(one.map(({ main, others }) => main + others))
  const delay = await delayDuring(hash)
  const connecting = await connectingRatio(shop, hash)
  return [
    row(`hash ${shown(coins)} coins for a block that commits to them`, processor(spent.hash), 'ms of processor', {
      most: 4000,
    }),
    row('  their bytes in one SHA-256', processor(spent.alone), 'ms of processor'),
    row('  delay of the event loop meanwhile, p99', delay.percentile(99) / 1e6, 'ms', { most: 10 }),
    row(
      `  connecting ${shown(interval)} blocks of ${transfers} transfers, one hash among them`,
      connecting,
      'of the rate',
      {
        least: 0.97,
      },
    ),
  ]
}

/** Rate of connecting the blocks between two roots, with the hash that belongs to them, as part of the rate without it. */
async function connectingRatio(shop: Workshop, hash: () => Promise<unknown>): Promise<number> {
  let spendable = await shop.fan(transfers, undefined, 100_000n)
  const next = () => {
    const made = spendable.map((coin) => shop.transaction([coin]))
    spendable = made.map((tx) => coinOf(tx))
    return made
  }
  const prepared = await prepareBlocks(shop.chain, 2 * blocks, next)
  const connect = async (from: number) => {
    for (const block of prepared.slice(from, from + blocks)) await shop.chain.acceptBlock(block)
  }
  const alone = await timeOf(() => connect(0))
  const beside = await timeOf(() => Promise.all([connect(blocks), hash()]))
  const all = (alone / blocks) * interval
  return all / (all + Math.max(0, beside - alone))
}
