import { setTimeout } from 'node:timers/promises'
import type { Hash } from '../../src/base/primitives/hash.js'
import type { Output } from '../../src/base/primitives/output.js'
import { SeededRandom } from '../../test/support/builders/seeded-random.js'
import { quickSigner } from '../../test/support/builders/signatures.js'
import { createVerifierPool } from './dist.js'
import { mineBlock, withChain } from './load.js'
import { ChangingCache } from './prepared-blocks.js'
import type { Row } from './report.js'
import { type Spent, spentOn } from './thread-time.js'
import { type Coin, Workshop } from './workshop.js'

const sizes = [10_000, 1_000_000]
const transactionsPerBlock = 1000
const warmUp = 4
const measured = 100
/** Units in each coin: enough for the fees of all that it may be spent in. */
const coinValue = 100_000n
/** Milliseconds between two looks at what LevelDB's threads still do, and how many idle ones in a row are the end of it. */
const lookEvery = 500
const idleLooks = 3

/** Connecting blocks of 1000 transfers that spend coins of random age, where few and where many are stored. */
export async function coinsSuite(): Promise<Row[]> {
  const rates: number[] = []
  const rows: Row[] = []
  for (const size of sizes) {
    const spent = await spendingOf(size)
    // Means, not medians as elsewhere: compaction slows some blocks for writes of many.
    const rate = transactionsPerBlock / (mean(spent.map(({ wall }) => wall)) / 1000)
    const main = (mean(spent.map((one) => one.main)) * 1000) / transactionsPerBlock
    const name = `${size.toLocaleString('en')} coins of random age`
    rates.push(rate)
    const [first] = rates
    const ratio =
      rate === first ? {} : { ratio: { value: rate / (first as number), against: 'few' }, target: { least: 0.8 } }
    rows.push({ name: `connect transfers, ${name}`, value: rate, unit: 'tx/s', ...ratio })
    rows.push({ name: '  main thread a transfer', value: main, unit: 'µs' })
  }
  return rows
}

async function spendingOf(size: number): Promise<readonly Spent[]> {
  const owner = quickSigner()
  const verifier = createVerifierPool()
  try {
    return await withChain(Workshop.spec(owner), { verifier, signatures: new ChangingCache() }, async (chain) => {
      const shop = new Workshop(chain, owner)
      const blocks = await randomSpends(shop, await shop.fan(size, undefined, coinValue))
      await compacted()
      const spent: Spent[] = []
      for (const [round, block] of blocks.entries()) {
        const one = await spentOn(() => chain.acceptBlock(block))
        if (round >= warmUp) spent.push(one)
      }
      return spent
    })
  } finally {
    await verifier.close()
  }
}

/** Blocks of transfers of random coins, of which each makes one that later blocks may spend. As bytes: objects would be collected with those measured. */
async function randomSpends(shop: Workshop, stored: readonly Coin[]): Promise<Uint8Array[]> {
  const coins = new CoinBag(stored)
  const random = new SeededRandom(coins.size)
  const blocks: Uint8Array[] = []
  for (let parent = shop.parent; blocks.length < warmUp + measured;) {
    const transfers = Array.from({ length: transactionsPerBlock }, () =>
      shop.transaction([coins.take(random.below(coins.size))]),
    )
    const block = await mineBlock(shop.chain, parent, transfers)
    blocks.push(block.bytes)
    parent = block.header
    for (const { hash: txid, outputs } of transfers) coins.put({ txid, index: 0, value: (outputs[0] as Output).value })
  }
  return blocks
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
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
