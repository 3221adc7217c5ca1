import type { LeftBranch, LeftBranches } from '../chain/left-branches.js'
import { RuleError } from '../errors/rule-error.js'
import { displayHash, mapKey, toHex } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import { txType } from '../primitives/payload.js'
import { outpointKey, Transaction } from '../primitives/transaction.js'
import type { Outpoint } from '../primitives/transaction-fields.js'
import { Yielder } from '../runtime/cooperative.js'
import type { Log } from '../runtime/env.js'
import type { PoolEntry } from './graph.js'
import { policy } from './policy.js'
import type { PoolStore } from './store.js'

/** A transaction that the pool or the chain held before. */
export interface Waiting {
  readonly transaction: Transaction
  /** Milliseconds since the Unix epoch. */
  readonly arrival: number
  /** What it was in the pool. */
  readonly entry?: PoolEntry
}

export interface ReevaluationOptions {
  readonly left: LeftBranches
  readonly store: PoolStore
  readonly log: Log
  /** Whether the pool holds a transaction. */
  pooled(txid: Hash): boolean
  /** Adds a transaction to the pool, and calls `added` in the same turn; rejects with a RuleError. */
  admit(transaction: Transaction, arrival: number, options?: { added?(): void }): Promise<unknown>
  /** Keeps the reason why a transaction is not in the pool any more. */
  forget(transaction: Transaction, error: RuleError): void
  /** Drops what is too much. */
  makeRoom(): void
  now(): number
}

/**
 * Evaluates again what the pool held before a change of the chain, and what blocks gave back, while the chain goes on. At
 * most one block is held beside what the pool itself holds.
 */
export class Reevaluation {
  readonly #options: ReevaluationOptions
  /** By transaction id, in order of arrival. */
  #waiting = new Map<string, Waiting>()
  /** By the outpoints that they spend. */
  #spenders = new Map<string, readonly Waiting[]>()
  /** DID operations among them. */
  #operations = 0
  /** Those of each subject. */
  #subjects = new Map<string, number>()
  #bytes = 0
  /** Rises when everything has to be evaluated from the beginning. */
  #generation = 0
  /** Rises with every change of the chain. */
  #changes = 0
  #stopped = false

  constructor(options: ReevaluationOptions) {
    this.#options = options
  }

