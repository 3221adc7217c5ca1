import { setTimeout } from 'node:timers/promises'
import type { Hash } from '../../src/primitives/hash.js'
import type { Output } from '../../src/primitives/output.js'
import { SeededRandom } from '../../test/support/builders/seeded-random.js'
import { quickSigner } from '../../test/support/builders/signatures.js'
import { createVerifierPool } from './dist.js'
import { mineBlock, withChain } from './load.js'
import { ChangingCache } from './prepared-blocks.js'
import { type Row } from './report.js'
import { type Spent, spentOn } from './thread-time.js'
import { type Coin, Workshop } from './workshop.js'

const sizes = [10_000, 1_000_000]
const transactionsPerBlock = 1000
const warmUp = 4
const measured = 100
/** Milliseconds between two looks at what the threads of LevelDB still do after filling it. */
const lookEvery = 500

/** Connecting blocks of 1000 transfers that spend coins of random age, where few and where many are stored. */
export async function coinsSuite(): Promise<Row[]> {
  const rates: number[] = []
  const rows: Row[] = []
  for (const size of sizes) {
    const spent = await spendingOf(size)
    // Means, unlike elsewhere: LevelDB sorts for some blocks what all have written.
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
      const coins = new CoinBag(await shop.fan(size, undefined, 100_000n))
      await settled()
      const random = new SeededRandom(size)
      const spent: Spent[] = []
      for (let round = 0; round < warmUp + measured; round++) {
        const transfers = Array.from({ length: transactionsPerBlock }, () => {
          return shop.transaction([coins.take(random.below(coins.size))])
        })
        const block = await mineBlock(chain, shop.parent, transfers)
        const one = await spentOn(() => chain.acceptBlock(block.bytes))
        shop.parent = block.header
        for (const { hash: txid, outputs } of transfers)
          coins.put({ txid, index: 0, value: (outputs[0] as Output).value })
        if (round >= warmUp) spent.push(one)
      }
      return spent
    })
  } finally {
    await verifier.close()
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Coins as numbers: collections of garbage would look at a million objects that a node does not have. */
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

/** Waits until LevelDB has sorted what was written: nothing but filling it writes a million coins in seconds. */
async function settled(): Promise<void> {
  for (let busy = true; busy;) {
    const before = process.cpuUsage()
    await setTimeout(lookEvery)
    const { user, system } = process.cpuUsage(before)
    busy = (user + system) / 1000 > lookEvery / 10
  }
}
