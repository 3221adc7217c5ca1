import { RuleError } from '../../base/errors/rule-error.js'
import { canonicalJson } from '../../base/primitives/strict-json.js'
import type { Cover } from '../../identity/did-index/plan-cover.js'
import { coverOf } from '../../identity/did-index/plan-cover.js'
import { planSearch } from '../../identity/did-index/plan-condition.js'
import type { Token } from '../../identity/did-index/token.js'
import type { Matcher } from '../../identity/did-query/compile.js'

/** Bounds of the conditions that subscriptions follow. */
export const conditionBounds = {
  /** @limit count: subscriptions to documents of a node */
  subscriptions: 16_384,
  /** @limit bytes: conditions of all subscriptions to documents, equal ones once, and their DIDs at 128 bytes each */
  bytes: 8 * 1024 * 1024,
  /** @limit count: subscriptions to documents whose condition no index narrows: each is held against every changed document */
  open: 64,
  /** @limit count: the same, of one client address */
  openOfShare: 8,
  /** @limit count: DIDs of one subscription to documents */
  dids: 1000,
}
export type ConditionBounds = Readonly<typeof conditionBounds>

/** Memory of one DID in a list, about. */
const didBytes = 128

/** Documents to tell of: those that meet a condition, or those of some DIDs. */
export type DocumentCondition =
  | { readonly kind: 'query'; readonly matcher: Matcher; readonly cover: Cover | undefined; readonly text: string }
  | { readonly kind: 'dids'; readonly dids: ReadonlySet<string>; readonly text: string }

/** The condition of a search. */
export function queryCondition(matcher: Matcher): DocumentCondition {
  const { condition } = matcher
  return { kind: 'query', matcher, cover: coverOf(planSearch(condition)), text: canonicalJson(condition) }
}

/** The condition that is met by the documents of DIDs in full. */
export function didsCondition(dids: readonly string[]): DocumentCondition {
  const { dids: most } = conditionBounds
  if (dids.length > most) {
    throw new RuleError(
      'overloaded',
      `${dids.length} DIDs in one subscription; at most ${most}: use more subscriptions`,
    )
  }
  const distinct = new Set(dids)
  return { kind: 'dids', dids: distinct, text: JSON.stringify([...distinct].sort()) }
}

/** A condition with those who follow it; one for all who follow the same. */
export interface FollowedCondition {
  /** Rises from condition to condition. */
  readonly id: number
  readonly condition: DocumentCondition
  /** Subscriptions by client address. */
  readonly shares: Map<string, number>
}

/** The conditions that are followed, found by what a changed document has. */
export class DocumentConditions {
  readonly #bounds: ConditionBounds
  readonly #byText = new Map<string, FollowedCondition>()
  readonly #byToken = new Map<Token, Set<FollowedCondition>>()
  readonly #byDid = new Map<string, Set<FollowedCondition>>()
  readonly #open = new Set<FollowedCondition>()
  readonly #openOf = new Map<string, number>()
  #last = 0
  #subscriptions = 0
  #openSubscriptions = 0
  #queries = 0
  #bytes = 0

  constructor(bounds: Partial<ConditionBounds> = {}) {
    this.#bounds = { ...conditionBounds, ...bounds }
  }

  /** Number of subscriptions. */
  get size(): number {
    return this.#subscriptions
  }

  /** The greatest id so far. */
  get last(): number {
    return this.#last
  }

  /** Whether any of them reads documents. */
  get reads(): boolean {
    return this.#queries > 0
  }

  /** Follows a condition for a client address; `overloaded` where the node follows too much. */
  add(condition: DocumentCondition, share: string): FollowedCondition {
    this.#requireRoom(condition, share)
    const followed = this.#byText.get(condition.text) ?? this.#insert(condition)
    this.#count(followed, share, 1)
    return followed
  }

  /** Ends what {@link add} began. */
  remove(followed: FollowedCondition, share: string): void {
    this.#count(followed, share, -1)
    if (followed.shares.size === 0) this.#drop(followed)
  }

