import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { Mempool } from '../../../src/ledger/mempool/mempool.js'
import { selectTransactions, templateOf } from '../../../src/ledger/production/template.js'
import { delayDuring, median, timeOf } from '../measure.js'
import { type Row, row } from '../report.js'
import { fundedSpec, quiet, selfTransfer, withChain } from '../workshop.js'

/** As many as a block may have transactions: all but one fit beside the coinbase. */
const pending = 10_000
const [warmUp, measured] = [3, 15]

/** A template from a pool of 10,000 one-signature transactions of as many keys; and one of the same selection for another address. */
export function suite(): Promise<Row[]> {
  const { spec, payers } = fundedSpec(pending)
  return withChain(spec, async (chain, beside) => {
    const pool = await Mempool.open({ chain, ...beside, clock: Date, log: quiet })
    for (let i = 0; i < pending; i += 100) {
      const some = payers.slice(i, i + 100).map((payer) => selfTransfer(payer, chain.sanity.assetId))
      await Promise.all(some.map(({ bytes }) => pool.accept(bytes, { local: false })))
    }
    const request = { payTo: spec.allocations[0]?.programHash as Uint8Array, nonce: randomBytes(8) }
    const [building, assembling, delays]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < warmUp + measured; round++) {
      let [selecting, assembled] = [0, 0]
      await setTimeout(20)
      const delay = await delayDuring(async () => {
        const started = performance.now()
        const selection = await selectTransactions(chain, pool, { time: 0 })
        selecting = performance.now() - started
        assembled = await timeOf(() => {
          const { length } = templateOf(chain, selection, { ...request, nonce: randomBytes(8) }).transactions
          return length === pending ? Promise.resolve() : Promise.reject(new Error(`${length} were selected`))
        })
        await setTimeout(5)
      })
      if (round < warmUp) continue
      building.push(selecting + assembled)
      assembling.push(assembled)
      delays.push(delay.max / 1e6)
    }
    await pool.close()
    return [
      row(`template of ${pending} pending transactions`, median(building), 'ms'),
      row('the slowest of those', Math.max(...building), 'ms'),
      row('the same for one more address', median(assembling), 'ms'),
      row('longest event-loop delay of each, median', median(delays), 'ms', { most: 10 }),
      row('the longest of all', Math.max(...delays), 'ms'),
    ]
  })
}
