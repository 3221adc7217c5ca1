import { EventEmitter } from 'node:events'
import type { BlockEvent, Chain, ChainChange, ChainFollower } from '../chain/chain.js'
import { checkTransaction, type ConnectedTransaction } from '../consensus/connect.js'
import { type Coin, StateOverlay, type StateView } from '../consensus/ledger.js'
import { checkTransactionSanity } from '../consensus/sanity.js'
import type { SignatureCache } from '../crypto/signature-cache.js'
import { runChecks, type Verifier } from '../crypto/verifier.js'
import type { DidState } from '../did/state.js'
import type { Clock, Log } from '../env.js'
import { RuleError } from '../errors.js'
import { displayHash, mapKey } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import { txType } from '../primitives/payload.js'
import { type Outpoint, Transaction } from '../primitives/transaction.js'
import type { Overlay } from '../storage/database.js'
import { keys, values } from '../storage/schema.js'
import { type PoolEntry, PoolGraph } from './graph.js'
import { policy } from './policy.js'
import { PoolStore } from './store.js'

export interface MempoolOptions {
  readonly chain: Chain
  readonly verifier: Verifier
  readonly signatures: SignatureCache
  /** The real clock, also where the chain's is virtual: travelling in time expires nothing here. */
  readonly clock: Clock
  readonly log: Log
}

interface MempoolEvents {
  accepted: [PoolEntry]
}

/** What a transaction would be in the pool. */
interface Evaluation {
  readonly connected: ConnectedTransaction
  /** Pending updates that a deactivate makes pointless, with everything that builds on them. */
  readonly replaced: readonly PoolEntry[]
}

/** Transactions that wait for a block: each valid on top of the chain and of those it builds on. */
export class Mempool implements ChainFollower {
  readonly events = new EventEmitter<MempoolEvents>()
  readonly #options: MempoolOptions
  readonly #chain: Chain
  readonly #graph = new PoolGraph()
  readonly #store: PoolStore
  /** Settles when the pool has caught up with the last change of the chain. */
  #settled: Promise<void> = Promise.resolve()

