import { type RuleError, UserError } from '../../base/errors/rule-error.js'
import type {
  BlockChanged,
  DocumentChangeKind,
  DocumentsChanged,
  DocumentsUntold,
} from '../../base/primitives/chain-event.js'
import { defined } from '../../base/primitives/defined.js'
import type { Matcher } from '../../identity/did-query/compile.js'
import type { EventsFrom, FollowedEvent } from '../client/event-place.js'
import type { LightError } from '../light/light-error.js'
import type { ProvedEntry } from '../light/proved-answer.js'
import { type Attempts, pauseBefore } from './attempts.js'
import { isLasting, messageOf, type Meets, provedState, type ProvedState, revertOf } from './proved-changes.js'
import { type DidMessage, gapMessage, gapOf, type WatchMessage } from './watch-message.js'
import type { WatchNotice, WatchOptions } from './watch-options.js'
import {
  emptyState,
  lastMessages,
  lastOperations,
  readState,
  stateText,
  type ToldOperation,
  type WatchState,
} from './watch-state.js'

/** @tuning count: hints that no proof bears out, of which it is not known whether their block was taken back */
const mostDoubtful = 1024
/**
 * A reorganisation is as deep.
 * @tuning count: blocks by which a hint may be ahead of what is proved, to be waited for
 */
const farthestHint = 288

/** Makes messages of the events of nodes: proves what an event hints at, tells what is new of it, and keeps what was told. */
export class Telling {
  readonly #options: WatchOptions
  readonly #attempts: Attempts
  readonly #state: WatchState
  readonly #meets: Meets
  /** Hints that no proof bore out so far; a block that is taken back explains one. */
  readonly #doubtful = new Map<string, DocumentsChanged>()
  /** The last hint at each DID of a list that is to be proved. */
  readonly #hinted = new Map<string, DocumentsChanged>()
  /** Times that the resolver had forgotten the chain when a DID was looked at last. */
  readonly #forgotten = new Map<string, number>()
  /** Looks at DIDs that were hinted at, since the last hint. */
  #looks = 0
  /** Height of the last block whose events came. */
  #followed = -1
  /** Height after which events came first in this run, as a node said it: counts where nothing could be proved then. */
  #began: number | undefined
  /** Whether a proof failed in this run: the first state of a DID may be later than the start. */
  #late = false

  private constructor(options: WatchOptions, attempts: Attempts, matcher: Matcher | undefined, state: WatchState) {
    this.#options = options
    this.#attempts = attempts
    this.#state = state
    this.#meets = (document) => matcher === undefined || this.#matches(matcher, document)
  }

  /**
   * Begins with the state that was kept; one of another chain, or a text that is no state, is a UserError. `matcher`: that of the
   * condition.
   */
  static async begin(options: WatchOptions, attempts: Attempts, matcher: Matcher | undefined): Promise<Telling> {
    const { load, dids, chain } = options
    const kept = await load?.()
    const state = kept === undefined ? { ...emptyState(), ...defined({ chain }) } : readState(kept, chain)
    // One that is watched no longer begins anew when it is watched again.
    for (const did of state.dids.keys()) if (dids?.includes(did) !== true) state.dids.delete(did)
    return new Telling(options, attempts, matcher, state)
  }

  /** The block after which events are asked for. A list of DIDs needs no start: its state says what was told. */
  get from(): EventsFrom {
    const { after } = this.#state
    return this.#options.query === undefined || after === undefined ? {} : { afterBlock: after }
  }

  /** Whether DIDs were hinted at whose proofs are owed. */
  get isOwing(): boolean {
    return this.#hinted.size > 0
  }

  /** Notes the block after which the events of a node begin. */
  eventsBegin({ height, hash }: { readonly height: number; readonly hash: string }): void {
    this.#state.after ??= hash
    this.#began ??= height
  }

  async *take(event: FollowedEvent): AsyncGenerator<WatchMessage, void, undefined> {
    if (event.topic === 'block') await this.#takeBlock(event)
    else if (event.topic !== 'documents') return
    else if (event.change === 'untold') yield* this.#untold(event)
    else if (event.action === 'revert') yield* this.#takeBack(event)
    else yield* this.#takeHint(event)
  }

  /** Proves the DIDs of a list of which a node said something. Those that no block is proved for yet stay for the next look. */
  async *proveHinted(): AsyncGenerator<WatchMessage, void, undefined> {
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
  nextLook(): number {
    return pauseBefore(this.#looks++)
  }

  /** Proves all DIDs of a list, and tells what their state does not have yet. */
  async *checkAll(): AsyncGenerator<WatchMessage, void, undefined> {
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

  /** Events cannot go on: says so, and begins with what is so now. */
  async *gap(error: RuleError): AsyncGenerator<WatchMessage, void, undefined> {
    const after = this.#state.after ?? ''
    // A list of DIDs is proved as a whole: nothing of it is lost.
    if (this.#options.query !== undefined) yield gapMessage(error.code, error.message, after)
    delete this.#state.after
    await this.save()
  }

  /** Keeps what was told so far. */
  async save(): Promise<void> {
    await this.#options.save?.(stateText(this.#state))
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
    if (this.#options.query !== undefined) await this.save()
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
    await this.save()
  }

  async *#untold({ height, blockhash, code }: DocumentsUntold): AsyncGenerator<WatchMessage, void, undefined> {
    yield gapMessage(code, `the node did not work out what block ${blockhash} at height ${height} changed`, blockhash)
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

function isThere({ entries }: ProvedState, told: ToldOperation): boolean {
  return entries.some(({ txid, height }) => txid === told.txid && height === told.height)
}
