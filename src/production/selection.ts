import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import type { NextOperation } from '../chain/next-did-root.js'
import { BlockBudget } from '../consensus/block-budget.js'
import { type ConnectableTransaction, type ConnectedTransaction, transactionSteps } from '../consensus/connect.js'
import { StateOverlay, type StateView } from '../consensus/ledger.js'
import { typeRulesOf } from '../consensus/types/all-types.js'
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
import type { Spec } from '../primitives/spec.js'
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

/**
 * The pool has checked each entry with its ancestors: on the tip for which that holds, transfers and records are taken as they are.
 * Operations are checked on those before them in the block, which the pool has in another order.
 */
async function walkPool(chain: Chain, pool: Mempool, options: WalkOptions): Promise<Walk> {
  const { parent, share = 1, stop, verify = false } = options
  const block = new FilledBlock(chain.spec.limits, share)
  const state = new StateOverlay(withPooledCoins(chain.state, pool))
  const context = { ...chain.sanity, height: parent.header.height + 1, budget: block.budget }
  const refused: RefusedEntry[] = []
  const assumed: SignatureCheck[] = []
  const leftOut = new Set<PoolEntry>()
  const yielder = new Yielder()
  for (const entry of pool.byFeeRate()) {
    if (yielder.over) await yielder.next()
    if (entry === undefined) continue
    if (block.isFull || chain.tip !== parent || stop?.() === true) break
    const { transaction } = entry
    // Ancestor left out -> not checkable: left out too, and removed with a refused ancestor.
    const orphaned = leftOut.size > 0 && pool.parents(entry).some((one) => leftOut.has(one))
    if (orphaned || !block.hasRoom(transaction)) {
      leftOut.add(entry)
      continue
    }
    if (pool.isValidOn(parent) && hasCoinsAlone(transaction)) {
      if (!block.add(transaction, { fee: entry.fee, work: entry.work })) leftOut.add(entry)
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
    if (!block.add(transaction, tried)) {
      leftOut.add(entry)
      continue
    }
    tried.apply()
    if (!verify) assumed.push(...open)
  }
  return { ...block.chosen, assumed, refused }
}

/** The transactions of a block, as they are added. */
class FilledBlock {
  readonly budget: BlockBudget
  readonly #most: { readonly bytes: number; readonly transactions: number }
  readonly #transactions: Transaction[] = []
  readonly #operations: NextOperation[] = []
  readonly #witness = new MerkleTree()
  #size = headerSize + 4 + policy.coinbaseRoom
  #fees = 0n

  /** `share`: the part of the limits to fill. */
  constructor(limits: Spec['limits'], share: number) {
    this.budget = new BlockBudget(limits, share)
    this.#most = { bytes: share * limits.blockSize, transactions: share * limits.blockTransactions }
    this.#witness.add(coinbaseLeaf)
  }

  /** Whether it has no room for one more transaction, however small. */
  get isFull(): boolean {
    return this.#transactions.length + 2 > this.#most.transactions
  }

  hasRoom({ bytes }: Transaction): boolean {
    return this.#size + bytes.length <= this.#most.bytes
  }

  /** Adds a transaction; false if its work or its documents are too much for the block. */
  add(transaction: Transaction, connected: Pick<ConnectedTransaction, 'fee' | 'work' | 'did'>): boolean {
    try {
      this.budget.add(connected)
    } catch (error) {
      if (error instanceof RuleError) return false
      throw error
    }
    this.#fees += connected.fee
    this.#size += transaction.bytes.length
    const index = this.#transactions.push(transaction)
    if (connected.did !== undefined) this.#operations.push({ operation: connected.did, tx: transaction, index })
    this.#witness.add(witnessLeaf(transaction, index))
    return true
  }

  get chosen(): Chosen {
    const { root: witnessRoot } = this.#witness
    return { transactions: this.#transactions, fees: this.#fees, witnessRoot, operations: this.#operations }
  }
}

/** Whether nothing but its coins decides whether a transaction holds. */
function hasCoinsAlone(transaction: Transaction): boolean {
  const { accepted, parse, apply, checks } = typeRulesOf(transaction)
  return accepted && [parse, apply, checks].every((rule) => rule === undefined)
}

/** A state with the outputs of pooled transactions on top, which an operation may spend. */
function withPooledCoins(state: StateView, pool: Mempool): StateView {
  return {
    coin: (outpoint) => pool.coin(outpoint) ?? state.coin(outpoint),
    did: (did) => state.did(did),
    issuer: (did) => state.issuer(did),
    credential: (id, signer) => state.credential(id, signer),
    otherCredential: (id, signer) => state.otherCredential(id, signer),
  }
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
