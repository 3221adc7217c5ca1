import type { Chain } from '../chain/chain.js'
import { BlockBudget } from '../consensus/block-budget.js'
import { type CheckedCoins, coinSteps } from '../consensus/coin-rules.js'
import {
  checkTransaction,
  type ConnectedTransaction,
  readOperationSteps,
  transactionSteps,
} from '../consensus/connect.js'
import { StateOverlay } from '../consensus/ledger.js'
import type { ConnectContext } from '../consensus/rule-context.js'
import { transactionWork } from '../consensus/signature-work.js'
import { SignatureCache } from '../../base/crypto/signature-cache.js'
import { runChecks, type Verifier } from '../../base/crypto/verifier.js'
import { requireIssuerKeys } from '../../identity/did/operations/issued-credential.js'
import type { ParsedOperation } from '../../identity/did/operations/operation-row.js'
import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { headerSize } from '../../base/primitives/header.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import { type Params, paramsAt } from '../../base/primitives/spec.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import { tables } from '../storage/rows/tables.js'
import { ChainCoins } from './chain-coins.js'
import type { FeeFloor } from './fee-floor.js'
import type { PoolGraph } from './graph.js'
import type { PoolEntry } from './pool-entry.js'
import type { PoolLimits } from './policy.js'
import { poolPrice, requirePoolPrice } from './prices.js'
import type { RefusedBlocks } from './refused-blocks.js'
import { conflictsOf, type Replacing, requireReplacementFee } from './replacement.js'
import { crowdingOf, refuseUseless, replacedBy } from './types/all-policies.js'
import { PoolView } from './pool-view.js'

/** Context of the evaluation of a new transaction. */
export interface EvaluationContext {
  readonly chain: Chain
  readonly verifier: Verifier
  readonly signatures: SignatureCache
  readonly limits: PoolLimits
  readonly refusedBlocks: RefusedBlocks
  /** The current pool. */
  graph(): PoolGraph
}

/** Outcome of a transaction evaluated on top of chain and pool. */
export interface Evaluation {
  readonly connected: ConnectedTransaction
  /** Entries that a deactivate, or a proof of a later side-chain block, replaces, with their descendants, oldest first. */
  readonly replaced: readonly PoolEntry[]
  /** Further entries that spend the same, which it pays to replace; nothing builds on them. */
  readonly outbid: readonly PoolEntry[]
}

export interface EvaluationOptions {
  /** The entry that it was before a change of the chain. */
  readonly former?: PoolEntry | undefined
  /** Makes it a newcomer, which has to pay this and the prices of the pool, and may replace entries that spend the same. */
  readonly floor?: FeeFloor
  /** False: a newcomer that spends what an entry spends is refused, whatever it pays. */
  readonly replace?: boolean | undefined
}

/** Entries that a transaction replaces. */
interface Replaced {
  /** By the policy of its type. */
  readonly free: readonly PoolEntry[]
  /** Because it pays more. */
  readonly outbid: readonly PoolEntry[]
}

/** Refuses transactions too large to read quickly, or to fit into a template. */
export function refuseLarge(
  { length }: Uint8Array,
  { chain, limits }: Pick<EvaluationContext, 'chain' | 'limits'>,
): void {
  const room = chain.spec.limits.blockSize - headerSize - 4 - limits.coinbaseRoom
  const most = Math.min(room, limits.transactionSize)
  if (length > most) throw new RuleError('pool-size', `${length} bytes, at most ${most}`)
}

/** One transaction on its way into the pool. Every refusal is a RuleError. */
export class TransactionEvaluation {
  readonly transaction: Transaction
  readonly #surroundings: EvaluationContext
  /** Its checks that hold. */
  readonly #verified = new SignatureCache()
  readonly #coins: ChainCoins
  readonly #former: PoolEntry | undefined
  readonly #floor: FeeFloor | undefined
  readonly #replace: boolean
  #operation: ParsedOperation | undefined

  constructor(transaction: Transaction, surroundings: EvaluationContext, options: EvaluationOptions = {}) {
    const { former, floor, replace = true } = options
    this.transaction = transaction
    this.#former = former
    this.#floor = floor
    this.#replace = replace
    this.#surroundings = surroundings
    this.#coins = new ChainCoins(surroundings.chain)
  }

