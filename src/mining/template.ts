import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/headers.js'
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
import { Block, witnessLeaf } from '../primitives/block.js'
import { fromUtf8 } from '../primitives/bytes.js'
import { type Hash, zeroHash } from '../primitives/hash.js'
import { Header, headerSize } from '../primitives/header.js'
import { firstBranchSteps, foldBranch, MerkleTree } from '../primitives/merkle.js'
import { attributeUsage, coinbaseInput, Transaction } from '../primitives/transaction.js'
import { inSlices, runInSlices } from '../slices.js'

/** What the next block takes from the pool: all of a template that does not depend on whom it pays. */
export interface Selection {
  /** The tip it was made for. */
  readonly parent: KnownHeader
  readonly bits: number
  /** Unix seconds; a block may not be earlier. */
  readonly earliest: number
  readonly transactions: readonly Transaction[]
  readonly fees: bigint
  /** The root that the coinbase commits to. */
  readonly witnessRoot: Hash
  /** What leads from the coinbase to the root that the header names. */
  readonly branch: readonly Hash[]
}

export interface TemplateRequest {
  /** Who gets subsidy and fees. */
  readonly payTo: ProgramHash
  /** Unix seconds; raised to the earliest time the rules allow. */
  readonly time: number
  /** 8 bytes that make the coinbase like no other. */
  readonly nonce: Uint8Array
}

/** How much of the pool a template takes. */
export interface Extent {
  /** Part of the limits of a block that it may fill, from 0 (the coinbase alone) to 1, which is meant when absent. */
  readonly share?: number
  /** Whether to end early: what is selected then is of no use. */
  stop?(): boolean
}

/** A block on top of the tip with the best of the pool, complete but for its work: its AuxPow has parent nonce 0. */
export async function buildTemplate(
  chain: Chain,
  pool: Mempool,
  request: TemplateRequest,
  extent: Extent = {},
): Promise<Block> {
  return templateOf(chain, await selectTransactions(chain, pool, extent), request)
}

/**
 * The best of the pool in slices. Transactions run through the state machine in order, and what fails or no longer fits
 * is left out. When the tip moves meanwhile it ends early with what mixes two states: who uses it looks at the tip again.
 */
export async function selectTransactions(
  chain: Chain,
  pool: Mempool,
  { share = 1, stop }: Extent = {},
): Promise<Selection> {
  const parent = chain.tip
  const ancestry = chain.headers.ancestry(parent)
  const rules = { bits: requiredBits(chain.spec, ancestry), earliest: earliestTime(chain.spec, ancestry) }
  const { blockSize, blockTransactions, blockCost } = chain.spec.limits
  const context = { ...chain.sanity, height: parent.header.height + 1 }
  const state = new StateOverlay(chain.state)
  const budget = new BlockBudget(share * blockCost)
  const transactions: Transaction[] = []
  const witness = new MerkleTree()
  witness.add(zeroHash)
  let size = headerSize + 4 + policy.coinbaseRoom
  let fees = 0n
  const candidates = pool.byFeeRate()[Symbol.iterator]()
  await inSlices(() => {
    const next = candidates.next()
    if (next.done === true || transactions.length + 2 > share * blockTransactions) return false
    if (chain.tip !== parent || stop?.() === true) return false
    const { transaction } = next.value
    if (size + transaction.bytes.length > share * blockSize) return true
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
    witness.add(witnessLeaf(transaction, transactions.length))
    return true
  })
  const branch = await runInSlices(firstBranchSteps(transactions.map(({ hash }) => hash)))
  return { parent, ...rules, transactions, fees, witnessRoot: witness.root, branch }
}

/** A block of what was selected with a coinbase for one address, complete but for its work. */
export function templateOf(chain: Chain, selection: Selection, request: TemplateRequest): Block {
  const { parent, bits, earliest, transactions, branch } = selection
  const time = Math.max(request.time, earliest)
  if (time > 0xffffffff) throw new RuleError('block-time-future', 'block times end in the year 2106')
  const coinbase = buildCoinbase(chain, selection, request)
  const header = new Header({
    version: 0,
    previous: parent.header.hash,
    merkleRoot: foldBranch(coinbase.hash, branch, 0),
    time,
    bits,
    nonce: 0,
    height: parent.header.height + 1,
  })
  return new Block(header, soloAuxPow(header.hash, header.time), [coinbase, ...transactions])
}

function buildCoinbase(
  chain: Chain,
  { parent, fees, witnessRoot }: Selection,
  { payTo, nonce }: TemplateRequest,
): Transaction {
  const { spec, assetId } = chain.sanity
  const height = parent.header.height + 1
  const attributes = [{ usage: attributeUsage.nonce, data: nonce }, commitmentAttribute(spec, height, witnessRoot)]
  return new Transaction({
    version: 0,
    payloadVersion: 4,
    payload: { type: 0, data: fromUtf8('didledger') },
    attributes,
    inputs: [coinbaseInput],
    outputs: [{ assetId, value: subsidyAt(spec, height) + fees, outputLock: 0, programHash: payTo }],
    lockTime: height,
    programs: [],
  })
}
