import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes, mapKey, ownCopy } from '../../base/primitives/bytes.js'
import { type Hash, sha256d } from '../../base/primitives/hash.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import type { Env } from '../../base/runtime/env.js'
import { LinkError } from '../link.js'
import type { Peer } from '../peers/peer-record.js'
import { transactionsAtOnce, transactionsExchange } from '../wire/transactions-message.js'
import { type Assignment, Assignments } from './assignments.js'

/** @limit count: announced transactions kept of one peer; further ones are not noted */
export const announcedByPeer = 2048
/** @tuning count: peers from which transactions are fetched at a time, those that are late not counted */
const fetchesAtOnce = 8
/** Patience (ms) before another peer that announced the same transaction is asked as well. */
const fetchPatience = 2_000
/**
 * An honest peer may drop one between announcement and request.
 * @limit count: announced transactions that a peer may withhold without a penalty
 */
const withheldFree = 16
/** @limit count: delivered transactions for which a peer may withhold one more */
const withheldShare = 4

/** A transaction to fetch. */
export interface AnnouncedTx {
  readonly txid: Hash
  /** sha256d of its bytes; undefined for a missing parent, known by its txid alone. */
  readonly digest: Hash | undefined
}

export interface FetcherOptions extends Pick<Env, 'timers' | 'log'> {
  /** Whether fetching is paused; announcements are dropped while it is. */
  paused(): boolean
  /** Whether a fetch would be useless, as far as known without a database read. */
  isUseless(wanted: AnnouncedTx): boolean
  /** Filters out transactions that the chain has. */
  unmined(wanted: readonly AnnouncedTx[]): Promise<readonly AnnouncedTx[]>
  /** Takes delivered transactions; the peer is asked for more when it resolves. */
  take(peer: Peer, transactions: readonly Uint8Array[]): Promise<void>
}

/** How much of a list was queued: all, or why not. */
type Queued = 'all' | 'spent' | 'late'

interface PeerQueue {
  readonly peer: Peer
  /** Announced and not requested yet, or requested without success. */
  readonly wanted: Map<string, AnnouncedTx>
  busy: boolean
  /** Whether its request counts among those in progress: not while its answer is late. */
  placed: boolean
  handedOut: number
  withheld: number
  /** Called when the queue has room again or is gone. */
  changed: () => void
}

/**
 * Fetches announced transactions. Each is requested from one peer at a time, and from the next one when the answer is late or
 * lacks it. Each peer has one open request.
 */
export class TransactionFetcher {
  readonly #options: FetcherOptions
  /** In serving order. */
  readonly #queues = new Map<Peer, PeerQueue>()
  /** Requested transactions, by key. */
  readonly #requests: Assignments<Peer, string>
  #fetches = 0
  /** Delivered transactions under evaluation. */
  readonly #takes = new Set<Promise<void>>()

  constructor(options: FetcherOptions) {
    this.#options = options
    const onOverdue = ({ peer }: Assignment<Peer, string>) => {
      // Others are not kept waiting by a peer that does not answer.
      const queue = this.#queues.get(peer)
      this.#place(queue, false)
      queue?.changed()
      this.#serve()
    }
    this.#requests = new Assignments(options.timers, { canMove: () => true, onOverdue })
  }

  /** Queues what a peer announced; false when the queue is full and the rest was not noted. */
  want(peer: Peer, names: readonly AnnouncedTx[]): boolean {
    const complete = this.#note(peer, names)
    this.#serve()
    return complete
  }

