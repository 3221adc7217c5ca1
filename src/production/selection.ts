import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import { BlockBudget } from '../consensus/block-budget.js'
import { type ConnectableTransaction, transactionSteps } from '../consensus/connect.js'
import { StateOverlay } from '../consensus/ledger.js'
import { RuleError } from '../errors/rule-error.js'
import type { PoolEntry } from '../mempool/graph.js'
import type { Mempool } from '../mempool/mempool.js'
import { policy } from '../mempool/policy.js'
import type { RefusedEntry } from '../mempool/refused-blocks.js'
import { witnessLeaf } from '../primitives/block.js'
import { type Hash, zeroHash } from '../primitives/hash.js'
import { headerSize } from '../primitives/header.js'
import { MerkleTree } from '../primitives/merkle.js'
import type { SignatureCheck } from '../primitives/signature.js'
import type { Steps } from '../primitives/steps.js'
import type { Transaction } from '../primitives/transaction.js'
import { Yielder } from '../runtime/cooperative.js'

/** The transactions of the next block, in its order. */
export interface Chosen {
  readonly transactions: readonly Transaction[]
  readonly fees: bigint
  /** The root that the coinbase commits to. */
  readonly witnessRoot: Hash
}

interface Walk extends Chosen {
  /** Checks of the chosen transactions that are assumed to hold. */
  readonly assumed: readonly SignatureCheck[]
  /** What breaks a rule on top of those chosen before it. */
  readonly refused: readonly RefusedEntry[]
}

/** How much of the pool a template takes. */
export interface Extent {
  /** Part of the limits of a block that it may fill, from 0 (the coinbase alone) to 1, which is meant when absent. */
  readonly share?: number
  /** Whether to end early: what is selected then is of no use. */
  stop?(): boolean
}

interface WalkOptions extends Extent {
  /** The tip that the transactions are chosen for. */
  readonly parent: KnownHeader
  /** Whether each signature is verified at once, in place of being assumed to hold. */
  readonly verify?: boolean
}

/**
 * The best of the pool, each transaction valid on top of those before it, signatures included. What breaks a rule leaves the
 * pool with everything that builds on it; what finds no room stays. A tip that moves ends the choice early: the result may
 * mix two states then, and nothing leaves the pool.
 */
export async function choose(chain: Chain, pool: Mempool, options: WalkOptions): Promise<Chosen> {
  const { parent } = options
  let walk = await walkPool(chain, pool, options)
  // In bulk first. A signature that fails makes all that was looked at after it worthless, so each is verified in its turn then.
  const holds = await pool.checks.allHold(walk.assumed, () => chain.tip === parent)
  if (!holds) walk = await walkPool(chain, pool, { ...options, verify: true })
  if (walk.refused.length > 0) await refuse(chain, pool, walk.refused, parent)
  return walk
}

/** Between blocks alone it is sure that state and tip belonged together. */
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
    // The next template refuses them as well.
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
  const refused: RefusedEntry[] = []
  const assumed: SignatureCheck[] = []
  const leftOut = new Set<PoolEntry>()
  const witness = new MerkleTree()
  witness.add(zeroHash)
  let size = headerSize + 4 + policy.coinbaseRoom
  let fees = 0n
  const turns = new Yielder()
  for (const entry of pool.byFeeRate()) {
    if (turns.over) await turns.next()
    if (transactions.length + 2 > share * blockTransactions || chain.tip !== parent || stop?.() === true) break
    const { transaction } = entry
    // Without what it builds on it cannot be judged: it waits where that found no room, and leaves with what is refused.
    const orphaned = leftOut.size > 0 && pool.parents(entry).some((one) => leftOut.has(one))
    if (orphaned || size + transaction.bytes.length > share * blockSize) {
      leftOut.add(entry)
      continue
    }
    let tried: ConnectableTransaction | RuleError
    try {
      tried = await tryTransaction(transactionSteps(transaction, state, context), turns)
    } catch (error) {
      // Rows that a step looked for may have gone with the tip.
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
    witness.add(witnessLeaf(transaction, transactions.length))
  }
  return { transactions, fees, witnessRoot: witness.root, assumed, refused }
}

async function tryTransaction(
  steps: Steps<ConnectableTransaction>,
  turns: Yielder,
): Promise<ConnectableTransaction | RuleError> {
  try {
    return await turns.run(steps)
  } catch (error) {
    if (error instanceof RuleError) return error
    throw error
  }
}

/** Counts a transaction, if the block has room for what it costs. */
function fits(budget: BlockBudget, connectable: ConnectableTransaction): boolean {
  try {
    budget.add(connectable)
    return true
  } catch (error) {
    if (error instanceof RuleError) return false
    throw error
  }
}
