import { type Chain, createVerifierPool } from './dist.js'
import { fundedSpec, mineBlock, type Payer, selfTransfer, spendGenesis, withChain } from './load.js'
import type { Row } from './report.js'

const depth = 100
const transactionsPerBlock = 10

/** Leaving a branch of 100 blocks of 10 transactions for one of 101, all in one batch. */
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
      ]
    })
  } finally {
    await verifier.close()
  }
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
