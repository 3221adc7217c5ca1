import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import type { NextOperation } from '../chain/next-did-root.js'
import { BlockBudget } from '../consensus/block-budget.js'
import { type ConnectableTransaction, transactionSteps } from '../consensus/connect.js'
import { StateOverlay } from '../consensus/ledger.js'
import { RuleError } from '../errors/rule-error.js'
import type { PoolEntry } from '../mempool/pool-entry.js'
import type { Mempool } from '../mempool/mempool.js'
import { policy } from '../mempool/policy.js'
import type { RefusedEntry } from '../mempool/refused-blocks.js'
import { coinbaseLeaf, witnessLeaf } from '../primitives/block.js'
import type { Hash } from '../primitives/hash.js'
import { headerSize } from '../primitives/header.js'
import { MerkleTree } from '../primitives/merkle.js'
import type { SignatureCheck } from '../primitives/signature.js'
import type { Steps } from '../primitives/steps.js'
import type { Transaction } from '../primitives/transaction.js'
import { Yielder } from '../runtime/cooperative.js'

/** The transactions of the next block, in block order. */
export interface Chosen {
  readonly transactions: readonly Transaction[]
  readonly fees: bigint
  /** The root that the coinbase commits to. */
  readonly witnessRoot: Hash
  /** Those of them that carry an operation. */
  readonly operations: readonly NextOperation[]
}

interface Walk extends Chosen {
  /** Signature checks of the chosen transactions that are assumed to hold. */
  readonly assumed: readonly SignatureCheck[]
  /** Entries that break a rule on top of the transactions chosen before. */
  readonly refused: readonly RefusedEntry[]
}

/** How much of the pool a template takes. */
export interface Extent {
  /** Share of the block limits to fill, from 0 (the coinbase alone) to 1, the default. */
  readonly share?: number
  /** Whether to end early, with a result that is not used. */
  stop?(): boolean
}

interface WalkOptions extends Extent {
  /** The tip that the transactions are chosen for. */
  readonly parent: KnownHeader
  /** Whether each signature is verified at once, instead of assumed to hold. */
  readonly verify?: boolean
}

/**
 * Chooses the best of the pool, each transaction valid on top of those before it, signatures included. Entries that break a
 * rule leave the pool with their descendants; those without room stay. Tip moves -> ends early: the result may mix two
 * states, and no entry leaves the pool.
 */
export async function choose(chain: Chain, pool: Mempool, options: WalkOptions): Promise<Chosen> {
  const { parent } = options
  let walk = await walkPool(chain, pool, options)
  // In bulk first. A failed signature invalidates all later choices: then the walk is repeated, verifying each in order.
  const holds = await pool.checks.allHold(walk.assumed, () => chain.tip === parent)
  if (!holds) walk = await walkPool(chain, pool, { ...options, verify: true })
  if (walk.refused.length > 0) await refuse(chain, pool, walk.refused, parent)
  return walk
}

/** Removes refused entries between blocks, where state and tip are sure to match. */
async function refuse(
  chain: Chain,
  pool: Mempool,
  refused: readonly RefusedEntry[],
  parent: KnownHeader,
): Promise<void> {
  try {
    await chain.exclusive(async () => {
      if (chain.tip === parent) pool.refuse(refused)
    })
  } catch (error) {
    // The next template refuses them again.
    if (!(error instanceof RuleError && error.code === 'busy')) throw error
  }
}

async function walkPool(chain: Chain, pool: Mempool, options: WalkOptions): Promise<Walk> {
  const { parent, share = 1, stop, verify = false } = options
  const { blockSize, blockTransactions } = chain.spec.limits
  const state = new StateOverlay(chain.state)
  const budget = new BlockBudget(chain.spec.limits, share)
  const context = { ...chain.sanity, height: parent.header.height + 1, budget }
  const transactions: Transaction[] = []
  const operations: NextOperation[] = []
  const refused: RefusedEntry[] = []
  const assumed: SignatureCheck[] = []
  const leftOut = new Set<PoolEntry>()
  const witness = new MerkleTree()
  witness.add(coinbaseLeaf)
  let size = headerSize + 4 + policy.coinbaseRoom
  let fees = 0n
  const yielder = new Yielder()
  for (const entry of pool.byFeeRate()) {
    if (yielder.over) await yielder.next()
    if (entry === undefined) continue
    if (transactions.length + 2 > share * blockTransactions || chain.tip !== parent || stop?.() === true) break
    const { transaction } = entry
    // Ancestor left out -> not checkable: left out too, and removed with a refused ancestor.
    const orphaned = leftOut.size > 0 && pool.parents(entry).some((one) => leftOut.has(one))
    if (orphaned || size + transaction.bytes.length > share * blockSize) {
      leftOut.add(entry)
      continue
    }
    let tried: ConnectableTransaction | RuleError
    try {
      tried = await tryTransaction(transactionSteps(transaction, state, context), yielder)
    } catch (error) {
      // Rows that a step reads may have disappeared with the old tip.
      if (chain.tip === parent) throw error
      break
    }
    if (tried instanceof RuleError && tried.code === 'block-issuer-documents') {
      leftOut.add(entry)
      continue
    }
    const open = tried instanceof RuleError ? [] : pool.checks.unverified(tried.checks)
    const failure = verify && open.length > 0 ? await pool.checks.failure(open) : undefined
    if (tried instanceof RuleError || failure !== undefined) {
      leftOut.add(entry)
      refused.push({ entry, error: failure ?? (tried as RuleError) })
      continue
    }
    if (!fits(budget, tried)) {
      leftOut.add(entry)
      continue
    }
    tried.apply()
    assumed.push(...(verify ? [] : open))
    fees += tried.fee
    size += transaction.bytes.length
    transactions.push(transaction)
    if (tried.did !== undefined) {
      operations.push({ operation: tried.did, tx: transaction, index: transactions.length })
    }
    witness.add(witnessLeaf(transaction, transactions.length))
  }
  return { transactions, fees, witnessRoot: witness.root, operations, assumed, refused }
}

async function tryTransaction(
  steps: Steps<ConnectableTransaction>,
  yielder: Yielder,
): Promise<ConnectableTransaction | RuleError> {
  try {
    return await yielder.run(steps)
  } catch (error) {
    if (error instanceof RuleError) return error
    throw error
  }
}

/** Adds the cost of a transaction to the budget, if the block has room for it. */
function fits(budget: BlockBudget, connectable: ConnectableTransaction): boolean {
  try {
    budget.add(connectable)
    return true
  } catch (error) {
    if (error instanceof RuleError) return false
    throw error
  }
}
