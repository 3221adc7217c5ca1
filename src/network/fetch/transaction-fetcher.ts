import { RuleError } from '../../errors/rule-error.js'
import { equalBytes, mapKey } from '../../primitives/bytes.js'
import { type Hash, sha256d } from '../../primitives/hash.js'
import { Yielder } from '../../runtime/cooperative.js'
import type { Log, Timers } from '../../runtime/env.js'
import { LinkError } from '../link.js'
import type { Peer } from '../peers/peer-record.js'
import { transactionsAtOnce, transactionsExchange } from '../wire/transactions-message.js'

/** Announced transactions of one peer that wait to be fetched; what it announces beyond them is not noted. */
export const announcedByPeer = 2048
/** Peers that transactions are fetched from at a time. */
const fetchesAtOnce = 8
/** Milliseconds after which another peer that announced the same is asked as well. */
const fetchPatience = 2_000
/** Transactions that a peer may withhold: an honest one may have dropped what it announced just before it is asked. */
const withheldFree = 16
/** One more may be withheld for as many handed out. */
const withheldShare = 4

/** A transaction to fetch. */
export interface AnnouncedTx {
  readonly txid: Hash
  /** sha256d of its bytes; undefined for one that is only known as what another builds on. */
  readonly digest: Hash | undefined
}

export interface FetcherOptions {
  readonly timers: Timers
  readonly log: Log
  /** Whether nothing is to be fetched now; what was announced is forgotten then. */
  paused(): boolean
  /** Whether there is no use in fetching it, as far as that can be said without looking into the database. */
  isUseless(wanted: AnnouncedTx): boolean
  /** Those that the chain does not have. */
  unmined(wanted: readonly AnnouncedTx[]): Promise<readonly AnnouncedTx[]>
  /** Takes what a peer handed out; the peer is asked for more when it resolves. */
  take(peer: Peer, transactions: readonly Uint8Array[]): Promise<void>
}

interface PeerQueue {
  readonly peer: Peer
  /** What it announced and was not asked for yet, or in vain. */
  readonly wanted: Map<string, AnnouncedTx>
  busy: boolean
  handedOut: number
  withheld: number
  /** Called when there is room in it, or when it is gone. */
  changed: () => void
}

/**
 * Fetches transactions from those who announced them. Each is asked of one peer at a time, of the next when that one has not
 * answered for a while or does not hand it out; each peer is asked one question at a time.
 */
export class TransactionFetcher {
  readonly #options: FetcherOptions
  /** In the order in which they are served next. */
  readonly #queues = new Map<Peer, PeerQueue>()
  /** What is being asked for, with the question it is part of. */
  readonly #asked = new Map<string, symbol>()
  #fetches = 0
  /** What was handed out and is being looked at. */
  readonly #takes = new Set<Promise<void>>()

  constructor(options: FetcherOptions) {
    this.#options = options
  }

  /** Notes what a peer can hand out; false when that is more than is noted for one peer. */
  want(peer: Peer, names: readonly AnnouncedTx[]): boolean {
    const complete = this.#note(peer, names)
    this.#serve()
    return complete
  }

