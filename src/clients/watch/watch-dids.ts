/**
 * Tells when DIDs change, by proofs alone: nodes say that something happened, and a light resolver proves what.
 *
 *   WebSocket of a node -> followEvents: `documents` of the DIDs or the condition      a hint, which is not believed
 *     -> provedState: all operations of the DID          repeated until a block at least as high as that of the hint is proved
 *     -> messageOf, revertOf -> the reader -> save        a message is told again after a crash, with the same id
 *   now and then all DIDs of a list are proved without a hint: that finds what a node withholds
 *
 * Imports errors, primitives, runtime, did, did-query, light, wallet, client; used by cli, index.
 * - A hint that no proof bears out is told to `onNotice`, and never as a message.
 * - A condition is followed by hints alone: a node that withholds one is not found out. Of lists no proof says that they are whole.
 */
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type {
  BlockChanged,
  DocumentChangeKind,
  DocumentsChanged,
  DocumentsUntold,
} from '../../base/primitives/chain-event.js'
import { defined } from '../../base/primitives/defined.js'
import { compileCondition, type Matcher } from '../../identity/did-query/compile.js'
import { longestTimer, requireWhole } from '../client/arguments.js'
import type { EventsFrom, FollowedEvent } from '../client/event-place.js'
import { followEvents } from '../client/follow-events.js'
import type { LightError } from '../light/light-error.js'
import type { ProvedEntry } from '../light/proved-answer.js'
import { Attempts, isFork, longestPause, pauseBefore } from './attempts.js'
import {
  isLasting,
  messageOf,
  type Meets,
  provedState,
  type ProvedState,
  type ProvingResolver,
  revertOf,
} from './proved-changes.js'
import { type DidMessage, gapMessage, gapOf, type WatchMessage } from './watch-message.js'
import {
  emptyState,
  lastMessages,
  lastOperations,
  readState,
  stateText,
  type ToldOperation,
  type WatchState,
} from './watch-state.js'

/** Something about the watch, for its operator. */
export interface WatchNotice {
  readonly kind:
    /** Proofs do not bear out what a node said. */
    | 'unproved-hint'
    /** Nothing can be proved now: what happens meanwhile is told later. */
    | 'waiting'
    /** A connection to a node ended. */
    | 'lost'
    /** Events come. */
    | 'following'
    /** A node said nothing of a change that is proved. */
    | 'withheld'
  readonly text: string
}

export interface WatchOptions {
  /** Addresses of the WebSocket interface of nodes; the next one is taken where one is lost. */
  readonly urls: readonly string[]
  /** Light resolver over nodes or mirrors; what is told is what it proves. */
  readonly resolver: ProvingResolver
  /** DIDs in full; exactly one of `dids` and `query`. */
  readonly dids?: readonly string[]
  /** A condition of a search. */
  readonly query?: string | object
  /** Hash of the genesis block, as it is shown: a state of another chain is refused then. */
  readonly chain?: string
  /** Milliseconds between two proofs of each DID without any hint; 600 000 by default. */
  readonly checkEvery?: number
  /** Reads the state that `save` took last; without one the watch begins with what is so now. */
  readonly load?: () => string | undefined | Promise<string | undefined>
  /** Keeps the state; called after a message was taken, before the next one is told. */
  readonly save?: (state: string) => void | Promise<void>
  readonly signal?: AbortSignal
  onNotice?(notice: WatchNotice): void
}

/** @tuning ms: time between two proofs of each watched DID without any hint */
const checkEveryUnasked = 600_000
/** @tuning count: hints that no proof bears out, of which it is not known whether their block was taken back */
const mostDoubtful = 1024
/**
 * A reorganisation is as deep.
 * @tuning count: blocks by which a hint may be ahead of what is proved, to be waited for
 */
const farthestHint = 288
/** Refusals after which events cannot go on where they were. */
const gone = ['event-gone', 'unknown-block', 'pruned']
/** Refusals that say nothing of the question: the node has no time, or a fault. */
const passing = ['busy', 'overloaded', 'internal']

