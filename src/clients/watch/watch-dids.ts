/**
 * Tells when DIDs change, by proofs alone: nodes say that something happened, and a light resolver proves what.
 *
 *   WebSocket of a node -> followEvents: `documents` of the DIDs or the condition      a hint, which is not believed
 *  tell-changes -> provedState: all operations of the DID          repeated until a block at least as high as that of the hint is proved
 *     -> messageOf, revertOf -> the reader -> save        a message is told again after a crash, with the same id
 *   now and then all DIDs of a list are proved without a hint: that finds what a node withholds
 *
 * Imports errors, primitives, runtime, did, did-query, light, wallet, client; used by cli, index.
 * - A hint that no proof bears out is told to `onNotice`, and never as a message.
 * - A condition is followed by hints alone: a node that withholds one is not found out. Of lists no proof says that they are whole.
 */
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { compileCondition, type Matcher } from '../../identity/did-query/compile.js'
import { longestTimer, requireWhole } from '../client/arguments.js'
import type { FollowedEvent } from '../client/event-place.js'
import { followEvents } from '../client/follow-events.js'
import { Attempts, isFork, longestPause } from './attempts.js'
import { Telling } from './tell-changes.js'
import type { WatchMessage } from './watch-message.js'
import type { WatchNotice, WatchOptions } from './watch-options.js'

/** @tuning ms: time between two proofs of each watched DID without any hint */
const checkEveryUnasked = 600_000
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
  readonly #attempts: Attempts
  readonly #matcher: Matcher | undefined
  #url = 0
  /** Nodes that refused the question since one of them gave events for some time, and how often one refused or failed. */
  readonly #refusing = new Set<string>()
  #losses = 0

  constructor(options: WatchOptions) {
    this.#options = options
    const { query } = options
    this.#matcher = query === undefined ? undefined : compileCondition(query)
    this.#attempts = new Attempts(options.signal, ({ message }) =>
      this.#notice('waiting', `nothing is told until it is proved: ${message}`),
    )
  }

  async *messages(): AsyncGenerator<WatchMessage, void, undefined> {
    const telling = await Telling.begin(this.#options, this.#attempts, this.#matcher)
    while (!this.#attempts.isOver) {
      const began = performance.now()
      try {
        yield* this.#follow(telling)
      } catch (error) {
        if (this.#attempts.isOver) return
        if (isFork(error)) throw error
        if (error instanceof RuleError && gone.includes(error.code)) yield* telling.gap(error)
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

  /** Follows the events of one node until it is lost. */
  async *#follow(telling: Telling): AsyncGenerator<WatchMessage, void, undefined> {
    const { urls, dids, query, signal, checkEvery = checkEveryUnasked } = this.#options
    const url = this.#urlNow
    const inner = new AbortController()
    const stop = () => inner.abort()
    signal?.addEventListener('abort', stop, { once: true })
    let begun: (() => void) | undefined
    const beginning = new Promise<void>((resolve) => (begun = resolve))
    const events = followEvents({
      ...{ url, from: telling.from, signal: inner.signal },
      topics: ['block', 'documents'],
      documents:
        query === undefined
          ? { dids: dids ?? [] }
          : { query: typeof query === 'string' ? query : JSON.stringify(query) },
      onBegin: (start) => {
        this.#attempts.succeeded()
        telling.eventsBegin(start)
        this.#notice('following', `events come from ${url}, from height ${start.height} on`)
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
      await telling.save()
      for (let due = 0; ;) {
        if (dids !== undefined && performance.now() >= due) {
          yield* telling.checkAll()
          due = performance.now() + checkEvery
        }
        if (telling.isOwing) yield* telling.proveHinted()
        const wait = telling.isOwing ? Math.min(due, performance.now() + telling.nextLook()) : due
        const event = await within(next, dids === undefined ? undefined : wait - performance.now())
        if (event === undefined) continue
        if (event.done === true) return
        yield* telling.take(event.value)
        next = nextOf(events)
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      inner.abort()
      await events.return()
    }
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

/** The value of a promise if it comes within so many milliseconds. */
async function within<T>(promise: Promise<T>, milliseconds: number | undefined): Promise<T | undefined> {
  if (milliseconds === undefined) return promise
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<undefined>(
    (resolve) => (timer = setTimeout(() => resolve(undefined), Math.max(0, milliseconds))),
  )
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}
