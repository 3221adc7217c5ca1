import type { Chain } from '../chain/chain.js'
import { inSlices } from '../slices.js'
import { commitmentAttribute } from '../consensus/commitment.js'
import { BlockBudget, checkTransaction } from '../consensus/connect.js'
import { earliestTime, requiredBits } from '../consensus/context.js'
import { StateOverlay } from '../consensus/ledger.js'
import { subsidyAt } from '../consensus/subsidy.js'
import { RuleError } from '../errors.js'
import type { Mempool } from '../mempool/mempool.js'
import { policy } from '../mempool/policy.js'
import type { ProgramHash } from '../primitives/address.js'
import { soloAuxPow } from '../primitives/auxpow.js'
import { Block, transactionRoot, witnessRoot } from '../primitives/block.js'
import { fromUtf8 } from '../primitives/bytes.js'
import { Header, headerSize } from '../primitives/header.js'
import { attributeUsage, coinbaseInput, Transaction } from '../primitives/transaction.js'

export interface TemplateRequest {
  /** Who gets subsidy and fees. */
  readonly payTo: ProgramHash
  /** Unix seconds; raised to the earliest time the rules allow. */
  readonly time: number
  /** 8 bytes that make the coinbase like no other. */
  readonly nonce: Uint8Array
}

/**
 * A block on top of the tip with the best of the pool, complete but for its work: its AuxPow has parent nonce 0.
 * Transactions run through the state machine in order, and what fails or no longer fits is left out.
 */
export async function buildTemplate(chain: Chain, pool: Mempool, request: TemplateRequest): Promise<Block> {
  const parent = chain.tip
  const ancestry = chain.headers.ancestry(parent)
  const height = parent.header.height + 1
  const { transactions, fees } = await select(chain, pool, height)
  const coinbase = buildCoinbase(chain, height, fees, transactions, request)
  const all = [coinbase, ...transactions]
  const time = Math.max(request.time, earliestTime(chain.spec, ancestry))
  if (time > 0xffffffff) throw new RuleError('block-time-future', 'block times end in the year 2106')
  const header = new Header({
    version: 0,
    previous: parent.header.hash,
    merkleRoot: transactionRoot(all),
    time,
    bits: requiredBits(chain.spec, ancestry),
    nonce: 0,
    height,
  })
  return new Block(header, soloAuxPow(header.hash, header.time), all)
}

async function select(
  chain: Chain,
  pool: Mempool,
  height: number,
): Promise<{ transactions: Transaction[]; fees: bigint }> {
  const { limits } = chain.spec
  const context = { ...chain.sanity, height }
  const state = new StateOverlay(chain.state)
  const budget = new BlockBudget(limits.blockCost)
  const transactions: Transaction[] = []
  let size = headerSize + 4 + policy.coinbaseRoom
  let fees = 0n
  const candidates = pool.byFeeRate()[Symbol.iterator]()
  await inSlices(() => {
    const next = candidates.next()
    if (next.done === true || transactions.length + 1 >= limits.blockTransactions) return false
    const { transaction } = next.value
    if (size + transaction.bytes.length > limits.blockSize) return true
    try {
      const connectable = checkTransaction(transaction, state, context)
      budget.add(connectable)
      connectable.apply()
      fees += connectable.fee
    } catch (error) {
      if (error instanceof RuleError) return true
      throw error
    }
    size += transaction.bytes.length
    transactions.push(transaction)
    return true
  })
  return { transactions, fees }
}

function buildCoinbase(
  chain: Chain,
  height: number,
  fees: bigint,
  transactions: readonly Transaction[],
  { payTo, nonce }: TemplateRequest,
): Transaction {
  const { spec, assetId } = chain.sanity
  const fields = {
    version: 0,
    payloadVersion: 4,
    payload: { type: 0, data: fromUtf8('didledger') } as const,
    inputs: [coinbaseInput],
    outputs: [{ assetId, value: subsidyAt(spec, height) + fees, outputLock: 0, programHash: payTo }],
    lockTime: height,
    programs: [],
  }
  // The witness root has zeros in the place of the coinbase, so it can be known before the coinbase is.
  const bare = new Transaction({ ...fields, attributes: [] })
  const root = witnessRoot([bare, ...transactions])
  const attributes = [{ usage: attributeUsage.nonce, data: nonce }, commitmentAttribute(spec, height, root)]
  return new Transaction({ ...fields, attributes })
}