  private constructor(options: MempoolOptions) {
    this.#options = options
    this.#chain = options.chain
    this.#store = new PoolStore(options.chain.database, () => {
      const { hash, height } = options.chain.tip.header
      return { hash, height }
    })
  }

  /** Opens the pool with what it held before; whatever has become invalid meanwhile is dropped with a reason. */
  static async open(options: MempoolOptions): Promise<Mempool> {
    const pool = new Mempool(options)
    for (const { arrival, bytes } of await pool.#store.load())
      await pool.#readmit(Transaction.fromBytes(bytes), arrival)
    await pool.#store.flushed()
    options.chain.addFollower(pool)
    return pool
  }

  get size(): number {
    return this.#graph.size
  }

  get bytes(): number {
    return this.#graph.bytes
  }

  /** In order of arrival. */
  entries(): Iterable<PoolEntry> {
    return this.#graph.entries()
  }

  /** In the order a block should take them. */
  byFeeRate(): Iterable<PoolEntry> {
    return this.#graph.byFeeRate()
  }

  get(txid: Hash): PoolEntry | undefined {
    return this.#graph.get(txid)
  }

  /** The pooled transaction that spends an output. */
  spender(outpoint: Outpoint): PoolEntry | undefined {
    return this.#graph.spender(outpoint)
  }

  /** Why a transaction left the pool without being mined. */
  droppedReason(txid: Hash): string | undefined {
    return this.#store.reason(txid)
  }

  /**
   * Takes one transaction as bytes. Resolves when it is in the pool and on disk, `local` ones synced; rejects with a
   * RuleError that says why not.
   */
  async accept(bytes: Uint8Array, options: { local: boolean }): Promise<Transaction> {
    const transaction = Transaction.fromBytes(bytes)
    if (transaction.isCoinbase) throw new RuleError('pool-coinbase')
    checkTransactionSanity(transaction, this.#chain.sanity)
    await this.#settled
    const arrival = this.#options.clock.now()
    const entry = await this.#admit(transaction, arrival)
    this.#makeRoom()
    if (this.#graph.get(transaction.hash) === undefined) {
      throw new RuleError('pool-full', `a fee of ${entry.fee} for ${transaction.bytes.length} bytes is too low now`)
    }
    await this.#store.put(transaction.hash, { arrival, bytes: transaction.bytes }, { sync: options.local })
    this.events.emit('accepted', entry)
    return transaction
  }

  /** Drops what has waited for too long. */
  expire(): void {
    const oldest = this.#options.clock.now() - policy.expiry
    const expired = [...this.#graph.entries()].filter(({ arrival }) => arrival < oldest)
    this.#drop(expired, 'it waited too long for a block')
  }

  async close(): Promise<void> {
    await this.#settled
    await this.#store.flushed()
  }

  stage(overlay: Overlay, { connected, disconnected }: ChainChange): void {
    const returning = returned(disconnected, connected)
    const arrival = this.#options.clock.now()
    for (const { hash, bytes } of returning) overlay.put(keys.pool(hash), values.pool.encode({ arrival, bytes }))
    for (const { hash } of transactionsOf(connected)) {
      if (this.#graph.get(hash) !== undefined) this.#store.mined(hash, overlay)
    }
  }

  async follow(change: ChainChange): Promise<void> {
    const settled = this.#follow(change)
    this.#settled = settled
    await settled
  }

  async #follow({ connected, disconnected }: ChainChange): Promise<void> {
    for (const transaction of transactionsOf(connected)) {
      const entry = this.#graph.get(transaction.hash)
      if (entry !== undefined) this.#graph.remove(entry)
      for (const input of transaction.inputs) {
        const rival = this.#graph.spender(input)
        if (rival !== undefined) this.#drop([rival], `an input was spent by ${transaction.txid}, which was mined`)
      }
    }
    const back = returned(disconnected, connected)
    const affected = disconnected.length > 0 ? [...this.#graph.entries()] : this.#affected(connected)
    for (const entry of affected) this.#graph.remove(entry)
    const arrival = this.#options.clock.now()
    for (const transaction of back) await this.#readmit(transaction, arrival)
    for (const entry of affected) await this.#readmit(entry.transaction, entry.arrival)
    this.#makeRoom()
  }

  /** Entries whose DID, or whose credentials' issuers, the blocks changed, and everything that builds on them. */
  #affected(connected: readonly BlockEvent[]): PoolEntry[] {
    const changed = new Set(connected.flatMap(({ dids }) => dids))
    if (changed.size === 0) return []
    const touched = [...this.#graph.entries()].filter(
      ({ did }) => did !== undefined && (changed.has(did.id) || did.issuers.some((issuer) => changed.has(issuer))),
    )
    return this.#graph.withDescendants(touched)
  }

  /** Puts a transaction back in that the pool or the chain held before; drops it with a reason if it no longer fits. */
  async #readmit(transaction: Transaction, arrival: number): Promise<void> {
    try {
      await this.#admit(transaction, arrival)
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      this.#forget(transaction, `${error.code}: ${error.message}`)
    }
  }

  /** Verifies a transaction that passed sanity and adds it. */
  async #admit(transaction: Transaction, arrival: number): Promise<PoolEntry> {
    for (;;) {
      const { connected, replaced } = this.#evaluate(transaction)
      const unknown = this.#options.signatures.unknown(connected.checks)
      if (unknown.length > 0) {
        // Pool and chain may move while signatures are verified, so everything else is looked at once more.
        await runChecks(unknown, this.#options.verifier)
        this.#options.signatures.add(unknown)
        continue
      }
      this.#drop(replaced, `${transaction.txid} deactivates the DID`)
      const entry = entryOf(transaction, connected, arrival)
      this.#graph.add(entry)
      return entry
    }
  }

  /** Tries a transaction on top of chain and pool without changing either. */
  #evaluate(transaction: Transaction): Evaluation {
    const { hash, payload } = transaction
    if (this.#graph.get(hash) !== undefined) throw new RuleError('tx-known', `${transaction.txid} is in the pool`)
    if (this.#chain.database.get(keys.location(hash)) !== undefined) {
      throw new RuleError('tx-known', `${transaction.txid} is on the chain`)
    }
    if (payload.type === txType.sideChainPow && this.#graph.sideChain(payload.sideGenesisHash) !== undefined) {
      throw new RuleError('pool-side-chain')
    }
    const replaced = this.#replacedBy(transaction)
    const view = new PoolView(this.#chain, this.#graph, new Set(replaced))
    const height = this.#chain.tip.header.height + 1
    const connected = checkTransaction(transaction, new StateOverlay(view), { ...this.#chain.sanity, height })
    const gone = new Set(replaced)
    const ancestors = this.#graph.ancestors(transaction, connected.did?.id).filter((entry) => !gone.has(entry))
    if (ancestors.length > policy.ancestors) throw new RuleError('pool-ancestors', `${ancestors.length} ancestors`)
    const pending = this.#graph.operations(connected.did?.id ?? '').filter((entry) => !gone.has(entry))
    if (pending.length >= policy.didOperations) throw new RuleError('pool-did-pending')
    return { connected, replaced }
  }

  #replacedBy({ payload, inputs }: Transaction): PoolEntry[] {
    if (payload.type !== txType.did || payload.operation.operation !== 'deactivate') return []
    const pending = this.#graph.operations(payload.operation.payload)
    if (pending.some(({ did }) => did?.state.status === 'deactivated')) return []
    const updates = pending.filter(({ transaction: { payload: other } }) => {
      return other.type === txType.did && other.operation.operation === 'update'
    })
    const replaced = this.#graph.withDescendants(updates)
    const gone = new Set(replaced.map(({ transaction }) => mapKey(transaction.hash)))
    // One that is paid with change of an update it would replace can only follow it.
    return inputs.some(({ txid }) => gone.has(mapKey(txid))) ? [] : replaced
  }

  #makeRoom(): void {
    if (this.#graph.bytes <= policy.poolSize) return
    const byRate = [...this.#graph.byFeeRate()]
    while (this.#graph.bytes > policy.poolSizeAfterEviction) {
      this.#drop([byRate.pop() as PoolEntry], 'the pool was full of transactions with a higher fee rate')
    }
  }

  /** Drops entries and everything that builds on them. */
  #drop(entries: readonly PoolEntry[], reason: string): void {
    if (entries.length === 0) return
    for (const entry of this.#graph.withDescendants(entries)) {
      this.#graph.remove(entry)
      this.#forget(entry.transaction, reason)
    }
  }

  #forget({ hash, txid }: Transaction, reason: string): void {
    this.#options.log.debug({ txid, reason }, 'a transaction left the pool')
    this.#store.drop(hash, reason).catch((error: unknown) => {
      this.#options.log.error({ error: String(error) }, 'the pool cannot be written')
    })
  }
}