  /**
   * Fetches all of a long list from a peer; resolves when the last of it is noted, or the peer is gone. False where that takes
   * longer than so many milliseconds: the rest is not noted then.
   */
  async wantAll(peer: Peer, names: readonly AnnouncedTx[], budget: number): Promise<boolean> {
    const turns = new Yielder()
    let spent = false
    const cancel = this.#options.timers.after(budget, () => {
      spent = true
      this.#queues.get(peer)?.changed()
    })
    const mustWait = (queue: PeerQueue | undefined): queue is PeerQueue =>
      !spent && queue !== undefined && crowded(queue)
    try {
      for (let start = 0; start < names.length && !peer.closed; start += transactionsAtOnce) {
        if (spent) return false
        this.want(peer, names.slice(start, start + transactionsAtOnce))
        if (turns.over) await turns.next()
        for (let queue = this.#queues.get(peer); mustWait(queue); queue = this.#queues.get(peer)) await changeOf(queue)
      }
      return true
    } finally {
      cancel()
    }
  }

  /** Forgets what a peer announced. */
  drop(peer: Peer): void {
    const queue = this.#queues.get(peer)
    this.#queues.delete(peer)
    queue?.changed()
  }

  /** Resolves when everything that was handed out so far is taken. */
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
      // Whoever was asked stands behind those who wait.
      this.#queues.delete(queue.peer)
      this.#queues.set(queue.peer, queue)
      queue.busy = true
      this.#fetches++
      void this.#fetch(queue, batch).finally(() => {
        this.#fetches--
        queue.busy = false
        if (queue.peer.closed) this.drop(queue.peer)
        this.#serve()
      })
    }
  }

  #clear(): void {
    for (const queue of this.#queues.values()) {
      queue.wanted.clear()
      queue.changed()
    }
  }

  /** What to ask a peer for next; forgets what need not be asked any more. */
  #batchOf(queue: PeerQueue): AnnouncedTx[] {
    const batch: AnnouncedTx[] = []
    for (const [key, wanted] of queue.wanted) {
      if (this.#options.isUseless(wanted)) queue.wanted.delete(key)
      else if (!this.#asked.has(key)) batch.push(wanted)
      if (batch.length === transactionsAtOnce) break
    }
    if (!crowded(queue)) queue.changed()
    return batch
  }

  async #fetch(queue: PeerQueue, batch: readonly AnnouncedTx[]): Promise<void> {
    const question = Symbol()
    const release = () => {
      for (const wanted of batch) {
        const key = keyOf(wanted)
        if (this.#asked.get(key) === question) this.#asked.delete(key)
      }
    }
    for (const wanted of batch) this.#asked.set(keyOf(wanted), question)
    try {
      await this.#ask(queue, batch, () => {
        release()
        this.#serve()
      })
    } catch (error) {
      // Others may have announced the same.
      for (const wanted of batch) queue.wanted.delete(keyOf(wanted))
      if (!(error instanceof LinkError) && !(error instanceof RuleError)) {
        this.#options.log.error({ error: String(error) }, 'transactions could not be fetched')
      }
    } finally {
      release()
    }
  }

  /** Asks for those of a batch that the chain does not have; `late` is called while the answer takes too long. */
  async #ask(queue: PeerQueue, batch: readonly AnnouncedTx[], late: () => void): Promise<void> {
    const { peer, wanted } = queue
    const unmined = await this.#options.unmined(batch)
    const asked = new Set(unmined.map(keyOf))
    for (const key of batch.map(keyOf)) if (!asked.has(key)) wanted.delete(key)
    if (unmined.length === 0) return
    const question = unmined.map(({ txid }) => txid)
    const inTime = this.#options.timers.after(fetchPatience, late)
    const answer = await peer.ask(transactionsExchange, question).finally(inTime)
    if (answer.length > question.length) {
      peer.penalise('peer-message', `${answer.length} transactions where ${question.length} were asked for`)
      throw new RuleError('peer-message')
    }
    // A list that ends early says nothing of the rest; one without any says that of all.
    const told = answer.length === 0 ? unmined : unmined.slice(0, answer.length)
    for (const one of told) wanted.delete(keyOf(one))
    const handedOut = told.flatMap(({ digest }, i) => {
      const bytes = answer[i] ?? new Uint8Array(0)
      return bytes.length > 0 && (digest === undefined || equalBytes(sha256d(bytes), digest))
        ? [{ digest, bytes: Uint8Array.from(bytes) }]
        : []
    })
    const promised = (list: readonly Pick<AnnouncedTx, 'digest'>[]) =>
      list.filter(({ digest }) => digest !== undefined).length
    this.#account(queue, promised(handedOut), promised(told) - promised(handedOut))
    const bytes = handedOut.map((one) => one.bytes)
    const taken = this.#options.take(peer, bytes).finally(() => this.#takes.delete(taken))
    this.#takes.add(taken)
    await taken
  }

  #account(queue: PeerQueue, handedOut: number, withheld: number): void {
    queue.handedOut += handedOut
    queue.withheld += withheld
    if (withheld > 0 && queue.withheld > withheldFree + queue.handedOut / withheldShare) {
      // Third parties can make an honest node drop what it announced: by a deactivate, or by filling its pool.
      queue.peer.penalise('peer-slow', `${withheld} announced transactions are not there, or are others`)
    }
  }
}

function newQueue(peer: Peer): PeerQueue {
  return { peer, wanted: new Map(), busy: false, handedOut: 0, withheld: 0, changed: () => {} }
}

/** Whether a long list has to wait before more of it is noted. */
function crowded({ wanted }: PeerQueue): boolean {
  return wanted.size > announcedByPeer / 2
}

function changeOf(queue: PeerQueue): Promise<void> {
  return new Promise((resolve) => (queue.changed = resolve))
}

/** By digest where it is known: a copy with other signatures stands in nobody's way. */
function keyOf({ txid, digest }: AnnouncedTx): string {
  return digest === undefined ? `parent ${mapKey(txid)}` : mapKey(digest)
}
