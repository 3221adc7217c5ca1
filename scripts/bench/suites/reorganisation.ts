import type { Chain } from '../../../src/ledger/chain/chain.js'
import { timeOf, usedBytes } from '../measure.js'
import { type Row, row } from '../report.js'
import { fundedSpec, prepareBlocks, selfTransfer, standardHash, transferBlocks, withChain } from '../workshop.js'

/** Lengths of branches in blocks of about 390 kB, for the memory. */
const [few, many] = [20, 80]
const outputs = 6000

/** Reorganisations of 100 blocks of 10 transactions and of full ones, against connecting these; and the memory of longer ones. */
export async function suite(): Promise<Row[]> {
  const small = await ofTransfers(100, 10)
  const large = await ofTransfers(40, 1000)
  const ratio = [large.connected / large.reorganised, 'connecting'] as const
  return [
    row('reorganise 100 blocks of 10 transactions', small.reorganised, 'ms'),
    row('the same, blocks left and connected', 201 / (small.reorganised / 1000), '/s'),
    row('connect 40 blocks of 1000 transactions', 40 / (large.connected / 1000), '/s'),
    row('reorganise from 40 blocks of 1000 transactions to one more', 40 / (large.reorganised / 1000), '/s', {
      ratio,
      least: 0.5,
    }),
    row(`memory to reorganise ${few} blocks of 390 kB`, (await memoryOf(few)) / 1e6, 'MB'),
    row(`memory to reorganise ${many} of them`, (await memoryOf(many)) / 1e6, 'MB', { most: 40 }),
  ]
}

/** Milliseconds to connect a branch of transfers, and to reorganise from it to one with a block more. */
function ofTransfers(length: number, transactions: number) {
  const { spec, payers } = fundedSpec(transactions)
  return withChain(spec, async (chain) => {
    const copies = payers.map((payer) => ({ ...payer }))
    const left = await transferBlocks(chain, copies, length)
    const right = await transferBlocks(chain, payers, length + 1, 2)
    const connected = await timeOf(() => acceptAll(chain, left))
    return { connected, reorganised: await timeOf(await reorganisation(chain, right)) }
  })
}

/** Maximum bytes of heap and buffers that a reorganisation from so many large blocks adds to those in use before. */
function memoryOf(length: number): Promise<number> {
  const { spec, payers } = fundedSpec(1)
  return withChain(spec, async (chain) => {
    const branch = (count: number, delay: number) => {
      const payer = { ...(payers[0] as (typeof payers)[0]) }
      const { assetId } = chain.sanity
      const to = { assetId, value: 1n, outputLock: 0, programHash: standardHash(payer.publicKey) }
      return prepareBlocks(
        chain,
        count,
        () => {
          const first = { ...to, value: payer.coin.value - 100n - BigInt(outputs - 1) }
          return [selfTransfer(payer, assetId, { outputs: [first, ...new Array<typeof to>(outputs - 1).fill(to)] })]
        },
        delay,
      )
    }
    const right = await branch(length + 1, 2)
    await acceptAll(chain, await branch(length, 1))
    const reorganise = await reorganisation(chain, right.splice(0))
    const before = usedBytes()
    let peak = 0
    const look = setInterval(() => (peak = Math.max(peak, usedBytes())), 25)
    await reorganise()
    clearInterval(look)
    return peak - before
  })
}

/** Takes all blocks of a longer branch but the last one, which reorganises the chain. */
async function reorganisation(chain: Chain, blocks: readonly Uint8Array[]): Promise<() => Promise<void>> {
  await acceptAll(chain, blocks.slice(0, -1))
  const last = blocks.at(-1) as Uint8Array
  const { length } = blocks
  return async () => {
    await chain.acceptBlock(last)
    if (chain.tip.header.height !== length) throw new Error('the chain was not reorganised')
  }
}

async function acceptAll(chain: Chain, blocks: readonly Uint8Array[]): Promise<void> {
  for (const block of blocks) await chain.acceptBlock(block)
}
