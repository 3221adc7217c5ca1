import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createVerifierPool, Mempool, selectTransactions, SignatureCache, templateOf } from './dist.js'
import { fundedSpec, quiet, selfTransfer, spendGenesis, withChain } from './load.js'
import { median, type Row } from './report.js'

/** As many as a block may have transactions: all but one fit beside the coinbase. */
const pending = 10_000
const warmUp = 3
const measured = 15

/**
 * A template from a pool of 10,000 one-signature transactions of as many keys; and one of the same selection for another address.
 */
export async function templateSuite(): Promise<Row[]> {
  const { spec, payers } = fundedSpec(pending)
  const verifier = createVerifierPool()
  const signatures = new SignatureCache()
  try {
    return await withChain(spec, { verifier, signatures }, async (chain) => {
      spendGenesis(chain, payers)
      const pool = await Mempool.open({ chain, verifier, signatures, clock: Date, log: quiet })
      for (let i = 0; i < pending; i += 100) {
        const some = payers.slice(i, i + 100).map((payer) => selfTransfer(payer, chain.sanity.assetId))
        await Promise.all(some.map(({ bytes }) => pool.accept(bytes, { local: false })))
      }
      const payTo = spec.allocations[0]?.programHash as Uint8Array
      const request = () => ({ payTo, nonce: randomBytes(8) })
      const building: number[] = []
      const assembling: number[] = []
      const delays: number[] = []
      for (let round = 0; round < warmUp + measured; round++) {
        if (round === warmUp) for (const list of [building, assembling, delays]) list.length = 0
        await sleep(20)
        // A new one each time: one that is enabled again counts the time in between as a delay.
        const delay = monitorEventLoopDelay({ resolution: 1 })
        delay.enable()
        const started = performance.now()
        const selection = await selectTransactions(chain, pool, { time: 0 })
        const selected = performance.now()
        const template = templateOf(chain, selection, request())
        building.push(performance.now() - started)
        assembling.push(performance.now() - selected)
        await sleep(5)
        delay.disable()
        delays.push(delay.max / 1e6)
        if (template.transactions.length !== pending) throw new Error(`${template.transactions.length} were selected`)
      }
      await pool.close()
      return [
        { name: `template of ${pending} pending transactions`, value: median(building), unit: 'ms' },
        { name: 'the slowest of those', value: Math.max(...building), unit: 'ms' },
        { name: 'the same for one more address', value: median(assembling), unit: 'ms' },
        {
          name: 'longest event-loop delay of each, median',
          value: median(delays),
          unit: 'ms',
          target: { most: 10 },
        },
        { name: 'the longest of all', value: Math.max(...delays), unit: 'ms' },
      ]
    })
  } finally {
    await verifier.close()
  }
}
