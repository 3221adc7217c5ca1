import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import type { NextOperation } from '../chain/next-commitments.js'
import { BlockBudget } from '../consensus/block-budget.js'
import { ConnectableTransaction, type ConnectedTransaction, transactionSteps } from '../consensus/connect.js'
import { StateOverlay, type StateView } from '../consensus/ledger.js'
import type { ConnectContext } from '../consensus/rule-context.js'
import { typeRulesOf } from '../consensus/types/all-types.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { PoolEntry } from '../mempool/pool-entry.js'
import type { Mempool } from '../mempool/mempool.js'
import type { Package } from '../mempool/packages.js'
import { policy } from '../mempool/policy.js'
import type { RefusedEntry } from '../mempool/refused-blocks.js'
import { coinbaseLeaf, witnessLeaf } from '../../base/primitives/block.js'
import type { Hash } from '../../base/primitives/hash.js'
import { headerSize } from '../../base/primitives/header.js'
import { MerkleTree } from '../../base/primitives/merkle.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import type { Spec } from '../../base/primitives/spec.js'
import type { Steps } from '../../base/primitives/steps.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { Yielder } from '../../base/runtime/cooperative.js'

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
      if (chain.tip === parent) await pool.refuse(refused)
    })
  } catch (error) {
    // The next template refuses them again.
    if (!(error instanceof RuleError && error.code === 'busy')) throw error
  }
}

async function walkPool(chain: Chain, pool: Mempool, options: WalkOptions): Promise<Walk> {
  const { parent, stop } = options
  const walker = new Walker(chain, pool, options)
  const { yielder } = walker
  for (const offered of pool.byFeeRate()) {
    if (yielder.over) await yielder.next()
    if (offered === undefined) continue
    if (walker.block.isFull || chain.tip !== parent || stop?.() === true) break
    const { entries } = offered
    const useless = entries.findIndex((entry) => !pool.isMineable(entry))
    if (useless >= 0) offered.leave(useless)
    else if (!walker.block.hasRoom(entries)) offered.leave()
    else if (entries.every((entry) => walker.isSure(entry))) walker.takeSure(offered)
    else await walker.tryPackage(offered)
  }
  return walker.walk
}

/** A transaction that is to be added, as far as it was checked. */
type Checked = Pick<ConnectedTransaction, 'fee' | 'work' | 'did'>

/** Findings of the pool about an entry that is taken as it is. */
function sureOf({ fee, work }: PoolEntry): Checked {
  return { fee, work }
}

/** One walk over the pool. */
class Walker {
  readonly block: FilledBlock
  readonly yielder = new Yielder()
  readonly #chain: Chain
  readonly #pool: Mempool
  readonly #options: WalkOptions
  readonly #state: StateOverlay
  readonly #context: ConnectContext
  readonly #refused: RefusedEntry[] = []
  readonly #assumed: SignatureCheck[] = []

  constructor(chain: Chain, pool: Mempool, options: WalkOptions) {
    this.#chain = chain
    this.#pool = pool
    this.#options = options
    this.block = new FilledBlock(chain.spec.limits, options.share ?? 1)
    this.#state = new StateOverlay(withPooledCoins(chain.state, pool))
    const height = options.parent.header.height + 1
    this.#context = { ...chain.sanity, height, budget: this.block.budget }
  }

