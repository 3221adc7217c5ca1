import type { LeftBranch, LeftBranches } from '../chain/left-branches.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { displayHash, mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { outpointKey } from '../../base/primitives/input.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { Outpoint } from '../../base/primitives/transaction-fields.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import type { Log } from '../../base/runtime/env.js'
import type { PoolEntry } from './pool-entry.js'
import { policy } from './policy.js'
import type { PoolStore } from './store.js'
import { policyOf } from './types/all-policies.js'

/** A transaction held before by the pool or the chain. */
export interface Waiting {
  readonly transaction: Transaction
  /** Milliseconds since the Unix epoch. */
  readonly arrival: number
  /** Its former pool entry. */
  readonly entry?: PoolEntry
}

export function waitingOf(entry: PoolEntry): Waiting {
  return { transaction: entry.transaction, arrival: entry.arrival, entry }
}

export interface ReevaluationOptions {
  readonly left: LeftBranches
  readonly store: PoolStore
  readonly log: Log
  /** Whether the pool holds a transaction. */
  pooled(txid: Hash): boolean
  /** Adds a transaction to the pool, and calls `added` in the same turn; rejects with a RuleError. */
  admit(waiting: Waiting, options?: { added?(): void }): Promise<unknown>
  /** Stores the drop reason of a transaction. */
  forget(transaction: Transaction, error: RuleError): void
  /** Evicts down to the pool size. */
  makeRoom(): Promise<void>
  /** Called for each transaction that was looked at. */
  evaluated(): void
  now(): number
}

/**
 * Re-evaluates former pool entries after a change of the chain, and transactions of disconnected blocks, while the chain continues. Holds
 * at most one block besides the pool content.
 */
export class Reevaluation {
  readonly #options: ReevaluationOptions
  /** By transaction id, in order of arrival. */
  #waiting = new Map<string, Waiting>()
  /** By spent outpoint. */
  #spenders = new Map<string, readonly Waiting[]>()
  /** Number of transactions with an operation waiting. */
  #operations = 0
  /** Number of transactions waiting, by subject. */
  #subjects = new Map<string, number>()
  #bytes = 0
  /** Incremented when everything is evaluated from the start again. */
  #generation = 0
  /** Incremented with every change of the chain. */
  #changes = 0
  #stopped = false

  constructor(options: ReevaluationOptions) {
    this.#options = options
  }

