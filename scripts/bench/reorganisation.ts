import { collect } from './collect.js'
import { type Chain, createVerifierPool } from './dist.js'
import { fanOut, fundedSpec, mineBlock, type Payer, selfTransfer, spendGenesis, withChain } from './load.js'
import type { Row } from './report.js'

const depth = 100
const transactionsPerBlock = 10
const full = { depth: 40, transactions: 1000 }

/** Branch lengths for the two memory figures, in blocks of about 390 kB. */
const lengths = { few: 20, many: 80 }
const outputsPerBlock = 6000

/** Reorganisations of 100 blocks of 10 transactions and of full ones, against connecting these; and the memory of longer ones. */
export async function reorganisationSuite(): Promise<Row[]> {
  const small = await timesOf(depth, transactionsPerBlock)
  const large = await timesOf(full.depth, full.transactions)
  const blocks = `${full.depth} blocks of ${full.transactions} transactions`
  return [
    { name: 'reorganise 100 blocks of 10 transactions', value: small.reorganised * 1000, unit: 'ms' },
    { name: 'the same, blocks left and connected', value: (2 * depth + 1) / small.reorganised, unit: '/s' },
    { name: `connect ${blocks}`, value: full.depth / large.connected, unit: '/s' },
    {
      name: `reorganise from ${blocks} to one more`,
      value: full.depth / large.reorganised,
      unit: '/s',
      ratio: { value: large.connected / large.reorganised, against: 'connecting' },
      target: { least: 0.5 },
    },
    ...(await memoryRows()),
  ]
}

/** Seconds to connect a branch, and to reorganise from it to one with a block more. */
async function timesOf(length: number, transactions: number): Promise<{ connected: number; reorganised: number }> {
  const { spec, payers } = fundedSpec(transactions)
  const verifier = createVerifierPool()
  try {
    return await withChain(spec, { verifier }, async (chain) => {
      spendGenesis(chain, payers)
      const copies = payers.map((payer) => ({ ...payer }))
      const left = await branch(chain, copies, length, 1)
      const right = await branch(chain, payers, length + 1, 2)
      const begun = performance.now()
      for (const block of left) await chain.acceptBlock(block)
      const connected = (performance.now() - begun) / 1000
      for (const block of right.slice(0, -1)) await chain.acceptBlock(block)
      const start = performance.now()
      await chain.acceptBlock(right.at(-1) as Uint8Array)
      const reorganised = (performance.now() - start) / 1000
      if (chain.tip.header.height !== length + 1) throw new Error('the chain was not reorganised')
      return { connected, reorganised }
    })
  } finally {
    await verifier.close()
  }
}

async function memoryRows(): Promise<Row[]> {
  const few = await memoryOf(lengths.few)
  const many = await memoryOf(lengths.many)
  return [
    { name: `memory to reorganise ${lengths.few} blocks of 390 kB`, value: few / 1e6, unit: 'MB' },
    {
      name: `memory to reorganise ${lengths.many} of them`,
      value: many / 1e6,
      unit: 'MB',
      target: { most: 40 },
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
      const look = setInterval(() => (peak = Math.max(peak, used())), 25)
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