  get walk(): Walk {
    return { ...this.block.chosen, assumed: this.#assumed, refused: this.#refused }
  }

  /**
   * The pool has checked each entry with its ancestors: on the tip for which that holds, transfers and records are taken as they are.
   * Operations are checked on those before them in the block, which the pool has in another order.
   */
  isSure(entry: PoolEntry): boolean {
    const pool = this.#pool
    return pool.isValidOn(this.#options.parent) && hasCoinsAlone(entry.transaction) && pool.isMineable(entry)
  }

  /** Takes a package of sure entries, if the block can carry their work. */
  takeSure(offered: Package): void {
    const { entries } = offered
    const undo = this.block.budget.save()
    for (let i = 0; i < entries.length; i++) {
      if (this.block.counts(sureOf(entries[i] as PoolEntry))) continue
      undo()
      offered.leave(i)
      return
    }
    for (const entry of entries) this.block.add(entry.transaction, sureOf(entry))
  }

  /** Takes a package if each entry holds on those before it; none of it is in the block before all are found to. */
  async tryPackage(offered: Package): Promise<void> {
    const undo = this.block.budget.save()
    const state = new StateOverlay(this.#state)
    const checked: Checked[] = []
    const assumed: SignatureCheck[] = []
    for (const [i, entry] of offered.entries.entries()) {
      const one = this.isSure(entry) ? sureOf(entry) : await this.#try(entry, state, assumed)
      if (one === undefined || !this.block.counts(one)) {
        undo()
        offered.leave(i)
        return
      }
      if (one instanceof ConnectableTransaction) one.apply()
      checked.push(one)
    }
    offered.entries.forEach(({ transaction }, i) => this.#add(transaction, checked[i] as Checked))
    if (this.#options.verify !== true) this.#assumed.push(...assumed)
  }

  #add(transaction: Transaction, checked: Checked): void {
    this.block.add(transaction, checked)
    if (!(checked instanceof ConnectableTransaction)) return
    const { height } = this.#context
    new ConnectableTransaction(checked, { tx: transaction, state: this.#state, height }).apply()
  }

  /** Checks an entry on top of a state; undefined if it cannot be taken. Its open checks go to `assumed`. */
  async #try(
    entry: PoolEntry,
    state: StateOverlay,
    assumed: SignatureCheck[],
  ): Promise<ConnectableTransaction | undefined> {
    const { checks } = this.#pool
    let tried: ConnectableTransaction | RuleError
    try {
      tried = await tryTransaction(transactionSteps(entry.transaction, state, this.#context), this.yielder)
    } catch (error) {
      // Rows that a step reads may have disappeared with the old tip.
      if (this.#chain.tip === this.#options.parent) throw error
      return undefined
    }
    if (tried instanceof RuleError && tried.code === 'block-issuer-documents') return undefined
    const open = tried instanceof RuleError ? [] : checks.unverified(tried.checks)
    const failure = this.#options.verify === true && open.length > 0 ? await checks.failure(open) : undefined
    if (tried instanceof RuleError || failure !== undefined) {
      this.#refused.push({ entry, error: failure ?? (tried as RuleError) })
      return undefined
    }
    assumed.push(...open)
    return tried
  }
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

  /** Whether it has room for so many more transactions, and for their bytes. */
  hasRoom(entries: readonly PoolEntry[]): boolean {
    if (this.#transactions.length + 1 + entries.length > this.#most.transactions) return false
    let size = this.#size
    for (let i = 0; i < entries.length; i++) size += (entries[i] as PoolEntry).transaction.bytes.length
    return size <= this.#most.bytes
  }

  /** Counts the work and the documents of one more; false, and nothing is counted, if they are too much for the block. */
  counts(checked: Checked): boolean {
    try {
      this.budget.add(checked)
      return true
    } catch (error) {
      if (error instanceof RuleError) return false
      throw error
    }
  }

  /** Adds a transaction that is counted. */
  add(transaction: Transaction, { fee, did }: Checked): void {
    this.#fees += fee
    this.#size += transaction.bytes.length
    const index = this.#transactions.push(transaction)
    if (did !== undefined) this.#operations.push({ operation: did, tx: transaction, index })
    this.#witness.add(witnessLeaf(transaction, index))
  }

  get chosen(): Chosen {
    const { root: witnessRoot } = this.#witness
    return { transactions: this.#transactions, fees: this.#fees, witnessRoot, operations: this.#operations }
  }
}

/** Whether nothing but its coins decides whether a transaction holds. */
function hasCoinsAlone(transaction: Transaction): boolean {
  const { accepted, parse, apply, checks, prove } = typeRulesOf(transaction)
  return accepted && [parse, apply, checks, prove].every((rule) => rule === undefined)
}

/** A state with the outputs of pooled transactions on top, which an operation may spend. */
function withPooledCoins(state: StateView, pool: Mempool): StateView {
  return {
    time: state.time,
    coin: (outpoint) => pool.coin(outpoint) ?? state.coin(outpoint),
    did: (did) => state.did(did),
    issuer: (did) => state.issuer(did),
    credential: (id, signer) => state.credential(id, signer),
    otherCredential: (id, signer) => state.otherCredential(id, signer),
    provedHeight: (genesis) => state.provedHeight(genesis),
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