  /**
   * Fetches a long list from a peer; resolves when its last entry is queued or the peer is gone. Resolves without the rest after
   * `budget` milliseconds (`spent`), and as soon as the rest has to wait for an answer that is late (`late`).
   */
  async wantAll(peer: Peer, names: readonly AnnouncedTx[], budget: number): Promise<Queued> {
    const yielder = new Yielder()
    let spent = false
    const cancel = this.#options.timers.after(budget, () => {
      spent = true
      this.#queues.get(peer)?.changed()
    })
    const mustWait = (queue: PeerQueue | undefined): queue is PeerQueue =>
      !spent && queue !== undefined && crowded(queue)
    try {
      for (let start = 0; start < names.length && !peer.closed; start += transactionsAtOnce) {
        if (spent) return 'spent'
        this.want(peer, names.slice(start, start + transactionsAtOnce))
        if (yielder.over) await yielder.next()
        for (let queue = this.#queues.get(peer); mustWait(queue); queue = this.#queues.get(peer)) {
          if (isLate(queue)) return 'late'
          await changeOf(queue)
        }
      }
      return 'all'
    } finally {
      cancel()
    }
  }

  /** Drops the queue of a peer. */
  drop(peer: Peer): void {
    const queue = this.#queues.get(peer)
    this.#queues.delete(peer)
    queue?.changed()
  }

  /** Resolves when all delivered transactions are taken. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#takes)
  }

  #note(peer: Peer, names: readonly AnnouncedTx[]): boolean {
    if (peer.closed || this.#options.paused()) return true
    const queue = this.#queues.get(peer) ?? newQueue(peer)
    this.#queues.set(peer, queue)
    for (const wanted of names) {
      if (this.#options.isUseless(wanted)) continue
      if (queue.wanted.size >= announcedByPeer) return false
      queue.wanted.set(keyOf(wanted), wanted)
    }
    return true
  }

  #serve(): void {
    if (this.#options.paused()) return this.#clear()
    for (const queue of [...this.#queues.values()]) {
      if (this.#fetches >= fetchesAtOnce) return
      if (queue.busy) continue
      const batch = this.#batchOf(queue)
      if (batch.length === 0) continue
      // Round robin: the served peer moves to the end.
      this.#queues.delete(queue.peer)
      this.#queues.set(queue.peer, queue)
      queue.busy = true
      this.#place(queue, true)
      void this.#fetch(queue, batch).finally(() => {
        this.#place(queue, false)
        queue.busy = false
        if (queue.peer.closed) this.drop(queue.peer)
        this.#serve()
      })
    }
  }

  #place(queue: PeerQueue | undefined, placed: boolean): void {
    if (queue === undefined || queue.placed === placed) return
    queue.placed = placed
    this.#fetches += placed ? 1 : -1
  }

  #clear(): void {
    for (const queue of this.#queues.values()) {
      queue.wanted.clear()
      queue.changed()
    }
  }

  /** Next batch to request from a peer; drops useless entries of its queue. */
  #batchOf(queue: PeerQueue): AnnouncedTx[] {
    const batch: AnnouncedTx[] = []
    for (const [key, wanted] of queue.wanted) {
      if (this.#options.isUseless(wanted)) queue.wanted.delete(key)
      else if (!this.#requests.isOut(key)) batch.push(wanted)
      if (batch.length === transactionsAtOnce) break
    }
    if (!crowded(queue)) queue.changed()
    return batch
  }

  async #fetch(queue: PeerQueue, batch: readonly AnnouncedTx[]): Promise<void> {
    const request = this.#requests.give(queue.peer, batch.map(keyOf), fetchPatience)
    try {
      await this.#ask(queue, batch, request)
    } catch (error) {
      // Other peers may have announced the same.
      for (const wanted of batch) queue.wanted.delete(keyOf(wanted))
      if (!(error instanceof LinkError) && !(error instanceof RuleError)) {
        this.#options.log.error({ error: String(error) }, 'transactions could not be fetched')
      }
    } finally {
      request.release()
    }
  }

  /** Requests the unmined ones of a batch, and has those delivered taken. */
  async #ask(queue: PeerQueue, batch: readonly AnnouncedTx[], request: Assignment<Peer, string>): Promise<void> {
    const { peer, wanted } = queue
    const unmined = await this.#options.unmined(batch)
    const asked = new Set(unmined.map(keyOf))
    for (const key of batch.map(keyOf)) if (!asked.has(key)) wanted.delete(key)
    if (unmined.length === 0) return
    const txids = unmined.map(({ txid }) => txid)
    const answer = await peer.ask(transactionsExchange, txids).finally(() => request.answered())
    this.#place(queue, true)
    if (answer.length > txids.length) {
      peer.penalise('peer-message', `${answer.length} transactions where ${txids.length} were asked for`)
      throw brokenRule('peer-message')
    }
    // A short list leaves the rest open; an empty list reports all as missing.
    const answered = answer.length === 0 ? unmined : unmined.slice(0, answer.length)
    for (const one of answered) wanted.delete(keyOf(one))
    const handedOut = answered.flatMap(({ digest }, i) => {
      const bytes = answer[i] ?? new Uint8Array(0)
      return bytes.length > 0 && (digest === undefined || equalBytes(sha256d(bytes), digest))
        ? [{ digest, bytes: ownCopy(bytes) }]
        : []
    })
    const promised = (list: readonly Pick<AnnouncedTx, 'digest'>[]) =>
      list.filter(({ digest }) => digest !== undefined).length
    this.#account(queue, promised(handedOut), promised(answered) - promised(handedOut))
    const bytes = handedOut.map((one) => one.bytes)
    const taken = this.#options.take(peer, bytes).finally(() => this.#takes.delete(taken))
    this.#takes.add(taken)
    await taken
  }

  #account(queue: PeerQueue, handedOut: number, withheld: number): void {
    queue.handedOut += handedOut
    queue.withheld += withheld
    if (withheld > 0 && queue.withheld > withheldFree + queue.handedOut / withheldShare) {
      // Third parties can make an honest node drop what it announced: with a deactivate, replacements, or by filling its pool.
      queue.peer.penalise('peer-slow', `${withheld} announced transactions are not there, or are others`)
    }
  }
}

function newQueue(peer: Peer): PeerQueue {
  return { peer, wanted: new Map(), busy: false, placed: false, handedOut: 0, withheld: 0, changed: () => {} }
}

/** Whether a long list has to wait before more of it is queued. */
function crowded({ wanted }: PeerQueue): boolean {
  return wanted.size > announcedByPeer / 2
}

function isLate({ busy, placed }: PeerQueue): boolean {
  return busy && !placed
}

function changeOf(queue: PeerQueue): Promise<void> {
  return new Promise((resolve) => (queue.changed = resolve))
}

/** By digest when known: a copy with other signatures does not collide. */
function keyOf({ txid, digest }: AnnouncedTx): string {
  return digest === undefined ? `parent ${mapKey(txid)}` : mapKey(digest)
}
