/**
 * Works out for the conditions of all subscriptions which documents a block makes begin to meet them, change, or cease to.
 *
 *   block -> OperationsOfBlocks.payloads            documents before and after it, also of a block that left the chain
 *     -> Evaluation.together: tokens of both -> DocumentConditions.addQueries     pairs of document and condition that may meet
 *     -> conditions with few pairs first               Matcher.matches(before), matches(after) -> begins, changes, ceases
 *     -> kept for the subscriptions that stand at the block; `untold` for a condition that is too much work
 *   a block further back, or a condition that came since -> look: the same for that condition alone
 *
 * - Work is counted in elements read, not in time: the same block gives the same events to a subscription that comes back.
 * - All of it runs in slices, after the block is on disk, outside the writer.
 */
import { displayHash, hex, mapKey, reversed } from '../../base/primitives/bytes.js'
import type { Action } from '../../base/primitives/chain-event.js'
import type { Hash } from '../../base/primitives/hash.js'
import { nextTurn } from '../../base/runtime/cooperative.js'
import { WorkSlots } from '../../base/runtime/work-slots.js'
import type { ReplayedLog } from './block-events.js'
import { type BlockOperations, OperationsOfBlocks } from './block-operations.js'
import { type DocumentCondition, DocumentConditions, type FollowedCondition } from './document-conditions.js'
import {
  type Changed,
  documentWork,
  type DocumentWork,
  type EvaluatedBlock,
  Evaluation,
  sharedEvents,
} from './evaluate-block.js'
import type { LedgerEvent } from './ledger-event.js'

/** @tuning count: client addresses whose subscriptions look at earlier blocks at the same time */
const looksAtOnce = 4

/** The log as documents are followed in it. */
export interface FollowedLog extends ReplayedLog {
  readonly last: number
  readonly oldest: number
  at(number: number): LedgerEvent
}

/** A block that documents are told of. */
export interface ToldBlock {
  readonly hash: Hash
  readonly action: Action
}

/** Events about documents, for subscriptions with conditions. */
export class DocumentEvents {
  readonly conditions: DocumentConditions
  readonly operations: OperationsOfBlocks
  readonly #log: FollowedLog
  readonly #work: DocumentWork
  readonly #slots = new WorkSlots(looksAtOnce, Infinity, 'looks at documents', 1)
  /** The oldest first. */
  readonly #kept = new Map<string, EvaluatedBlock>()
  #keptCount = 0
  #evaluated: number
  #settling: Promise<void> | undefined

  constructor(log: FollowedLog, work: Partial<DocumentWork> = {}, conditions = new DocumentConditions()) {
    this.#log = log
    this.#work = { ...documentWork, ...work }
    this.conditions = conditions
    this.operations = new OperationsOfBlocks(log)
    this.#evaluated = log.last
  }

  /** Follows a condition for a client address, from the next block on; `overloaded` where the node follows too much. */
  follow(condition: DocumentCondition, share: string): DocumentFollower {
    if (this.conditions.size === 0) this.#evaluated = this.#log.last
    return new DocumentFollower(this, this.conditions.add(condition, share), share)
  }

  /** Ends what {@link follow} began. */
  leave(followed: FollowedCondition, share: string): void {
    this.conditions.remove(followed, share)
    if (this.conditions.size > 0) return
    this.#kept.clear()
    this.#keptCount = 0
    this.operations.clear()
  }

  /** Resolves once all conditions were held against the blocks of the log. */
  settle(): Promise<void> {
    return (this.#settling ??= this.#settle().finally(() => (this.#settling = undefined)))
  }

  /** Events that are kept of a block for a condition; undefined: it was not held against that block, or they are dropped. */
  found(followed: FollowedCondition, { hash, action }: ToldBlock): readonly LedgerEvent[] | undefined {
    const block = this.#kept.get(keyOf(hash, action))
    if (block === undefined || followed.id > block.last || block.left.has(followed)) return undefined
    return block.found.get(followed) ?? []
  }

  /**
   * The events of a block for one condition. Undefined where the chain changed meanwhile; `event-gone` or `pruned` where the block, or
   * one before it that left the chain, is not there.
   */
  async look(
    followed: FollowedCondition,
    block: ToldBlock,
    share: string,
  ): Promise<readonly LedgerEvent[] | undefined> {
    return this.#slots.run(
      async () => {
        const evaluation = await this.#begin(block)
        await nextTurn()
        return evaluation && (await evaluation.alone(followed))
      },
      { share },
    )
  }

  async #settle(): Promise<void> {
    while (this.#evaluated < this.#log.last) {
      const number = Math.max(this.#evaluated + 1, this.#log.oldest)
      this.#evaluated = number
      const { data } = this.#log.at(number)
      if (data.topic !== 'block' || this.conditions.size === 0) continue
      const block = { hash: reversed(hex(data.hash)), action: data.action }
      // Those who come to a block that cannot be read are told so.
      const evaluated = await this.#evaluate(block).catch(() => undefined)
      if (evaluated !== undefined) this.#keep(keyOf(block.hash, block.action), evaluated)
    }
  }

  async #evaluate(block: ToldBlock): Promise<EvaluatedBlock | undefined> {
    return (await this.#begin(block))?.together()
  }

  async #begin({ hash, action }: ToldBlock): Promise<Evaluation | undefined> {
    const operations = await this.operations.of(hash)
    // Lists of DIDs need no documents.
    const changes = this.conditions.reads ? await this.operations.documents(hash) : operations && ended(operations)
    if (operations === undefined || changes === undefined) return undefined
    const place = { action, height: operations.height, blockhash: displayHash(hash) }
    return new Evaluation({ conditions: this.conditions, work: this.#work, place, changes })
  }

  #keep(key: string, block: EvaluatedBlock): void {
    this.#keptCount += block.count + 1 - (this.#kept.get(key)?.count ?? -1)
    this.#kept.delete(key)
    this.#kept.set(key, block)
    for (const [oldest, { count }] of this.#kept) {
      if (this.#keptCount <= sharedEvents || oldest === key) break
      this.#kept.delete(oldest)
      this.#keptCount -= count + 1
    }
  }
}

/** A condition that a subscription follows. */
export class DocumentFollower {
  readonly #events: DocumentEvents
  readonly #followed: FollowedCondition
  readonly #share: string
  #left = false

  constructor(events: DocumentEvents, followed: FollowedCondition, share: string) {
    this.#events = events
    this.#followed = followed
    this.#share = share
  }

  /** Events of a block if they are known; see {@link DocumentEvents.found}. */
  found(block: ToldBlock): readonly LedgerEvent[] | undefined {
    return this.#events.found(this.#followed, block)
  }

  /** Events of a block; see {@link DocumentEvents.look}. */
  async look(block: ToldBlock): Promise<readonly LedgerEvent[] | undefined> {
    if (this.#left) return []
    await this.#events.settle()
    return this.found(block) ?? (await this.#events.look(this.#followed, block, this.#share))
  }

  leave(): void {
    if (this.#left) return
    this.#left = true
    this.#events.leave(this.#followed, this.#share)
  }
}

/** The changes of a block without the documents before it. */
function ended({ dids }: BlockOperations): readonly Changed[] {
  return [...dids.values()].map(({ payload, ...one }) => ({ ...one, after: payload }))
}

function keyOf(hash: Hash, action: Action): string {
  return `${action} ${mapKey(hash)}`
}