  /** Conditions that are followed for what they find of a DID, before anything is read. */
  *ofDid(did: string): Iterable<FollowedCondition> {
    for (const one of this.#byDid.get(did) ?? []) if (one.condition.kind === 'dids') yield one
  }

  /** Adds the queries that a document of a DID with these tokens may meet. */
  addQueries(found: Set<FollowedCondition>, did: string, tokens: Iterable<Token>): void {
    for (const one of this.#open) found.add(one)
    for (const one of this.#byDid.get(did) ?? []) if (one.condition.kind === 'query') found.add(one)
    for (const token of tokens) for (const one of this.#byToken.get(token) ?? []) found.add(one)
  }

  #requireRoom(condition: DocumentCondition, share: string): void {
    const { subscriptions, bytes, open, openOfShare } = this.#bounds
    if (this.#subscriptions >= subscriptions) throw overloaded(`${subscriptions} subscriptions to documents`)
    if (!this.#byText.has(condition.text) && this.#bytes + bytesOf(condition) > bytes) {
      throw overloaded(`conditions of ${bytes} bytes`)
    }
    if (!isOpen(condition)) return
    const narrow = 'add a part that the index answers (docs/query.md)'
    if ((this.#openOf.get(share) ?? 0) >= openOfShare) {
      throw overloaded(`${openOfShare} conditions of this address that no index narrows`, narrow)
    }
    if (this.#openSubscriptions >= open) throw overloaded(`${open} conditions that no index narrows`, narrow)
  }

  #insert(condition: DocumentCondition): FollowedCondition {
    const followed = { id: ++this.#last, condition, shares: new Map<string, number>() }
    this.#byText.set(condition.text, followed)
    this.#bytes += bytesOf(condition)
    if (condition.kind === 'query') this.#queries++
    if (isOpen(condition)) this.#open.add(followed)
    const { dids, tokens } = keysOf(condition)
    for (const did of dids) put(this.#byDid, did, followed)
    for (const token of tokens) put(this.#byToken, token, followed)
    return followed
  }

  #drop(followed: FollowedCondition): void {
    const { condition } = followed
    this.#byText.delete(condition.text)
    this.#bytes -= bytesOf(condition)
    if (condition.kind === 'query') this.#queries--
    this.#open.delete(followed)
    const { dids, tokens } = keysOf(condition)
    for (const did of dids) take(this.#byDid, did, followed)
    for (const token of tokens) take(this.#byToken, token, followed)
  }

  #count({ shares, condition }: FollowedCondition, share: string, by: number): void {
    this.#subscriptions += by
    add(shares, share, by)
    if (!isOpen(condition)) return
    this.#openSubscriptions += by
    add(this.#openOf, share, by)
  }
}

/** Whether any document may meet a condition: no index narrows it. */
export function isOpen(condition: DocumentCondition): boolean {
  return condition.kind === 'query' && condition.cover === undefined
}

function bytesOf(condition: DocumentCondition): number {
  return condition.kind === 'query' ? Buffer.byteLength(condition.text) : condition.dids.size * didBytes
}

const nothing: Cover = { tokens: new Set(), dids: new Set() }

function keysOf(condition: DocumentCondition): Cover {
  return condition.kind === 'dids' ? { ...nothing, dids: condition.dids } : (condition.cover ?? nothing)
}

function put<K>(index: Map<K, Set<FollowedCondition>>, key: K, followed: FollowedCondition): void {
  const there = index.get(key)
  if (there === undefined) index.set(key, new Set([followed]))
  else there.add(followed)
}

function take<K>(index: Map<K, Set<FollowedCondition>>, key: K, followed: FollowedCondition): void {
  const there = index.get(key)
  if (there?.delete(followed) === true && there.size === 0) index.delete(key)
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

function overloaded(followed: string, instead = 'ask another node, or later'): RuleError {
  return new RuleError('overloaded', `the node follows ${followed} already; ${instead}`)
}