  /** Number of waiting transactions. */
  get size(): number {
    return this.#waiting.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether a transaction waits for re-evaluation. */
  has(txid: Hash): boolean {
    return this.#waiting.has(mapKey(txid))
  }

  /** Former pool entry of a waiting transaction. */
  get(txid: Hash): PoolEntry | undefined {
    return this.#waiting.get(mapKey(txid))?.entry
  }

  /** Former pool entry, now waiting, that spends an outpoint. */
  spender(outpoint: Outpoint): PoolEntry | undefined {
    return this.#spenders.get(outpointKey(outpoint))?.find(({ entry }) => entry !== undefined)?.entry
  }

  *entries(): Generator<PoolEntry> {
    for (const { entry } of this.#waiting.values()) if (entry !== undefined) yield entry
  }

  add(waiting: Waiting): void {
    const id = waiting.transaction.hashKey
    if (this.#waiting.has(id)) return
    this.#waiting.set(id, waiting)
    for (const key of waiting.transaction.inputs.map(outpointKey)) {
      this.#spenders.set(key, [...(this.#spenders.get(key) ?? []), waiting])
    }
    if (policyOf(waiting.transaction).hasOperation) this.#operations++
    this.#count(subjectOf(waiting.transaction, waiting.entry?.did?.id), 1)
    this.#bytes += waiting.transaction.bytes.length
  }

  remove(txid: Hash): Waiting | undefined {
    const id = mapKey(txid)
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return undefined
    this.#waiting.delete(id)
    for (const key of waiting.transaction.inputs.map(outpointKey)) {
      const others = (this.#spenders.get(key) ?? []).filter((one) => one !== waiting)
      if (others.length > 0) this.#spenders.set(key, others)
      else this.#spenders.delete(key)
    }
    if (policyOf(waiting.transaction).hasOperation) this.#operations--
    this.#count(subjectOf(waiting.transaction, waiting.entry?.did?.id), -1)
    this.#bytes -= waiting.transaction.bytes.length
    return waiting
  }

  /**
   * Whether a new transaction may conflict with a waiting one: builds on it, spends the same, or precedes it in a subject.
   * `did`: DID of its operation, once read; until then only coins count.
   */
  touches(transaction: Transaction, did?: string): boolean {
    // The transactions of a left branch are unknown until its blocks are read.
    if (this.#options.left.first !== undefined) return true
    if (this.#waiting.size === 0) return false
    const { hash, inputs } = transaction
    if (this.has(hash)) return true
    if (inputs.some((input) => this.has(input.txid) || this.#spenders.has(outpointKey(input)))) return true
    const isUnread = policyOf(transaction).hasOperation && did === undefined
    const subject = isUnread ? undefined : subjectOf(transaction, did)
    if (subject === undefined) return false
    return this.#subjects.has(subject) || (did !== undefined && this.#subjects.has(anyDid))
  }

  #count(subject: string | undefined, more: 1 | -1): void {
    if (subject === undefined) return
    const count = (this.#subjects.get(subject) ?? 0) + more
    if (count > 0) this.#subjects.set(subject, count)
    else this.#subjects.delete(subject)
  }

  /** A change of the chain → refused transactions may be valid now. */
  changed(): void {
    this.#changes++
  }

  /** Restarts: the given transactions first, then those already waiting. */
  startOver(first: readonly Waiting[]): void {
    this.#generation++
    this.#changes++
    const rest = this.#waiting
    this.#waiting = new Map()
    this.#spenders = new Map()
    this.#operations = 0
    this.#subjects = new Map()
    this.#bytes = 0
    for (const waiting of [...first, ...rest.values()]) this.add(waiting)
  }

  /** Ends {@link run} at the next transaction; rows keep the rest for the next start. */
  close(): void {
    this.#stopped = true
  }

  /** Resolves when no transaction waits. */
  async run(): Promise<void> {
    while (!this.#stopped) {
      const branch = this.#options.left.first
      if (branch !== undefined) await this.#takeBack(branch)
      else if (this.#waiting.size > 0) await this.#pass()
      else return
    }
  }

  /** Returns transactions of a left branch to the pool, block by block. */
  async #takeBack(branch: LeftBranch): Promise<void> {
    const { left, store, log } = this.#options
    const generation = this.#generation
    for (const hash of branch.blocks) {
      const block = await left.read(hash)
      if (block === undefined)
        log.warn({ hash: displayHash(hash) }, 'a block that was left is gone with its transactions')
      const yielder = new Yielder()
      for (const transaction of block?.transactions.slice(1) ?? []) {
        if (this.#stopped || this.#generation !== generation) return
        await this.#takeBackOne(transaction)
        this.#options.evaluated()
        if (yielder.over) await yielder.next()
      }
      // Bounds the staged rows to one block.
      await store.flushed()
    }
    await store.settle((overlay) => left.settle(branch, overlay))
  }

  async #takeBackOne(transaction: Transaction): Promise<void> {
    const { pooled, admit, makeRoom, now, store } = this.#options
    const { hash } = transaction
    if (pooled(hash)) return
    // A row may exist already: a stop interrupted this run before, or the transaction was sent again.
    const kept = this.remove(hash)
    const arrival = kept?.arrival ?? now()
    // A copy of its bytes: the buffer of the whole block must not stay in memory.
    const own = Transaction.kept(transaction.bytes)
    const added = () => this.#written(store.put(hash, { arrival, bytes: own.bytes }, { sync: false }))
    try {
      await admit({ transaction: own, arrival }, { added })
      await makeRoom()
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      if (error.code !== 'tx-known' && this.#buildsOnWaiting(own)) {
        // Undecidable before its ancestors; its row replaces that of the branch.
        this.add({ transaction: own, arrival })
        added()
      } else if (kept !== undefined || error.code !== 'tx-known') this.#refuse(own, error)
    }
  }

  /** Whether a possible ancestor waits: of a spent output, or for an operation any other operation. Bounded. */
  #buildsOnWaiting(transaction: Transaction): boolean {
    if (this.#bytes > policy.poolSize) return false
    if (policyOf(transaction).hasOperation && this.#operations > 0) return true
    return transaction.inputs.some(({ txid }) => this.has(txid))
  }

  /**
   * Evaluates everything waiting once. A transaction may come before its ancestor → refused ones of which one may wait are retried
   * while passes admit any, and dropped with a reason after a pass without success.
   */
  async #pass(): Promise<void> {
    const generation = this.#generation
    const changes = this.#changes
    const refused: { readonly transaction: Transaction; readonly error: RuleError }[] = []
    let admitted = false
    const yielder = new Yielder()
    for (const waiting of [...this.#waiting.values()]) {
      if (this.#stopped || this.#generation !== generation) return
      const { transaction } = waiting
      // A block may have mined it since.
      if (!this.#waiting.has(transaction.hashKey)) continue
      const before = this.#changes
      try {
        // In the same turn as the addition: readers find it in exactly one of the two.
        await this.#options.admit(waiting, { added: () => void this.remove(transaction.hash) })
        admitted = true
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        if (this.#changes !== before || this.#mayFollowWaiting(waiting)) refused.push({ transaction, error })
        else if (this.remove(transaction.hash) !== undefined) this.#refuse(transaction, error)
      }
      this.#options.evaluated()
      if (yielder.over) await yielder.next()
    }
    if (admitted || this.#changes !== changes) return
    for (const { transaction, error } of refused) {
      if (this.remove(transaction.hash) !== undefined) this.#refuse(transaction, error)
    }
  }

  /** Whether a waiting transaction may come after another one: of a spent output, or in its subject. */
  #mayFollowWaiting({ transaction, entry }: Waiting): boolean {
    if (transaction.inputs.some(({ txid }) => this.has(txid))) return true
    const subject = subjectOf(transaction, entry?.did?.id)
    if (subject === undefined) return false
    if (subject === anyDid) return this.#operations > 1
    return (this.#subjects.get(subject) ?? 0) > 1 || (entry?.did !== undefined && this.#subjects.has(anyDid))
  }

  #refuse(transaction: Transaction, error: RuleError): void {
    const { pooled, store, forget } = this.#options
    if (error.code !== 'tx-known') forget(transaction, error)
    // Already mined: its row may be left over from a damaged end of the log.
    else if (!pooled(transaction.hash)) this.#written(store.remove(transaction.hash))
  }

  #written(write: Promise<void>): void {
    write.catch((error: unknown) => this.#options.log.error({ error: String(error) }, 'the pool cannot be written'))
  }
}

/** Subject of an unread operation: it may be of any DID. */
const anyDid = 'did'

/** Subject in which transactions are ordered besides their coins: the DID of an operation, the side chain of a proof. */
function subjectOf(transaction: Transaction, did: string | undefined): string | undefined {
  const { hasOperation, subject } = policyOf(transaction)
  return hasOperation ? (did ?? anyDid) : subject?.(transaction.payload)
}
