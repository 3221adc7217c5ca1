import { setTimeout } from 'node:timers/promises'
import type { Hash } from '../../../src/base/primitives/hash.js'
import { SeededRandom } from '../../../test/support/builders/seeded-random.js'
import { ChangingCache } from '../changing-cache.js'
import { byTurns, eachOf, mean, rateOf, type Spent, spentOn } from '../measure.js'
import { type Row, row, shown } from '../report.js'
import { type Coin, coinOf, prepareBlocks, withWorkshop, type Workshop } from '../workshop.js'

const sizes = [10_000, 1_000_000]
const transactions = 1000
const rounds = { warmUp: 4, measured: 100 }
/** Units in each coin: enough for the fees of all that it may be spent in. */
const coinValue = 100_000n
/** Milliseconds between two looks at what LevelDB's threads still do, and how many idle ones in a row are the end of it. */
const lookEvery = 500
const idleLooks = 3

/** Connecting blocks of 1000 transfers that spend coins of random age, where few and where many are stored. */
export async function suite(): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of sizes) {
    const spent = await withWorkshop((shop) => spendingOf(shop, size), new ChangingCache())
    // Means, not medians as elsewhere: compaction slows some blocks for writes of many.
    const rate = rateOf(spent, transactions, mean)
    const few = rows[0]?.value
    const target = few === undefined ? {} : ({ ratio: [rate / few, 'few'], least: 0.8 } as const)
    rows.push(
      row(`connect transfers, ${shown(size)} coins of random age`, rate, 'tx/s', target),
      row('  main thread a transfer', eachOf(spent, 'main', transactions, mean), 'µs'),
      // Verification, and LevelDB: its compaction counts here also where other load hides it in the rate.
      row('  other threads a transfer', eachOf(spent, 'others', transactions, mean), 'µs'),
    )
  }
  return rows
}

async function spendingOf(shop: Workshop, size: number): Promise<readonly Spent[]> {
  const blocks = await randomSpends(shop, await shop.fan(size, undefined, coinValue))
  await compacted()
  const connect = (round: number) => () => shop.chain.acceptBlock(blocks[round] as Uint8Array)
  return (await byTurns(rounds, spentOn, { connect })).connect
}

/** Blocks of transfers of random coins, of which each makes one that later blocks may spend. */
function randomSpends(shop: Workshop, stored: readonly Coin[]): Promise<Uint8Array[]> {
  const coins = new CoinBag(stored)
  const random = new SeededRandom(coins.size)
  return prepareBlocks(shop.chain, rounds.warmUp + rounds.measured, () => {
    const taken = Array.from({ length: transactions }, () => coins.take(random.below(coins.size)))
    const transfers = taken.map((coin) => shop.transaction([coin]))
    for (const transfer of transfers) coins.put(coinOf(transfer))
    return transfers
  })
}

/** Coins in typed arrays: as objects, every full collection would mark a million of them. */
class CoinBag {
  readonly #txids: Hash[] = []
  readonly #transaction: Uint32Array
  readonly #index: Uint32Array
  readonly #value: Float64Array
  size = 0

  constructor(coins: readonly Coin[]) {
    this.#transaction = new Uint32Array(coins.length)
    this.#index = new Uint32Array(coins.length)
    this.#value = new Float64Array(coins.length)
    for (const coin of coins) this.put(coin)
  }

  put({ txid, index, value }: Coin): void {
    if (this.#txids.at(-1) !== txid) this.#txids.push(txid)
    this.#transaction[this.size] = this.#txids.length - 1
    this.#index[this.size] = index
    this.#value[this.size++] = Number(value)
  }

  /** Takes out the coin at a position, where the last one is from then on. */
  take(at: number): Coin {
    const txid = this.#txids[this.#transaction[at] as number] as Hash
    const coin = { txid, index: this.#index[at] as number, value: BigInt(this.#value[at] as number) }
    this.size--
    for (const column of [this.#transaction, this.#index, this.#value]) column[at] = column[this.size] as number
    return coin
  }
}

/** Waits until LevelDB has compacted what was written: no node writes a million coins in seconds. */
async function compacted(): Promise<void> {
  for (let idle = 0; idle < idleLooks;) {
    const before = process.cpuUsage()
    await setTimeout(lookEvery)
    const { user, system } = process.cpuUsage(before)
    idle = (user + system) / 1000 < lookEvery / 10 ? idle + 1 : 0
  }
}