/** Messages about DIDs or the documents that meet a condition, each proved, for as long as they are read. */
export function watchDids(options: WatchOptions): AsyncGenerator<WatchMessage, void, undefined> {
  const { dids, query, urls, checkEvery } = options
  if (checkEvery !== undefined) requireWhole('checkEvery', checkEvery, [1, longestTimer])
  if (!Array.isArray(urls) || urls.length === 0) throw new UserError('urls: a list of one address or more is needed')
  if ((dids === undefined) === (query === undefined))
    throw new UserError('watchDids: exactly one of dids and query is needed')
  return new Watch(options).messages()
}

class Watch {
  readonly #options: WatchOptions
  #state: WatchState = emptyState()
  readonly #meets: Meets
  readonly #attempts: Attempts
  /** Hints that no proof bore out so far; a block that is taken back explains one. */
  readonly #doubtful = new Map<string, DocumentsChanged>()
  #url = 0
  /** Nodes that refused the question since one of them gave events for some time, and how often one refused or failed. */
  readonly #refusing = new Set<string>()
  #losses = 0
  /** The last hint at each DID of a list that is to be proved. */
  readonly #hinted = new Map<string, DocumentsChanged>()
  /** Times that the resolver had forgotten the chain when a DID was looked at last. */
  readonly #forgotten = new Map<string, number>()
  /** Looks at these since the last hint. */
  #looks = 0
  /** Height of the last block whose events came. */
  #followed = -1
  /** Height after which events came first in this run, as a node said it: counts where nothing could be proved then. */
  #began: number | undefined
  /** Whether a proof failed in this run: the first state of a DID may be later than the start. */
  #late = false