/** The chain with the pool on top, as the next block would find it. */
class PoolView implements StateView {
  readonly #chain: Chain
  readonly #state: StateView
  readonly #graph: PoolGraph
  readonly #without: ReadonlySet<PoolEntry>

  constructor(chain: Chain, graph: PoolGraph, without: ReadonlySet<PoolEntry>) {
    this.#chain = chain
    this.#state = chain.state
    this.#graph = graph
    this.#without = without
  }

  coin(outpoint: Outpoint): Coin | undefined {
    const name = `${displayHash(outpoint.txid)}:${outpoint.index}`
    const spender = this.#graph.spender(outpoint)
    if (spender !== undefined && !this.#without.has(spender)) {
      throw new RuleError('tx-double-spend', `${name} is spent by ${spender.transaction.txid}, which is in the pool`)
    }
    const pooled = this.#graph.coin(outpoint, this.#chain.tip.header.height + 1)
    const coin = pooled ?? this.#state.coin(outpoint)
    if (coin === undefined && this.#wasSpent(outpoint)) {
      throw new RuleError('tx-double-spend', `${name} was spent on the chain`)
    }
    return coin
  }

  did(did: string): DidState | undefined {
    const pending = this.#graph.operations(did).filter((entry) => !this.#without.has(entry))
    return pending.at(-1)?.did?.state ?? this.#state.did(did)
  }

  issuer(did: string): DidState | undefined {
    return this.#state.issuer(did)
  }

  /** Whether the output existed: its transaction is on the chain and has it. */
  #wasSpent({ txid, index }: Outpoint): boolean {
    const location = this.#chain.database.get(keys.location(txid))
    if (location === undefined) return false
    const { height, index: position } = values.location.decode(location)
    const row = this.#chain.database.get(keys.transaction(height, position))
    return row !== undefined && (Transaction.fromBytes(row).outputs[index]?.value ?? 0n) > 0n
  }
}

function entryOf(transaction: Transaction, { fee, cost, did }: ConnectedTransaction, arrival: number): PoolEntry {
  const entry = { transaction, fee, arrival, cost }
  if (did === undefined) return entry
  const issuers = did.state.document.credentials.map(({ issuer }) => issuer).filter((issuer) => issuer !== did.id)
  return { ...entry, did: { id: did.id, state: did.state, issuers: [...new Set(issuers)] } }
}

function transactionsOf(blocks: readonly BlockEvent[]): Transaction[] {
  return blocks.flatMap(({ block }) => block.transactions.slice(1))
}

/** Transactions of disconnected blocks, oldest first, that no connected block brought back. */
function returned(disconnected: readonly BlockEvent[], connected: readonly BlockEvent[]): Transaction[] {
  const mined = new Set(transactionsOf(connected).map(({ hash }) => mapKey(hash)))
  return transactionsOf([...disconnected].reverse()).filter(({ hash }) => !mined.has(mapKey(hash)))
}