  /** Refuses a transaction that the pool or the chain holds, that broke a block of this node, or is of no use. */
  refuseKnown(): void {
    const { hash, txid } = this.transaction
    const { chain, graph, refusedBlocks } = this.#surroundings
    if (graph().get(hash) !== undefined) throw new RuleError('tx-known', `${txid} is in the pool`)
    if (chain.database.get(tables.location.key(hash)) !== undefined)
      throw new RuleError('tx-known', `${txid} is on the chain`)
    if (refusedBlocks.blames(txid)) {
      throw new RuleError('pool-unmineable', `a block of this node was refused for ${txid}`)
    }
    refuseUseless(this.transaction, chain.database)
  }

  /**
   * Refuses transactions expensive to look up or to verify, also those returned from a left branch. Credentials do not count: a
   * document has at most 256.
   */
  refuseDear(): void {
    const { bytes, inputs } = this.transaction
    const { limits } = this.#surroundings
    refuseLarge(bytes, this.#surroundings)
    if (inputs.length > limits.inputs) throw new RuleError('pool-inputs', `${inputs.length}, at most ${limits.inputs}`)
    const { cost } = transactionWork(this.transaction, 0)
    if (cost > limits.signatureCost) {
      throw new RuleError('pool-signature-cost', `cost ${cost}, at most ${limits.signatureCost}`)
    }
  }

  /**
   * Verifies its programs once its coins exist and pay for it, of a newcomer also the prices of this pool and what it replaces: the
   * owner of the coins pays for the work that follows. Waits for `caughtUp` before each read of chain and pool.
   */
  async verifyPrograms(caughtUp: () => Promise<void>): Promise<void> {
    const { fee, checks } = await this.#checkedCoins(caughtUp)
    this.#requirePrice({ fee })
    this.#floor?.require(this.transaction, fee)
    await this.verify(checks)
  }

  /** Reads its DID operation, and in slices the documents that {@link evaluate} needs; the chain caches them. Returns the DID. */
  async readOperation(): Promise<string | undefined> {
    this.#operation = await runCooperatively(readOperationSteps(this.transaction, this.#context))
    if (this.#operation === undefined) return undefined
    const state = new StateOverlay(this.#view())
    try {
      await runCooperatively(transactionSteps(this.transaction, state, this.#documentContext, this.#operation))
    } catch {
      // Result ignored, as the chain may move; the evaluation finds any error.
    }
    return this.#operation.did
  }

  /** Evaluates it on top of chain and pool in one turn, without changing either. */
  evaluate(): Evaluation {
    this.refuseKnown()
    const { limits } = this.#surroundings
    const graph = this.#surroundings.graph()
    const { free, outbid } = this.#replaced()
    const connected = this.#connect(this.#view({ free, outbid }))
    this.#requirePrice(connected, { outbid })
    const { id = '', state } = connected.did ?? {}
    const all = this.#withCrowding([...free, ...outbid], id)
    // A place is kept for the deactivate, after which nothing follows.
    const places = limits.didOperations + (state?.status === 'deactivated' ? 1 : 0)
    const gone = new Set(all)
    const pending = graph.operations(id).filter((entry) => !gone.has(entry))
    if (pending.length >= places) throw brokenRule('pool-did-pending')
    return { connected, replaced: all.filter((entry) => !outbid.includes(entry)), outbid }
  }

  /** Verifies the checks that are not cached; undefined when all are cached. */
  verify(checks: readonly SignatureCheck[]): Promise<void> | undefined {
    const { signatures, verifier } = this.#surroundings
    const unknown = this.#verified.unknown(signatures.unknown(checks))
    return unknown.length === 0 ? undefined : runChecks(unknown, verifier).then(() => this.#verified.add(unknown))
  }

  /** Replaced entries, with as few more as leave it within the limit of ancestors; `pool-ancestors` if that is not possible. */
  #withCrowding(replaced: readonly PoolEntry[], did: string): readonly PoolEntry[] {
    const { limits } = this.#surroundings
    const graph = this.#surroundings.graph()
    const ancestorsWithout = (gone: readonly PoolEntry[]) =>
      graph.ancestors(this.transaction, did, new Set(gone), limits.ancestors).length
    if (ancestorsWithout(replaced) <= limits.ancestors) return replaced
    for (const gone of crowdingOf(graph, this.transaction, replaced)) {
      if (ancestorsWithout(gone) <= limits.ancestors) return gone
    }
    throw brokenRule('pool-ancestors')
  }

  async #checkedCoins(caughtUp: () => Promise<void>): Promise<CheckedCoins> {
    const { chain } = this.#surroundings
    for (;;) {
      await caughtUp()
      const { tip } = chain
      this.refuseKnown()
      // Before its document is parsed: a key that goes may take along all holders of an issuer.
      requireIssuerKeys(this.#former?.did?.issuerKeys ?? [], chain.state)
      try {
        return await runCooperatively(coinSteps(this.transaction, this.#view(), this.#context))
      } catch (error) {
        // A transaction moving between pool and chain may be in neither for a while.
        if (!(error instanceof RuleError) || chain.tip === tip) throw error
      }
    }
  }

  /** Refuses a newcomer whose fee does not pay for its room, or for the entries that it replaces. */
  #requirePrice(
    { fee, did }: Pick<ConnectedTransaction, 'fee' | 'did'>,
    { outbid }: Pick<Replaced, 'outbid'> = this.#replaced(),
  ): void {
    if (this.#floor === undefined) return
    const { unsignedSize } = this.transaction
    const room = { unsignedSize, newLeaf: did?.newLeaf, nameLength: did?.nameLength }
    requirePoolPrice(fee, this.#params, room)
    const graph = this.#surroundings.graph()
    requireReplacementFee(graph, outbid, this.#replacing(did?.id), fee)
    this.#requireSpaceFor(graph, outbid)
  }

  /** Refuses to replace something at the cost of others: the newcomer might be the one to leave a full pool. */
  #requireSpaceFor(graph: PoolGraph, outbid: readonly PoolEntry[]): void {
    const grown = outbid.reduce(
      (bytes, { transaction }) => bytes - transaction.bytes.length,
      this.transaction.bytes.length,
    )
    const { poolSize } = this.#surroundings.limits
    if (outbid.length === 0 || grown <= 0 || graph.bytes + grown <= poolSize) return
    throw new RuleError('pool-full', `it has ${grown} bytes more than what it would replace, and the pool has no room`)
  }

  #replacing(did?: string): Replacing {
    const { transaction } = this
    const { unsignedSize, bytes } = transaction
    const [room, floor] = [poolPrice(this.#params, { unsignedSize }), this.#floor?.priceOf(bytes.length) ?? 0n]
    return { transaction, did, price: room > floor ? room : floor, most: this.#surroundings.limits.ancestors }
  }

  /** Entries that leave for it: those that the policy of its type replaces, and those that it has to outbid. */
  #replaced(): Replaced {
    const { limits, graph } = this.#surroundings
    const free = replacedBy(graph(), this.transaction)
    // Without them the view refuses what they spend.
    if (this.#floor === undefined || !this.#replace) return { free, outbid: [] }
    return { free, outbid: conflictsOf(graph(), this.transaction, { free, most: limits.replacements }) }
  }

  /** Connects it to a view, within the document budget of one transaction. */
  #connect(view: PoolView): ConnectedTransaction {
    try {
      return checkTransaction(this.transaction, new StateOverlay(view), this.#documentContext, this.#operation)
    } catch (error) {
      if (!(error instanceof RuleError && error.code === 'block-issuer-documents')) throw error
      throw new RuleError('pool-documents', error.message)
    }
  }

  #view({ free, outbid } = this.#replaced()): PoolView {
    const { chain, graph } = this.#surroundings
    return new PoolView(chain, graph(), new Set([...free, ...outbid]), this.#coins)
  }

  get #params(): Params {
    const { spec, height } = this.#context
    return paramsAt(spec, height)
  }

  /** Context of the next block. */
  get #context(): ConnectContext {
    const { chain } = this.#surroundings
    return { ...chain.sanity, height: chain.tip.header.height + 1 }
  }

  get #documentContext(): ConnectContext {
    const { chain, limits } = this.#surroundings
    return { ...this.#context, budget: new BlockBudget(chain.spec.limits, limits.documentShare) }
  }
}
