/**
 * Keeps the transactions that wait for a block, each valid on top of the tip and its pooled ancestors.
 *
 *   bytes -> accept -> transactionSanitySteps -> #verifyAndAdd (TransactionEvaluation) -> PoolGraph.add, PoolStore.put
 *   block -> stage: rows of mined ones -> follow: #clean, Reevaluation -> entries kept, or #drop with a drop reason
 *   newcomer that spends the same -> conflictsOf, requireReplacementFee -> replaced in the turn of the addition
 *   entries, byFeeRate -> production (templates), network (relay), api; `accepted` -> network, events, voting, devnet
 *
 * Imports chain, consensus, crypto, did, errors, primitives, runtime, storage; used by production, voting, network,
 * events, devnet, api, node, console, cli, serving.
 * - Entry and row are made in the same turn: a block staged in between would leave the row behind.
 * - A local transaction is acknowledged once its row is synced; signatures are verified before an entry exists.
 * - Rows of mined transactions go with the batch of their block.
 *
 * Journey: REST transaction -> row
 *    1. api/http/listeners               accepts the connection, within the limits of the port
 *    2. api/http/connections             one answer at a time for each connection
 *    3. api/http/http-port               finds the row of path and method; rate of the address
 *    4. api/http/body-budget             reads the body within the memory for all bodies
 *    5. api/paths/rest-paths             checks the media type, frames the result
 *    6. api/paths/rest-routes            `POST transaction` -> sendTransaction
 *    7. api/paths/send-transaction       JSON -> hex text
 *    8. api/results/transaction-results  hex -> bytes
 *    9. mempool/mempool                  accept: the order of all that follows
 *   10. mempool/evaluate-transaction     refuses what is too large, known or expensive; evaluates the rest
 *   11. primitives/transaction           bytes -> transaction, a copy
 *   12. consensus/sanity                 rules of the bytes; those of its type by consensus/types
 *   13. mempool/types, replacement       pooled entries that it replaces: by its type, or as it spends the same and pays more
 *   14. mempool/pool-view                coins and DIDs of the chain, with the rest of the pool on top
 *   15. consensus/connect                coins, fee, locks, programs; then the operation
 *   16. crypto/signature-cache           leaves out checks that held before
 *   17. crypto/verifier                  verifies the others, on threads if many
 *   18. did/operation                    operation and document of a DID transaction
 *   19. did/operations                   next state of the DID, further checks: verified as in 16 and 17
 *   20. mempool/graph                    adds the entry, with its ancestors
 *   21. mempool/store                    stages the row; concurrent rows share a batch
 *   22. storage/rows/tables              key and value of the row
 *   23. storage/database                 batch with journal row, synced -> the txid is the answer
 */
import { EventEmitter } from 'node:events'
import type { Chain, ChainChange, ChainIndexer, ChangedBlock } from '../chain/chain.js'
import type { Restoration } from '../chain/chain-change.js'
import type { KnownHeader } from '../chain/header-index.js'
import { LeftBranches } from '../chain/left-branches.js'
import type { Coin } from '../consensus/ledger.js'
import { transactionSanitySteps } from '../consensus/sanity.js'
import type { SignatureCache } from '../../base/crypto/signature-cache.js'
import type { Verifier } from '../../base/crypto/verifier.js'
import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Hash } from '../../base/primitives/hash.js'
import { operationForm } from '../../base/primitives/did-operation.js'
import { txType } from '../../base/primitives/payload.js'
import { paramsAt } from '../../base/primitives/spec.js'
import type { Steps } from '../../base/primitives/steps.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { Outpoint } from '../../base/primitives/transaction-fields.js'
import { forEachCooperatively, runCooperatively } from '../../base/runtime/cooperative.js'
import type { Clock, Log } from '../../base/runtime/env.js'
import type { Overlay } from '../storage/write/overlay.js'
import { tables } from '../storage/rows/tables.js'
import { changedBy, returnedBy, transactionsOf } from './changed-blocks.js'
import { PoolChecks } from './pool-signatures.js'
import { dropText, refusedBy } from './drop-reason.js'
import { FeeFloor } from './fee-floor.js'
import { PoolGraph } from './graph.js'
import { entryOf, type PoolEntry } from './pool-entry.js'
import { TransactionEvaluation, refuseLarge, type EvaluationContext } from './evaluate-transaction.js'
import type { Package } from './packages.js'
import { policy, type PoolLimits } from './policy.js'
import { Reevaluation, type Waiting } from './reevaluation.js'
import { RefusedBlocks, type RefusedEntry } from './refused-blocks.js'
import { Returning } from './returning-operations.js'
import { Removals } from './removals.js'
import { Room } from './room.js'
import { PoolStore } from './store.js'
import { isUseful, policyOf } from './types/all-policies.js'

