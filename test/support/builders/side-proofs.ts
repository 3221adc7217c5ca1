import { toHex } from '../../../src/base/primitives/bytes.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { sideChainPow } from '../../rules/transaction.js'
import { craft, craftBlock, genesisCoin, outputOf } from './blocks.js'
import { oneValidator, type TestChain } from './chain.js'
import type { SpecOverrides } from './spec.js'

/** Proofs of work of side chains, on a chain of the one validator who signs them. */

/** A chain whose blocks hold any proof. */
export const anyOrder: SpecOverrides = { ...oneValidator(), producer: 'sponsor', devnet: true }
/** A chain whose proofs of one side chain rise. */
export const inOrder: SpecOverrides = { ...anyOrder, sideChainOrder: true }

type Coin = ReturnType<typeof outputOf>

/** Coins of person 11, as many as a test needs, in one block. */
export async function purse(test: TestChain, count = 20): Promise<() => Coin> {
  const value = 200_000_000_000n / BigInt(count) - 1000n
  const outputs = Array.from({ length: count }, () => ({ to: 11, value }))
  const split = craft(test.spec, [genesisCoin(test.chain, 1)], outputs, [11])
  await test.accept(craftBlock(test.chain, { transactions: [split] }))
  let next = 0
  return () => outputOf(split, next++)
}

/** A proof that a validator signed once, in a transaction of anybody. */
export async function wrapped(
  test: TestChain,
  coin: Coin,
  about: { readonly blockHeight: number; readonly sideChain?: number; readonly attributeBytes?: number },
): Promise<Transaction> {
  const { attributeBytes = 0, ...changes } = about
  const { payload } = await sideChainPow({ sideBlock: changes.blockHeight % 256, ...changes })(test)
  const attributes = Array.from({ length: Math.ceil(attributeBytes / 1024) }, (_, i) => {
    const data = new Uint8Array(Math.min(1024, attributeBytes - i * 1024))
    return { usage: 0x90, data }
  })
  return craft(test.spec, [coin], [{ to: 30, value: 1_000_000n }], [11], { payload, attributes })
}

/** The height up to which a chain has proved a side chain. */
export function proved({ database }: TestChain, sideChain = 2): number | undefined {
  const row = database.get(tables.sideChain.key(new Uint8Array(32).fill(sideChain)))
  return row && tables.sideChain.decode(row)
}

/** All rows of side chains: heights by genesis hash. */
export async function provedRows({ database }: Pick<TestChain, 'database'>): Promise<Record<string, number>> {
  const rows = await database.rows(tables.sideChain.range())
  return Object.fromEntries(rows.map(([key, row]) => [toHex(key.subarray(1)), tables.sideChain.decode(row)]))
}

/** Takes back the blocks above a height; their transactions return to the pool as far as they hold. */
export async function rewind({ chain, mempool }: TestChain, height: number): Promise<void> {
  await chain.exclusive((writer) => writer.rewind(chain.headers.activeHash(height) as Uint8Array, []))
  await mempool.settled()
}