  constructor(options: WatchOptions) {
    this.#options = options
    const { query, signal } = options
    this.#attempts = new Attempts(signal, ({ message }) =>
      this.#notice('waiting', `nothing is told until it is proved: ${message}`),
    )
    const matcher = query === undefined ? undefined : compileCondition(query)
    this.#meets = (document) => matcher === undefined || this.#matches(matcher, document)
  }

  async *messages(): AsyncGenerator<WatchMessage, void, undefined> {
    const { load, dids, chain } = this.#options
    const kept = await load?.()
    this.#state = kept === undefined ? { ...emptyState(), ...defined({ chain }) } : readState(kept, chain)
    // One that is watched no longer begins anew when it is watched again.
    for (const did of this.#state.dids.keys()) if (dids?.includes(did) !== true) this.#state.dids.delete(did)
    while (!this.#attempts.isOver) {
      const began = performance.now()
      try {
        yield* this.#follow()
      } catch (error) {
        if (this.#attempts.isOver) return
        if (isFork(error)) throw error
        if (error instanceof RuleError && gone.includes(error.code)) yield* this.#gap(error)
        else await this.#waitForEvents(error as Error, performance.now() - began)
      }
      this.#url++
    }
  }

  /**
   * Waits before events are asked for again. Throws the refusal where every node refuses the question: one alone may be at fault, or lie.
   * A node that begins and fails at once makes the waits longer as well. `lasted`: milliseconds for which it gave events.
   */
  async #waitForEvents(error: Error, lasted: number): Promise<void> {
    const { urls } = this.#options
    if (lasted > longestPause) {
      this.#losses = 0
      this.#refusing.clear()
    }
    const url = this.#urlNow
    if (error instanceof RuleError && !passing.includes(error.code)) this.#refusing.add(url)
    if (urls.every((one) => this.#refusing.has(one))) throw error
    this.#notice('lost', `${url}: ${error.message}`)
    await this.#attempts.wait(error, this.#losses++)
  }

  get #urlNow(): string {
    const { urls } = this.#options
    return urls[this.#url % urls.length] as string
  }

  /** A document that is too much work for the condition does not keep the others waiting. */
  #matches(matcher: Matcher, document: Readonly<Record<string, unknown>>): boolean {
    try {
      return matcher.matches(document)
    } catch (error) {
      this.#notice(
        'unproved-hint',
        `a document counts as one that does not meet the condition: ${(error as Error).message}`,
      )
      return false
    }
  }

  /** Follows the events of one node until it is lost. */
  async *#follow(): AsyncGenerator<WatchMessage, void, undefined> {
    const { urls, dids, query, signal, checkEvery = checkEveryUnasked } = this.#options
    const url = this.#urlNow
    const inner = new AbortController()
    const stop = () => inner.abort()
    signal?.addEventListener('abort', stop, { once: true })
    // A list of DIDs needs no start: its state says what was told.
    const from: EventsFrom =
      query === undefined || this.#state.after === undefined ? {} : { afterBlock: this.#state.after }
    let begun: (() => void) | undefined
    const beginning = new Promise<void>((resolve) => (begun = resolve))
    const events = followEvents({
      ...{ url, from, signal: inner.signal },
      topics: ['block', 'documents'],
      documents:
        query === undefined
          ? { dids: dids ?? [] }
          : { query: typeof query === 'string' ? query : JSON.stringify(query) },
      onBegin: ({ height, hash }) => {
        this.#attempts.succeeded()
        this.#state.after ??= hash
        this.#began ??= height
        this.#notice('following', `events come from ${url}, from height ${height} on`)
        begun?.()
      },
      onLost: (error) => {
        this.#notice('lost', error.message)
        // With another node the watch goes on there.
        if (urls.length > 1) inner.abort()
      },
    })
    try {
      let next = nextOf(events)
      // What happens from here on is hinted at; what happened before is proved now.
      await Promise.race([beginning, next])
      await this.#save()
      for (let due = 0; ;) {
        if (dids !== undefined && performance.now() >= due) {
          yield* this.#checkAll()
          due = performance.now() + checkEvery
        }
        if (this.#hinted.size > 0) yield* this.#proveHinted()
        const wait = this.#hinted.size > 0 ? Math.min(due, performance.now() + this.#nextLook()) : due
        const event = await within(next, dids === undefined ? undefined : wait - performance.now())
        if (event === undefined) continue
        if (event.done === true) return
        yield* this.#take(event.value)
        next = nextOf(events)
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      inner.abort()
      await events.return()
    }
  }

  async *#take(event: FollowedEvent): AsyncGenerator<WatchMessage, void, undefined> {
    if (event.topic === 'block') await this.#takeBlock(event)
    else if (event.topic !== 'documents') return
    else if (event.change === 'untold') yield* this.#untold(event)
    else if (event.action === 'revert') yield* this.#takeBack(event)
    else yield* this.#takeHint(event)
  }

  /** All of a block was told. */
  async #takeBlock({ action, height, hash, previousblockhash }: BlockChanged): Promise<void> {
    this.#state.after = action === 'apply' ? hash : previousblockhash
    this.#followed = action === 'apply' ? height : height - 1
    for (const [key, hint] of this.#doubtful) {
      if (action !== 'apply' || hint.height >= height) continue
      this.#doubtful.delete(key)
      this.#notice(
        'unproved-hint',
        `a node said that ${hint.operation} ${hint.txid} changed ${hint.did} at height ${hint.height}: the proofs show no such operation`,
      )
    }
    // The state of a list of DIDs is saved as they change.
    if (this.#options.query !== undefined) await this.#save()
  }

  async *#takeHint(hint: DocumentsChanged): AsyncGenerator<WatchMessage, void, undefined> {
    const { dids } = this.#options
    if (dids !== undefined) {
      // It is proved together with others, and does not keep these waiting.
      if (dids.includes(hint.did)) this.#hinted.set(hint.did, hint)
      this.#looks = 0
      return
    }
    const state = await this.#proved(hint.did, hint.height)
    if (isLasting(state)) yield gapOf(hint, state)
    if (state === undefined || isLasting(state)) return
    const at = this.#placeOf(hint, state)
    if (at >= 0) yield* this.#tellBlock(state, hint, at)
  }

  /** Proves the DIDs of a list of which a node said something. Those that no block is proved for yet stay for the next look. */
  async *#proveHinted(): AsyncGenerator<WatchMessage, void, undefined> {
    for (const [did, hint] of [...this.#hinted]) {
      const state = await this.#proved(did, 0)
      if (state === undefined) return
      // The hint stays, and is looked at again: the others do not wait for it.
      if (isLasting(state)) continue
      yield* this.#tellNew(state)
      if (state.result.proved.height < hint.height && hint.height <= state.result.proved.height + farthestHint) continue
      if (this.#hinted.get(did) === hint) this.#hinted.delete(did)
      this.#placeOf(hint, state)
    }
  }

  /** Milliseconds until the DIDs that are hinted at are proved again. */
  #nextLook(): number {
    return pauseBefore(this.#looks++)
  }

  /** Position of the operation of a hint in the history that is proved; -1, and noted, where it is not there. */
  #placeOf(hint: DocumentsChanged, { entries }: ProvedState): number {
    const at = entries.findIndex(({ txid, height }) => txid === hint.txid && height === hint.height)
    if (at < 0 && this.#doubtful.size < mostDoubtful) this.#doubtful.set(`${hint.blockhash} ${hint.txid}`, hint)
    return at
  }

  /** Operations of the DID in the block of a hint, which names the last of them, that make it meet a condition or cease to. */
  async *#tellBlock(
    state: ProvedState,
    hint: DocumentsChanged,
    last: number,
  ): AsyncGenerator<WatchMessage, void, undefined> {
    let told = false
    for (let at = state.entries.findIndex(({ height }) => height === hint.height); at <= last; at++) {
      const message = await this.#attempts.untilProved(() => this.#messageOf(state, at))
      if (this.#attempts.isOver) return
      if (message === undefined) continue
      told = true
      if (isLasting(message)) {
        yield gapOf({ did: state.did, ...(state.entries[at] as ProvedEntry) }, message)
        continue
      }
      yield message
      this.#state.told = lastMessages([...this.#state.told, message])
    }
    if (!told)
      this.#notice(
        'unproved-hint',
        `a node said that ${hint.did} ${hint.change} at height ${hint.height}: its documents do not meet the condition`,
      )
  }

  /** A node says that a block was taken back. */
  async *#takeBack(hint: DocumentsChanged): AsyncGenerator<WatchMessage, void, undefined> {
    this.#doubtful.delete(`${hint.blockhash} ${hint.txid}`)
    const state = await this.#proved(hint.did, 0)
    if (isLasting(state)) yield gapOf(hint, state)
    if (state === undefined || isLasting(state)) return
    if (this.#options.dids !== undefined) yield* this.#tellNew(state, true)
    else yield* this.#tellGone(state)
  }

  /** Tells which messages of a condition hold no longer. */
  async *#tellGone(state: ProvedState): AsyncGenerator<WatchMessage, void, undefined> {
    for (const told of this.#state.told.filter(({ did }) => did === state.did).reverse()) {
      if (isThere(state, told)) continue
      yield revertOf(told, state, this.#state.reverts)
      this.#state.reverts++
      this.#state.told = this.#state.told.filter((one) => one !== told)
    }
  }

  /** Proves all DIDs of a list, and tells what their state does not have yet. */
  async *#checkAll(): AsyncGenerator<WatchMessage, void, undefined> {
    for (const did of this.#options.dids ?? []) {
      const state = await this.#proved(did, 0)
      if (state === undefined) return
      // The other DIDs do not wait for one that no answer proves; the next round asks for it again.
      if (isLasting(state)) {
        this.#notice('waiting', `nothing is told of ${did} until it is proved: ${state.message}`)
        continue
      }
      this.#noteWithheld(state)
      yield* this.#tellNew(state)
    }
  }

  get #timesForgotten(): number {
    return this.#options.resolver.timesForgotten ?? 0
  }

  /** Whether the resolver forgot the chain since a DID was looked at last. */
  #isOtherChain(did: string): boolean {
    return (this.#forgotten.get(did) ?? 0) !== this.#timesForgotten
  }

  /** Tells the operator of operations in blocks of which the node told all but these. */
  #noteWithheld({ did, entries }: ProvedState): void {
    const last = this.#state.dids.get(did)?.at(-1)
    const newest = entries.at(-1)
    if (newest === undefined || last === undefined || newest.txid === last.txid || newest.height > this.#followed)
      return
    if (this.#isOtherChain(did)) return
    this.#notice('withheld', `the node said nothing of ${newest.txid}, which changed ${did} at height ${newest.height}`)
  }

  /** Operations of a DID that were told. Of the first state of a DID, those that were there when the watch began are only noted. */
  async #knownOf({ did, entries }: ProvedState): Promise<readonly ToldOperation[]> {
    const known = this.#state.dids.get(did)
    if (known !== undefined) return known
    const began = this.#late ? (this.#began ?? Infinity) : Infinity
    const before = entries.filter(({ height }) => height <= began)
    await this.#keep(did, before)
    return before
  }

  /** Tells operations of a DID that were not told yet, and which of those told are gone. */
  async *#tellNew(state: ProvedState, wentBack = false): AsyncGenerator<WatchMessage, void, undefined> {
    const { did, entries } = state
    const isOther = this.#isOtherChain(did)
    this.#forgotten.set(did, this.#timesForgotten)
    const known = await this.#knownOf(state)
    // A node that is behind proves a state of before: only the word that a block was taken back explains one, or another chain.
    const highest = known.at(-1)?.height ?? 0
    if (state.result.proved.height < highest && !wentBack && !isOther) return
    const kept = known.filter((one) => isThere(state, one))
    for (const gone of known.filter((one) => !kept.includes(one)).reverse()) {
      const { txid, height, operation, change } = gone
      // One from before the watch was never told.
      if (operation !== undefined) {
        const told = { did, operation, txid, height, change: change as DocumentChangeKind }
        yield revertOf(told, state, this.#state.reverts)
        this.#state.reverts++
      }
      await this.#keep(did, known.slice(0, known.indexOf(gone)))
    }
    let told = [...kept]
    const last = kept.at(-1)
    const first = last === undefined ? 0 : entries.findIndex(({ txid }) => txid === last.txid) + 1
    for (let at = first; at < entries.length; at++) {
      const message = await this.#attempts.untilProved(() => this.#messageOf(state, at))
      if (this.#attempts.isOver) return
      const { txid, height } = entries[at] as ProvedEntry
      if (isLasting(message)) {
        yield gapOf({ did, txid, height }, message)
        told = [...told, { txid, height }]
      } else {
        if (message !== undefined) yield message
        told = [...told, { txid, height, ...(message && { operation: message.operation, change: message.change }) }]
      }
      await this.#keep(did, told)
    }
  }

  #messageOf(state: ProvedState, at: number): Promise<DidMessage | undefined> {
    const { resolver, query } = this.#options
    const needsBefore = query !== undefined
    return messageOf(resolver, state, at, { meets: this.#meets, reverts: this.#state.reverts, needsBefore })
  }

  async #keep(did: string, entries: readonly ToldOperation[]): Promise<void> {
    this.#state.dids.set(did, lastOperations(entries))
    await this.#save()
  }

  async *#untold({ height, blockhash, code }: DocumentsUntold): AsyncGenerator<WatchMessage, void, undefined> {
    yield gapMessage(code, `the node did not work out what block ${blockhash} at height ${height} changed`, blockhash)
  }

  /** Events cannot go on: says so, and begins with what is so now. */
  async *#gap(error: RuleError): AsyncGenerator<WatchMessage, void, undefined> {
    const after = this.#state.after ?? ''
    // A list of DIDs is proved as a whole: nothing of it is lost.
    if (this.#options.query !== undefined) yield gapMessage(error.code, error.message, after)
    delete this.#state.after
    await this.#save()
  }

  async #save(): Promise<void> {
    await this.#options.save?.(stateText(this.#state))
  }

  /** The state of a DID as of a block at this height or above it; undefined once the watch is over, and the failure where that lasts. */
  async #proved(did: string, height: number): Promise<ProvedState | LightError | undefined> {
    return this.#attempts.untilProved(async () => {
      const state = await provedState(this.#options.resolver, did).catch((error: unknown) => {
        this.#late = true
        throw error
      })
      const { proved } = state.result
      // No honest node is so far ahead of what is proved: a lie would have the watch wait for ever.
      if (proved.height >= height || height > proved.height + farthestHint) return state
      throw new UserError(`proved is height ${proved.height}, ${proved.age} s old, and ${height} is needed`)
    })
  }

  #notice(kind: WatchNotice['kind'], text: string): void {
    this.#options.onNotice?.({ kind, text })
  }
}

/** The next event; a failure waits for the one who reads it. */
function nextOf(events: AsyncGenerator<FollowedEvent, void, undefined>) {
  const next = events.next()
  next.catch(() => {})
  return next
}

function isThere({ entries }: ProvedState, told: ToldOperation): boolean {
  return entries.some(({ txid, height }) => txid === told.txid && height === told.height)
}

/** The value of a promise if it comes within so many milliseconds. */
async function within<T>(promise: Promise<T>, milliseconds: number | undefined): Promise<T | undefined> {
  if (milliseconds === undefined) return promise
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<undefined>(
    (resolve) => (timer = setTimeout(() => resolve(undefined), Math.max(0, milliseconds))),
  )
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}