export interface MempoolOptions {
  readonly chain: Chain
  readonly verifier: Verifier
  readonly signatures: SignatureCache
  /** The real clock, also where that of the chain is virtual: time travel expires no transaction. */
  readonly clock: Clock
  readonly log: Log
  /** Differences from {@link policy}. */
  readonly limits?: Partial<PoolLimits>
  /** Whether it takes nothing, of what is stored either. */
  readonly closed?: boolean
  /** Takes the progress of {@link Mempool.open}; without `total`: how much there is is unknown. */
  readonly onStored?: (done: number, total?: number) => void
}

interface MempoolEvents {
  /** A new entry, and the ids of those that it replaced by paying more. */
  accepted: [entry: PoolEntry, replaced: readonly string[]]
}

/** Transactions that wait for a block: each valid on top of the chain and its ancestors. */
export class Mempool implements ChainIndexer {
  readonly events = new EventEmitter<MempoolEvents>()
  /** Verifies the transactions that templates select. */
  readonly checks: PoolChecks
  /** Refused blocks that this node made from the pool. */
  readonly refusedBlocks: RefusedBlocks
  readonly #options: MempoolOptions
  readonly #chain: Chain
  #graph: PoolGraph
  readonly #store: PoolStore
  readonly #limits: PoolLimits
  readonly #floor: FeeFloor
  readonly #room: Room
  readonly #surroundings: EvaluationContext
  readonly #left: LeftBranches
  readonly #reevaluation: Reevaluation
  readonly #removals: Removals
  /** The tip on which {@link byFeeRate} is valid; undefined while it is being cleaned for a new one. */
  #validOn: KnownHeader | undefined
  /** Settles when entries removed by the last change of the chain are gone. */
  #cleaned: Promise<void> = Promise.resolve()
  /** Settles when entries possibly invalidated by that change are re-evaluated as well. */
  #settled: Promise<void> = Promise.resolve()
  /** Whether a rewind is under way that replaces the content. */
  #restoring = false
  #reevaluations = 0
  /** Called for each transaction that is evaluated again. */
  #evaluated = () => {}