  /** Transactions that were in the pool and wait for their turn. */
  get size(): number {
    return this.#waiting.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether a transaction waits for its turn. */
  has(txid: Hash): boolean {
    return this.#waiting.has(mapKey(txid))
  }

  /** What a waiting transaction was in the pool. */
  get(txid: Hash): PoolEntry | undefined {
    return this.#waiting.get(mapKey(txid))?.entry
  }

  /** The waiting transaction that spends an output and was in the pool. */
  spender(outpoint: Outpoint): PoolEntry | undefined {
    return this.#spenders.get(outpointKey(outpoint))?.find(({ entry }) => entry !== undefined)?.entry
  }

  *entries(): Generator<PoolEntry> {
    for (const { entry } of this.#waiting.values()) if (entry !== undefined) yield entry
  }

  add(waiting: Waiting): void {
    const id = mapKey(waiting.transaction.hash)
    if (this.#waiting.has(id)) return
    this.#waiting.set(id, waiting)
    for (const key of waiting.transaction.inputs.map(outpointKey)) {
      this.#spenders.set(key, [...(this.#spenders.get(key) ?? []), waiting])
    }
    if (waiting.transaction.payload.type === txType.did) this.#operations++
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
    if (waiting.transaction.payload.type === txType.did) this.#operations--
    this.#count(subjectOf(waiting.transaction, waiting.entry?.did?.id), -1)
    this.#bytes -= waiting.transaction.bytes.length
    return waiting
  }

  /**
   * Whether a transaction from outside may build on one that waits, spend the same, or come before it in the order of one
   * subject. `did` is that of its operation, once it is read: until then only coins count.
   */
  touches(transaction: Transaction, did?: string): boolean {
    // What a branch that was left brings back is not known before its blocks are read.
    if (this.#options.left.first !== undefined) return true
    if (this.#waiting.size === 0) return false
    const { hash, inputs } = transaction
    if (this.has(hash)) return true
    if (inputs.some((input) => this.has(input.txid) || this.#spenders.has(outpointKey(input)))) return true
    const isUnread = transaction.payload.type === txType.did && did === undefined
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

  /** What was refused may be accepted now: the chain has changed. */
  changed(): void {
    this.#changes++
  }

  /** Begins from the beginning: these come first, then what waits already. */
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

  /** Ends {@link run} at the next transaction; rows keep what is left for the next start. */
  stop(): void {
    this.#stopped = true
  }

  /** Resolves when nothing waits any more. */
  async run(): Promise<void> {
    while (!this.#stopped) {
      const branch = this.#options.left.first
      if (branch !== undefined) await this.#takeBack(branch)
      else if (this.#waiting.size > 0) await this.#pass()
      else return
    }
  }

  /** Takes transactions of a branch that the chain left into the pool, a block at a time. */
  async #takeBack(branch: LeftBranch): Promise<void> {
    const { left, store, log } = this.#options
    const generation = this.#generation
    for (const hash of branch.blocks) {
      const block = await left.read(hash)
      if (block === undefined)
        log.warn({ hash: displayHash(hash) }, 'a block that was left is gone with its transactions')
      const turns = new Yielder()
      for (const transaction of block?.transactions.slice(1) ?? []) {
        if (this.#stopped || this.#generation !== generation) return
        await this.#takeBackOne(transaction)
        if (turns.over) await turns.next()
      }
      // Rows do not gather over blocks.
      await store.flushed()
    }
    await store.settle((overlay) => left.settle(branch, overlay))
  }

  async #takeBackOne(transaction: Transaction): Promise<void> {
    const { pooled, admit, makeRoom, now, store } = this.#options
    const { hash } = transaction
    if (pooled(hash)) return
    // It may have a row already: a stop cut short the run that took it back, or it was sent again.
    const kept = this.remove(hash)
    const arrival = kept?.arrival ?? now()
    // Its own bytes: those of a block are not to be kept for the sake of one transaction.
    const own = Transaction.kept(transaction.bytes)
    const added = () => this.#written(store.put(hash, { arrival, bytes: own.bytes }, { sync: false }))
    try {
      await admit(own, arrival, { added })
      makeRoom()
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      if (error.code !== 'tx-known' && this.#buildsOnWaiting(own)) {
        // It cannot be judged before them; its row stands in for that of the branch.
        this.add({ transaction: own, arrival })
        added()
      } else if (kept !== undefined || error.code !== 'tx-known') this.#refuse(own, error)
    }
  }

  /** Whether what a transaction may build on waits: one whose output it spends, or for an operation any other one. Bounded. */
  #buildsOnWaiting({ inputs, payload }: Transaction): boolean {
    if (this.#bytes > policy.poolSize) return false
    return (payload.type === txType.did && this.#operations > 0) || inputs.some(({ txid }) => this.has(txid))
  }

  /**
   * Looks at everything that waits once. What builds on another may stand before it, so the refused are looked at again as
   * long as that brings something in, and leave with a reason after a look that did not.
   */
  async #pass(): Promise<void> {
    const generation = this.#generation
    const changes = this.#changes
    const refused: { readonly transaction: Transaction; readonly error: RuleError }[] = []
    let admitted = false
    const turns = new Yielder()
    for (const { transaction, arrival } of [...this.#waiting.values()]) {
      if (this.#stopped || this.#generation !== generation) return
      // A block may have brought it meanwhile.
      if (!this.#waiting.has(mapKey(transaction.hash))) continue
      try {
        // In the turn that adds it: whatever comes next finds it in one place.
        await this.#options.admit(transaction, arrival, { added: () => void this.remove(transaction.hash) })
        admitted = true
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        refused.push({ transaction, error })
      }
      if (turns.over) await turns.next()
    }
    if (admitted || this.#changes !== changes) return
    for (const { transaction, error } of refused) {
      if (this.remove(transaction.hash) !== undefined) this.#refuse(transaction, error)
    }
  }

  #refuse(transaction: Transaction, error: RuleError): void {
    const { pooled, store, forget } = this.#options
    if (error.code !== 'tx-known') forget(transaction, error)
    // It was mined, and its row may be one that a damaged end of the log left behind.
    else if (!pooled(transaction.hash)) this.#written(store.remove(transaction.hash))
  }

  #written(write: Promise<void>): void {
    write.catch((error: unknown) => this.#options.log.error({ error: String(error) }, 'the pool cannot be written'))
  }
}

/** Subject of an operation that was not read: it may be of any DID. */
const anyDid = 'did'

/** What the order of transactions counts for beside their coins: the DID of an operation, the side chain of a proof. */
function subjectOf({ payload }: Transaction, did: string | undefined): string | undefined {
  if (payload.type === txType.sideChainPow) return toHex(payload.sideGenesisHash)
  return payload.type === txType.did ? (did ?? anyDid) : undefined
}
