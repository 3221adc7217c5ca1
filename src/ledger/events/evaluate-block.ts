import { RuleError } from '../../base/errors/rule-error.js'
import { anyUtf8 } from '../../base/primitives/bytes.js'
import type { DocumentChangeKind, DocumentsChanged, DocumentsUntold } from '../../base/primitives/chain-event.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import { documentTokenSteps } from '../../identity/did-index/document-tokens.js'
import { documentOfPayload } from '../../identity/did/known-document.js'
import { documentText } from '../../identity/did/canonical.js'
import type { Members } from '../../identity/did-query/member-path.js'
import { effortSpent } from '../../identity/did-query/work-budget.js'
import type { ChangedDocument, StoredDocument } from './block-operations.js'
import {
  type DocumentCondition,
  type DocumentConditions,
  type FollowedCondition,
  isOpen,
} from './document-conditions.js'
import { LedgerEvent } from './ledger-event.js'

/** Bounds of the work that one block makes for conditions, in elements; a document held against one counts 64 at least. */
export const documentWork = {
  /** @tuning count: elements read for one condition in one block; above it the block is `untold` to its subscriptions */
  condition: 4_000_000,
  /** @tuning count: elements read for the conditions of one client address in one block */
  share: 16_000_000,
  /** @tuning count: elements read for all conditions in one block, those with the fewest documents first */
  block: 64_000_000,
}
export type DocumentWork = Readonly<typeof documentWork>

/** Work of holding a document against a condition beside the elements of arrays, and of reading a character of it. */
const [eachMatch, eachCharacter] = [64, 1 / 8]
/** @tuning characters: normalised documents of a block that are kept in memory while conditions are held against them */
const keptCharacters = 4 * 1024 * 1024
/** @tuning count: events of the blocks evaluated last, kept for all subscriptions that are sent them */
export const sharedEvents = 1_000_000

/** Events of a block for conditions: those of each that has any. */
export interface EvaluatedBlock {
  /** The greatest id of the conditions that were held against it. */
  readonly last: number
  /** Conditions of which nothing is kept here, for want of room. */
  readonly left: ReadonlySet<FollowedCondition>
  readonly found: ReadonlyMap<FollowedCondition, readonly LedgerEvent[]>
  readonly count: number
}

/** A DID that a block changed; `before` is known where a condition reads documents. */
export type Changed = Omit<ChangedDocument, 'before'> & { readonly before?: StoredDocument | undefined }

interface EvaluationParts {
  readonly conditions: DocumentConditions
  readonly work: DocumentWork
  readonly place: Pick<DocumentsChanged, 'action' | 'height' | 'blockhash'>
  readonly changes: readonly Changed[]
}

/** One block, held against conditions. */
export class Evaluation {
  readonly #parts: EvaluationParts
  readonly #yielder = new Yielder()
  readonly #documents = new Map<StoredDocument, Members>()
  #room = keptCharacters
  /** Elements read for the condition at hand. */
  #effort = 0
  /** An event for each DID and change, shared by all conditions. */
  readonly #events = new Map<string, LedgerEvent>()

  constructor(parts: EvaluationParts) {
    this.#parts = parts
  }