  private constructor(options: MempoolOptions) {
    this.#options = options
    // Many callers may wait for what becomes of a transaction.
    this.events.setMaxListeners(0)
    this.#chain = options.chain
    this.#limits = { ...policy, ...options.limits }
    this.#graph = new PoolGraph(0, this.#limits.documentShare)
    this.#floor = new FeeFloor(options.clock, this.#limits, () => this.bytes)
    this.#room = new Room({
      limits: this.#limits,
      floor: this.#floor,
      graph: () => this.#graph,
      drop: (entry, needed) => this.#removals.drop([entry], { kind: 'full', needed }),
    })
    this.checks = new PoolChecks(options)
    this.refusedBlocks = new RefusedBlocks(this, options)
    const { refusedBlocks } = this
    this.#surroundings = { ...options, limits: this.#limits, refusedBlocks, graph: () => this.#graph }
    this.#store = new PoolStore(options.chain.database, this.#limits.droppedReasons, () => {
      const { hash, height } = options.chain.tip.header
      return { hash, height }
    })
    this.#left = new LeftBranches(options.chain)
    this.#reevaluation = new Reevaluation({
      left: this.#left,
      store: this.#store,
      log: options.log,
      pooled: (txid) => this.#graph.get(txid) !== undefined,
      admit: ({ transaction, arrival, entry }, { added } = {}) => {
        const caughtUp = () => this.#lasting(() => this.#cleaned)
        const newcomer = new TransactionEvaluation(transaction, this.#surroundings, { former: entry })
        return this.#verifyAndAdd(newcomer, arrival, added === undefined ? { caughtUp } : { caughtUp, added })
      },
      forget: (transaction, error) => this.#removals.forget(transaction, refusedBy(error)),
      makeRoom: () => this.#room.make(),
      evaluated: () => {
        this.#reevaluations++
        this.#evaluated()
      },
      now: () => options.clock.now(),
    })
    this.#removals = new Removals({
      graph: () => this.#graph,
      store: this.#store,
      reevaluation: this.#reevaluation,
      log: options.log,
      reevaluate: () => this.#reevaluateAfter(this.#cleaned),
    })
  }

  /** Opens the pool with its stored content; transactions that became invalid are dropped with a reason. */
  static async open(options: MempoolOptions): Promise<Mempool> {
    const pool = new Mempool(options)
    const stored = options.closed === true ? [] : await pool.#store.load()
    await pool.#left.look()
    const waiting = stored.map(({ arrival, bytes }) => ({ arrival, transaction: Transaction.kept(bytes) }))
    // Of one millisecond, what would have refused others came after them: they are in the pool.
    waiting.sort((a, b) => a.arrival - b.arrival || refusing(a) - refusing(b))
    // The blocks of a left branch are read one after another.
    const total = pool.#left.first === undefined ? waiting.length : undefined
    let done = 0
    pool.#evaluated = () => options.onStored?.(++done, total)
    await pool.#readmit(waiting)
    pool.#evaluated = () => {}
    await pool.#store.flushed()
    pool.#validOn = options.chain.tip
    options.chain.addIndexer(pool)
    return pool
  }

  get size(): number {
    return this.#graph.size + this.#reevaluation.size
  }

  get bytes(): number {
    return this.#graph.bytes + this.#reevaluation.bytes
  }

  /** Sela that a newcomer has to pay for 1000 bytes at present. */
  get floor(): number {
    return this.#floor.perThousand
  }

  get limits(): PoolLimits {
    return this.#limits
  }

  /** Number of additions so far. */
  get additions(): number {
    return this.#graph.additions
  }

  /** Number of evaluations of former entries and returned transactions so far. */
  get reevaluations(): number {
    return this.#reevaluations
  }

  /** In order of arrival; those in re-evaluation come last. */
  *entries(): Iterable<PoolEntry> {
    yield* this.#graph.entries()
    yield* this.#reevaluation.entries()
  }

  /** Packages that a block can take, in selection order; without those in re-evaluation. */
  byFeeRate(): Iterable<Package | undefined> {
    return this.#graph.byFeeRate()
  }

  /** Whether each entry by fee rate holds on a tip with its pooled ancestors; not while mined ones are still to be removed. */
  isValidOn(tip: KnownHeader): boolean {
    return this.#validOn === tip
  }

  /**
   * Whether the next block may have an entry: it still waits, and its policy has use for it after the blocks of the tip, which are not all
   * looked at where the tip is new. One that was offered by fee rate may have been mined meanwhile.
   */
  isMineable(entry: PoolEntry): boolean {
    return this.#graph.get(entry.transaction.hash) === entry && isUseful(entry.transaction, this.#chain.database)
  }

  /** Output of an entry that a block can take, as the coin that it becomes in that block. */
  coin(outpoint: Outpoint): Coin | undefined {
    return this.#graph.coin(outpoint, this.#chain.tip.header.height + 1)
  }

  get(txid: Hash): PoolEntry | undefined {
    return this.#graph.get(txid) ?? this.#reevaluation.get(txid)
  }

  /** Direct parents of a pooled transaction. */
  parents(entry: PoolEntry): readonly PoolEntry[] {
    return this.#graph.parents(entry)
  }

  /** Pooled transaction that spends an outpoint. */
  spender(outpoint: Outpoint): PoolEntry | undefined {
    return this.#graph.spender(outpoint) ?? this.#reevaluation.spender(outpoint)
  }

  /** Drop reason of a transaction. */
  droppedReason(txid: Hash): string | undefined {
    const reason = this.#store.reason(txid)
    return reason && dropText(reason)
  }

  /**
   * Accepts a transaction from bytes. Resolves when it is in the pool and on disk (`local` ones synced); rejects with a
   * RuleError. `replace` as false: it takes the place of none that spends the same.
   */
  async accept(bytes: Uint8Array, options: { local: boolean; replace?: boolean | undefined }): Promise<Transaction> {
    if (this.#options.closed === true) throw new RuleError('pool-full', 'the node follows another, and has no pool')
    refuseLarge(bytes, this.#surroundings)
    const transaction = await runCooperatively(Transaction.keptSteps(bytes))
    if (transaction.isCoinbase) throw brokenRule('pool-coinbase')
    const newcomer = new TransactionEvaluation(transaction, this.#surroundings, {
      floor: this.#floor,
      replace: options.replace,
    })
    newcomer.refuseKnown()
    await runCooperatively(transactionSanitySteps(transaction, this.#chain.sanity))
    const arrival = this.#options.clock.now()
    let written: Promise<unknown> | undefined
    let replaced: readonly string[] = []
    const entry = await this.#verifyAndAdd(newcomer, arrival, {
      caughtUp: (did) => this.#apart(transaction, did),
      // In the same turn as the addition: a block staged in between would leave the row behind.
      added: (added, outbid) => {
        replaced = outbid.map((each) => each.transaction.txid)
        this.#room.newcomers.add(added)
        const row = this.#store.put(transaction.hash, { arrival, bytes: transaction.bytes }, { sync: options.local })
        written = Promise.all([row, this.#room.make()]).finally(() => this.#room.newcomers.delete(added))
      },
    })
    await written
    // Entries that leave at once for other reasons are mostly mined.
    const reason = this.#store.reason(transaction.hash)
    if (this.#graph.get(transaction.hash) === undefined && reason?.kind === 'full') {
      const paid = `${transaction.bytes.length} bytes pay ${entry.fee} sela`
      throw new RuleError('pool-full', `${reason.needed} sela a byte are needed now: ${paid}`)
    }
    this.events.emit('accepted', entry, replaced)
    return transaction
  }

  /**
   * Replaces the content of the pool, as part of `rewind`; all of `content` is valid at the target block. No transaction is
   * accepted during the rewind, and disconnected ones do not return. Call between blocks.
   */
  async restore(content: readonly Waiting[], rewind: (part: Restoration) => Promise<void>): Promise<void> {
    const restored = this.#settled.then(() => this.#restore(content, rewind))
    this.#settled = restored.catch(() => {})
    await restored
  }

  /** Drops expired transactions. */
  async expire(): Promise<void> {
    const oldest = this.#options.clock.now() - this.#limits.expiry
    await runCooperatively(this.#removals.expireSteps(oldest))
  }

  /** Drops entries that cannot be mined, if still in the pool, with their descendants. */
  async refuse(refused: readonly RefusedEntry[]): Promise<void> {
    for (const { entry, error } of refused) await runCooperatively(this.#removals.dropSteps(entry, refusedBy(error)))
  }

  /**
   * Takes transactions out, with all their descendants, as `by` asks; resolves with those that left, in order of arrival. Call
   * between blocks.
   */
  async remove(txids: readonly Hash[], by: string): Promise<Transaction[]> {
    await this.settled()
    const entries = txids.flatMap((txid) => this.#graph.get(txid) ?? [])
    const going = this.#graph.withDescendants(entries).map(({ transaction }) => transaction)
    this.#removals.drop(entries, { kind: 'removed', by })
    await this.#store.flushed()
    return going
  }

  async close(): Promise<void> {
    this.#reevaluation.close()
    await this.#settled
    await this.#store.flushed()
  }

  stage(overlay: Overlay, { connected, disconnected }: ChainChange): void {
    if (this.#restoring) return
    // Of a reorganisation no block is held: all entries are re-evaluated afterwards, with those of the left branch.
    const returning = returnedBy(disconnected, connected)
    const arrival = this.#options.clock.now()
    for (const { hash, bytes } of returning) overlay.put(tables.pool.key(hash), tables.pool.encode({ arrival, bytes }))
    for (const transaction of transactionsOf(connected)) {
      this.#store.mining(transaction, { pooled: this.size > 0 && this.#holds(transaction.hash) }, overlay)
    }
  }

  /** Resolves when certainly invalid entries are gone; possibly invalid ones are re-evaluated while the chain continues. */
  follow(change: ChainChange): Promise<void> {
    if (this.#restoring) return Promise.resolve()
    const { tip } = this.#chain
    this.#validOn = undefined
    const cleaned = this.#clean(change).then(() => {
      this.#validOn = tip
    })
    this.#cleaned = cleaned
    this.#reevaluateAfter(cleaned)
    return cleaned
  }

  /** Resolves when the pool has caught up with the tip. */
  settled(): Promise<void> {
    return this.#lasting(() => this.#settled)
  }

  /**
   * Resolves when no waiting re-evaluation may affect a new transaction, and the pool has room for it. Credentials do not
   * count: their issuers are read from the chain. There is some room beside what waits, so that a full pool takes new ones meanwhile.
   */
  async #apart(transaction: Transaction, did: string | undefined): Promise<void> {
    await this.#lasting(() => this.#room.made)
    await this.#lasting(() => this.#cleaned)
    const { poolSize, roomBeside } = this.#limits
    const fits = this.bytes + transaction.bytes.length <= Math.floor(poolSize * (1 + roomBeside))
    if (
      this.#restoring ||
      !fits ||
      this.#mayReplaceParent(transaction) ||
      this.#reevaluation.touches(transaction, did)
    ) {
      await this.settled()
    }
  }

  /** Whether a transaction would replace pooled ones, of which some that wait for re-evaluation may be children. */
  #mayReplaceParent({ inputs }: Transaction): boolean {
    return this.#reevaluation.size > 0 && inputs.some((input) => this.#graph.spender(input) !== undefined)
  }

  async #restore(content: readonly Waiting[], rewind: (part: Restoration) => Promise<void>): Promise<void> {
    this.#restoring = true
    this.#store.hold()
    try {
      await rewind({
        stage: (overlay) => this.#store.replace([...this.#graph.entries()], content, overlay),
        follow: async () => {
          this.#graph = new PoolGraph(this.#graph.additions, this.#limits.documentShare)
          this.#validOn = this.#chain.tip
          this.#store.release()
          await this.#readmit(content)
        },
      })
    } finally {
      this.#store.release()
      this.#restoring = false
    }
  }

  #holds(txid: Hash): boolean {
    return this.#graph.get(txid) !== undefined || this.#reevaluation.has(txid)
  }

  /** Removes mined and certainly invalid entries, and queues the others affected for re-evaluation. */
  async #clean(change: ChainChange): Promise<void> {
    const { reorganised, connected, disconnected } = change
    this.#reevaluation.changed()
    if (!reorganised) {
      await runCooperatively(this.#minedSteps(transactionsOf(connected)))
      this.#store.mined()
    }
    if (disconnected.length > 0 || this.#rulesChanged(connected)) {
      const arrival = this.#options.clock.now()
      const back = returnedBy(disconnected, connected).map(({ bytes }) => ({
        transaction: Transaction.kept(bytes),
        arrival,
      }))
      this.#reevaluation.startOver(back)
      await forEachCooperatively(this.#graph.entries(), (entry) => this.#removals.reevaluateLater(entry))
      if (!reorganised) return
      await this.#left.look()
      // Runs started before did not know the transactions of the left branch, which come first.
      this.#reevaluation.startOver([])
      return
    }
    if (this.#graph.size === 0) return
    const { own, others } = await runCooperatively(this.#graph.touchedSteps(changedBy(connected), this.#chain.state))
    // Those that most likely hold come first: templates are without them meanwhile.
    for (const touched of [own, others]) {
      await forEachCooperatively(this.#graph.withDescendants(touched), (entry) => {
        // It may have expired meanwhile.
        if (this.#graph.get(entry.transaction.hash) === entry) this.#removals.reevaluateLater(entry)
      })
    }
  }

  /** Removes mined transactions, and drops entries that spend the same or are of no use after them. */
  *#minedSteps(transactions: readonly Transaction[]): Steps {
    for (const transaction of transactions) {
      // As for every block of a sync.
      if (this.size === 0) return
      this.#reevaluation.remove(transaction.hash)
      const entry = this.#graph.get(transaction.hash)
      if (entry !== undefined) this.#graph.remove(entry)
      this.#dropUseless(transaction)
      for (const input of transaction.inputs) {
        const rival = this.#graph.spender(input)
        if (rival !== undefined) yield* this.#removals.dropSteps(rival, { kind: 'spent', by: transaction.txid })
        yield
      }
    }
  }

  /** Drops the entry of the same subject as a mined transaction, if that leaves it without use. */
  #dropUseless(mined: Transaction): void {
    const { subject, replacement } = policyOf(mined)
    const entry = subject && this.#graph.ofSubject(subject(mined.payload))
    if (entry === undefined || replacement === undefined || this.isMineable(entry)) return
    this.#removals.drop([entry], { kind: replacement.reason, by: mined.txid })
  }

  #reevaluateAfter(cleaned: Promise<void>): void {
    const settled = Promise.all([this.#settled, cleaned]).then(() => this.#reevaluate())
    this.#settled = settled
    settled.catch((error: unknown) => this.#chain.fail(error))
  }

  async #reevaluate(): Promise<void> {
    await this.#reevaluation.run()
    await this.#room.make()
  }

  /** Whether the next block has other rules than the first of these, for which the pool was checked. */
  #rulesChanged([first]: readonly ChangedBlock[]): boolean {
    const { header } = this.#chain.tip
    const { height } = first?.header ?? header
    return paramsAt(this.#chain.spec, height) !== paramsAt(this.#chain.spec, header.height + 1)
  }

  /** Resolves when the latest of a promise that may be replaced has settled. */
  async #lasting(current: () => Promise<void>): Promise<void> {
    for (let seen: Promise<void> | undefined; seen !== current();) {
      seen = current()
      await seen
    }
  }

  /** Re-adds former content and drops invalid transactions with a reason. */
  async #readmit(all: readonly Waiting[]): Promise<void> {
    for (const waiting of all) this.#reevaluation.add(waiting)
    await this.#reevaluate()
  }

  /**
   * Verifies a transaction that passed sanity, and adds it. Waits for `caughtUp` before each read of chain and pool; it gets
   * the DID of the operation once known. `added` is called in the same turn as the addition.
   */
  async #verifyAndAdd(
    newcomer: TransactionEvaluation,
    arrival: number,
    {
      caughtUp,
      added,
    }: { caughtUp(did?: string): Promise<void>; added?(entry: PoolEntry, outbid: readonly PoolEntry[]): void },
  ): Promise<PoolEntry> {
    const { transaction } = newcomer
    newcomer.refuseDear()
    // Programs first: no document is read before they hold.
    await newcomer.verifyPrograms(caughtUp)
    const did = await newcomer.readOperation()
    const returning = new Returning(transaction, did, this.#surroundings)
    for (;;) {
      await caughtUp(did)
      const { connected, replaced, outbid } = newcomer.evaluate()
      // Pool and chain may move during verification → evaluate again. Nothing to verify → add in the turn of the evaluation: a
      // rival may be as far.
      const busy = newcomer.verify(connected.checks) ?? returning.read(replaced)
      if (busy !== undefined) {
        await busy
        continue
      }
      // First, since no operation that returns may follow them.
      this.#removals.replaceOutbid(outbid, transaction)
      const { replacement } = policyOf(transaction)
      if (replacement !== undefined) {
        this.#removals.replace(replaced, { kind: replacement.reason, by: transaction.txid }, returning)
      }
      const entry = entryOf(transaction, connected, arrival)
      this.#graph.add(entry)
      added?.(entry, outbid)
      // After the addition: signatures of transactions not kept would displace others from the cache.
      if (this.#graph.get(transaction.hash) === entry) this.#options.signatures.add(connected.checks)
      return entry
    }
  }
}

/** Order of operations by what they refuse after them: a revoke the declare, a deactivate everything. */
function refusing({ transaction: { payload } }: Waiting): number {
  const form = payload.type === txType.did ? operationForm(payload.operation) : undefined
  if (form?.effect !== 'end') return 0
  return form.subject === 'credential' ? 1 : 2
}
