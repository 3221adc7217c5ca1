import { collect } from './collect.js'
import { type Chain, createVerifierPool } from './dist.js'
import { fanOut, fundedSpec, mineBlock, type Payer, selfTransfer, spendGenesis, withChain } from './load.js'
import type { Row } from './report.js'

const depth = 100
const transactionsPerBlock = 10

/** Branch lengths for the two memory figures, in blocks of about 390 kB. */
const lengths = { few: 20, many: 80 }
const outputsPerBlock = 6000

/** A reorganisation from 100 blocks of 10 transactions to 101, and the memory of longer ones. */
export async function reorganisationSuite(): Promise<Row[]> {
  const { spec, payers } = fundedSpec(transactionsPerBlock)
  const verifier = createVerifierPool()
  try {
    return await withChain(spec, { verifier }, async (chain) => {
      spendGenesis(chain, payers)
      const left = await branch(
        chain,
        payers.map((payer) => ({ ...payer })),
        depth,
        1,
      )
      const right = await branch(chain, payers, depth + 1, 2)
      for (const block of [...left, ...right.slice(0, -1)]) await chain.acceptBlock(block)
      const start = performance.now()
      await chain.acceptBlock(right.at(-1) as Uint8Array)
      const seconds = (performance.now() - start) / 1000
      if (chain.tip.header.height !== depth + 1) throw new Error('the chain was not reorganised')
      return [
        { name: 'reorganise 100 blocks of 10 transactions', value: seconds * 1000, unit: 'ms' },
        { name: 'the same, blocks left and connected', value: (2 * depth + 1) / seconds, unit: '/s' },
        ...(await memoryRows()),
      ]
    })
  } finally {
    await verifier.close()
  }
}

async function memoryRows(): Promise<Row[]> {
  const few = await memoryOf(lengths.few)
  const many = await memoryOf(lengths.many)
  const against = `that of ${lengths.few}`
  return [
    { name: `memory to reorganise ${lengths.few} blocks of 390 kB`, value: few / 1e6, unit: 'MB' },
    {
      name: `memory to reorganise ${lengths.many} of them`,
      value: many / 1e6,
      unit: 'MB',
      ratio: { value: many / few, against },
      target: { most: 1.5 },
    },
  ]
}

/** Maximum bytes of heap and buffers that a reorganisation from so many large blocks adds to those in use before. */
async function memoryOf(length: number): Promise<number> {
  const { spec, payers } = fundedSpec(1)
  const verifier = createVerifierPool()
  try {
    return await withChain(spec, { verifier }, async (chain) => {
      spendGenesis(chain, payers)
      let top: Uint8Array | undefined
      for (const [delay, count] of [
        [1, length],
        [2, length + 1],
      ] as const) {
        const payer = { ...(payers[0] as Payer) }
        let parent = chain.genesis.header
        for (let height = 1; height <= count; height++) {
          const block = await mineBlock(chain, parent, [fanOut(payer, chain.sanity.assetId, outputsPerBlock)], delay)
          parent = block.header
          if (height > length) top = block.bytes
          else await chain.acceptBlock(block.bytes)
        }
      }
      const before = used()
      let peak = 0
      const look = setInterval(() => (peak = Math.max(peak, used())), 100)
      await chain.acceptBlock(top as Uint8Array)
      clearInterval(look)
      if (chain.tip.header.height !== length + 1) throw new Error('the chain was not reorganised')
      return peak - before
    })
  } finally {
    await verifier.close()
  }
}

/** Bytes in use after a garbage collection. */
function used(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Blocks on top of genesis, the first one `delay` seconds after it, so that branches differ. */
async function branch(chain: Chain, payers: readonly Payer[], length: number, delay: number): Promise<Uint8Array[]> {
  const blocks: Uint8Array[] = []
  let parent = chain.genesis.header
  while (blocks.length < length) {
    const transactions = payers.map((payer) => selfTransfer(payer, chain.sanity.assetId))
    const block = await mineBlock(chain, parent, transactions, blocks.length === 0 ? delay : 1)
    blocks.push(block.bytes)
    parent = block.header
  }
  return blocks
}