  /** For one condition. */
  async alone(followed: FollowedCondition): Promise<readonly LedgerEvent[]> {
    const { condition } = followed
    const { changes, work } = this.#parts
    if (condition.kind === 'dids') return this.#inOrder(this.#ofDids(condition.dids))
    const pairs: Changed[] = []
    for (const change of changes) {
      if (condition.cover === undefined || (await this.#mayMeet(condition.cover, change))) pairs.push(change)
      if (this.#yielder.over) await this.#yielder.next()
    }
    return (await this.#match(condition, pairs, work.condition)) ?? [this.#untold()]
  }

  /** For all conditions that are followed now. */
  async together(): Promise<EvaluatedBlock> {
    const { conditions } = this.#parts
    const { last } = conditions
    const found = new Map<FollowedCondition, readonly LedgerEvent[]>()
    const pairs = await this.#narrow()
    for (const [followed, changes] of this.#byDid(last)) found.set(followed, this.#inOrder(changes))
    await this.#matchAll(pairs, found)
    const left = new Set<FollowedCondition>()
    let count = 0
    for (const [followed, { length }] of found) {
      if (count + length > sharedEvents && found.delete(followed)) left.add(followed)
      else count += length
    }
    return { last, left, found, count }
  }

  /** Holds conditions against their documents, those with the fewest first: these get what they need, whatever others ask. */
  async #matchAll(
    pairs: ReadonlyMap<FollowedCondition, readonly Changed[]>,
    found: Map<FollowedCondition, readonly LedgerEvent[]>,
  ): Promise<void> {
    const { work } = this.#parts
    const spent = new Map<string, number>()
    let total = 0
    for (const [followed, changes] of [...pairs].sort(byWork)) {
      const { condition, shares } = followed
      if (condition.kind !== 'query') continue
      let ofShares = Infinity
      for (const share of shares.keys()) ofShares = Math.min(ofShares, spent.get(share) ?? 0)
      const most = Math.min(work.condition, work.block - total, work.share - ofShares)
      const events = await this.#match(condition, changes, most)
      if (events === undefined) found.set(followed, [this.#untold()])
      else if (events.length > 0) found.set(followed, events)
      total += this.#effort
      for (const share of shares.keys()) spent.set(share, (spent.get(share) ?? 0) + this.#effort)
    }
  }

  /** Events of a condition from the documents that may meet it; undefined where it takes more work than that. */
  async #match(
    condition: DocumentCondition & { kind: 'query' },
    changes: readonly Changed[],
    most: number,
  ): Promise<readonly LedgerEvent[] | undefined> {
    this.#effort = 0
    const found: [Changed, DocumentChangeKind][] = []
    for (const change of changes) {
      try {
        const kind = kindOf(this.#meets(condition, change.before), this.#meets(condition, change.after))
        if (kind !== undefined) found.push([change, kind])
      } catch (error) {
        // One document is too much work.
        if (!(error instanceof RuleError) || error.code !== 'busy') throw error
        return undefined
      }
      if (this.#effort > most) return undefined
      if (this.#yielder.over) await this.#yielder.next()
    }
    return this.#inOrder(found)
  }

  #meets({ matcher }: DocumentCondition & { kind: 'query' }, stored: StoredDocument | undefined): boolean {
    if (stored === undefined) return false
    const document = this.#document(stored)
    const meets = matcher.matches(document)
    this.#effort += eachMatch + effortSpent()
    return meets
  }

  /** Pairs each query with the changed documents that may meet it, before or after. */
  async #narrow(): Promise<ReadonlyMap<FollowedCondition, Changed[]>> {
    const { conditions, changes } = this.#parts
    const pairs = new Map<FollowedCondition, Changed[]>()
    if (!conditions.reads) return pairs
    for (const change of changes) {
      const may = new Set<FollowedCondition>()
      for (const stored of [change.before, change.after]) {
        if (stored === undefined) continue
        conditions.addQueries(may, change.did, (await this.#tokens(stored)).keys())
      }
      for (const followed of may) {
        const there = pairs.get(followed)
        if (there === undefined) pairs.set(followed, [change])
        else there.push(change)
        if (this.#yielder.over) await this.#yielder.next()
      }
    }
    return pairs
  }

  async #mayMeet({ tokens, dids }: NonNullable<QueryCover>, change: Changed): Promise<boolean> {
    if (dids.has(change.did)) return true
    if (tokens.size === 0) return false
    for (const stored of [change.before, change.after]) {
      if (stored === undefined) continue
      for (const token of (await this.#tokens(stored)).keys()) if (tokens.has(token)) return true
    }
    return false
  }

  #tokens(stored: StoredDocument) {
    return this.#yielder.run(documentTokenSteps(this.#document(stored)))
  }

  /** Changes of each list of DIDs that was followed when the evaluation began. */
  #byDid(last: number): ReadonlyMap<FollowedCondition, [Changed, DocumentChangeKind][]> {
    const found = new Map<FollowedCondition, [Changed, DocumentChangeKind][]>()
    for (const change of this.#parts.changes) {
      const kind = kindOf(change.hadDocument, change.after !== undefined)
      if (kind === undefined) continue
      for (const followed of this.#parts.conditions.ofDid(change.did)) {
        if (followed.id > last) continue
        const there = found.get(followed)
        if (there === undefined) found.set(followed, [[change, kind]])
        else there.push([change, kind])
      }
    }
    return found
  }

  #ofDids(dids: ReadonlySet<string>): [Changed, DocumentChangeKind][] {
    const found: [Changed, DocumentChangeKind][] = []
    for (const change of this.#parts.changes) {
      const kind = dids.has(change.did) ? kindOf(change.hadDocument, change.after !== undefined) : undefined
      if (kind !== undefined) found.push([change, kind])
    }
    return found
  }

  /** In block order, or backwards where the block is taken back. */
  #inOrder(changes: readonly [Changed, DocumentChangeKind][]): readonly LedgerEvent[] {
    const events = changes.map(([change, kind]) => this.#event(change, kind))
    return this.#parts.place.action === 'apply' ? events : events.reverse()
  }

  #event({ did, operation, txid }: Changed, change: DocumentChangeKind): LedgerEvent {
    const key = `${change} ${did}`
    const made = this.#events.get(key)
    if (made !== undefined) return made
    const { action, height, blockhash } = this.#parts.place
    const data = { topic: 'documents', action, change, did, operation, txid, height, blockhash } as const
    const event = new LedgerEvent(null, data)
    this.#events.set(key, event)
    return event
  }

  #untold(): LedgerEvent {
    const { action, height, blockhash } = this.#parts.place
    const data: DocumentsUntold = {
      topic: 'documents',
      action,
      change: 'untold',
      code: 'overloaded',
      height,
      blockhash,
    }
    return new LedgerEvent(null, data)
  }

  /** A normalised document. Those that have no room are read again each time, which is counted. */
  #document(stored: StoredDocument): Members {
    const kept = this.#documents.get(stored)
    if (kept !== undefined) return kept
    const text = typeof stored === 'string' ? documentText(documentOfPayload(stored, didMethod)) : anyUtf8(stored)
    const document = JSON.parse(text) as Members
    this.#room -= stored.length
    if (this.#room >= 0) this.#documents.set(stored, document)
    this.#effort += stored.length * eachCharacter
    return document
  }
}

type Pair = readonly [FollowedCondition, readonly Changed[]]

/** The fewest documents first; of as many, the conditions that an index narrows. */
function byWork([one, a]: Pair, [other, b]: Pair): number {
  return a.length - b.length || Number(isOpen(one.condition)) - Number(isOpen(other.condition))
}

type QueryCover = (DocumentCondition & { kind: 'query' })['cover']

function kindOf(before: boolean, after: boolean): DocumentChangeKind | undefined {
  if (before) return after ? 'changes' : 'ceases'
  return after ? 'begins' : undefined
}
