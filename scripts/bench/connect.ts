import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { SignatureCheck } from '../../src/primitives/signature.js'
import type { Block } from '../../src/primitives/block.js'
import { createVerifierPool } from '../../src/crypto/pool.js'
import { parseCode, parseParameter } from '../../src/primitives/program.js'
import { fundedSpec, mineBlock, selfTransfer, spendGenesis, withChain } from './load.js'
import type { Row } from './report.js'

const transactionsPerBlock = 1000
const warmUp = 2
const measured = 12

/**
 * Connecting blocks of 1000 one-signature transactions by 1000 keys, every index, synced, the signature cache empty,
 * against verifying the same signatures through the same pool.
 */
export async function connectRates(): Promise<Row[]> {
  const { spec, payers } = fundedSpec(transactionsPerBlock)
  const verifier = createVerifierPool({ workerFile: new URL('../../dist/crypto/worker.js', import.meta.url) })
  try {
    return await withChain(spec, verifier, async (chain) => {
      spendGenesis(chain, payers)
      const blocks: Block[] = []
      let parent = chain.genesis.header
      for (let i = 0; i < warmUp + measured; i++) {
        const transactions = payers.map((payer) => selfTransfer(payer, chain.sanity.assetId))
        const block = await mineBlock(chain, parent, transactions)
        blocks.push(block)
        parent = block.header
      }
      for (const block of blocks.slice(0, warmUp)) await chain.acceptBlock(block.bytes)

      const bytes = blocks.slice(warmUp).map((block) => block.bytes)
      const checks = blocks.slice(warmUp).map(checksOf)
      const verifyRates: number[] = []
      const connectRatesPerBlock: number[] = []
      const delay = monitorEventLoopDelay({ resolution: 1 })
      // Turn by turn, so that both see the same machine.
      for (const [i, block] of bytes.entries()) {
        verifyRates.push(await rate(() => verifier.verifyAll(checks[i] as SignatureCheck[])))
        delay.enable()
        connectRatesPerBlock.push(await rate(() => chain.acceptBlock(block)))
        delay.disable()
      }
      const verify = median(verifyRates)
      const connect = median(connectRatesPerBlock)
      return [
        { name: 'verify 1000 signatures, 1000 cached keys, pool', value: verify, unit: '/s' },
        {
          name: 'connect 1000 one-signature transactions, synced',
          value: connect,
          unit: '/s',
          ratio: connect / verify,
          target: 0.3,
        },
        { name: 'event-loop delay p99 while connecting', value: delay.percentile(99) / 1e6, unit: 'ms', target: 10 },
      ]
    })
  } finally {
    await verifier.close()
  }
}

async function rate(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return transactionsPerBlock / ((performance.now() - start) / 1000)
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

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}
