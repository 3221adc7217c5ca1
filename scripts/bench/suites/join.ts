import { createHash } from 'node:crypto'
import { CoinRoots } from '../../../src/ledger/chain/coin-roots.js'
import { coinRowSize } from '../../../src/ledger/consensus/coin-root.js'
import { byTurns, delayDuring, median, type Spent, spentOn, timeOf } from '../measure.js'
import { type Row, row, shown } from '../report.js'
import { coinOf, prepareBlocks, withWorkshop, type Workshop } from '../workshop.js'

const coins = 1_000_000
const rounds = { warmUp: 1, measured: 5 }
/** Blocks between two roots on a chain as `genesis create` makes it. */
const interval = 10_080
const blocks = 40
const transfers = 1000

/** Work of a node by which others can join by state: it hashes all coins for the blocks that commit to them. */
export function suite(): Promise<Row[]> {
  return withWorkshop(coinRows)
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
