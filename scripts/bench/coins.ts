import { SeededRandom } from '../../test/support/builders/seeded-random.js'
import { quickSigner } from '../../test/support/builders/signatures.js'
import { createVerifierPool } from './dist.js'
import { mineBlock, withChain } from './load.js'
import { ChangingCache } from './prepared-blocks.js'
import { median, type Row } from './report.js'
import { type Spent, spentOn } from './thread-time.js'
import { Workshop } from './workshop.js'

const sizes = [10_000, 1_000_000]
const transactionsPerBlock = 1000
const warmUp = 4
const measured = 6

/** Connecting blocks of 1000 transfers that spend coins of random age, where few and where many are stored. */
export async function coinsSuite(): Promise<Row[]> {
  const rates: number[] = []
  const rows: Row[] = []
  for (const size of sizes) {
    const spent = await spendingOf(size)
    const rate = transactionsPerBlock / (median(spent.map(({ wall }) => wall)) / 1000)
    const main = (median(spent.map((one) => one.main)) * 1000) / transactionsPerBlock
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
      const coins = await shop.fan(size)
      const random = new SeededRandom(size)
      const spent: Spent[] = []
      for (let round = 0; round < warmUp + measured; round++) {
        const transfers = Array.from({ length: transactionsPerBlock }, () => {
          const at = random.below(coins.length)
          const [coin] = coins.splice(at, 1, coins.at(-1) as (typeof coins)[number])
          coins.pop()
          return shop.transaction([coin as (typeof coins)[number]])
        })
        const block = await mineBlock(chain, shop.parent, transfers)
        const one = await spentOn(() => chain.acceptBlock(block.bytes))
        shop.parent = block.header
        if (round >= warmUp) spent.push(one)
      }
      return spent
    })
  } finally {
    await verifier.close()
  }
}
