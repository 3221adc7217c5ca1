import { mapKey } from '../../primitives/bytes.js'
import {
  type NilPrecommitMessage,
  type PrecommitMessage,
  type PrevoteMessage,
  type ProposalMessage,
  sameValue,
  type SignedMessage,
  signerOf,
  stepOf,
  type Step,
  viewOf,
} from './message.js'

/** One validator's messages of one view: the first of each step, and the steps where another one contradicted it. */
interface Slot {
  readonly view: number
  readonly messages: Map<Step, SignedMessage>
  readonly contradicted: Set<Step>
}

/** What became of a message: kept, dropped (known, or of a view that is not kept), or the kept one that it contradicts. */
export type Recorded = 'kept' | 'dropped' | { readonly first: SignedMessage }

/**
 * The messages of one height, within bounded memory: of every validator those of the present view and of the highest
 * other view that it was heard in. The first message of a step counts; how often the same is heard does not matter.
 */
export class Votes {
  readonly validators: readonly Uint8Array[]
  private readonly places: ReadonlyMap<string, number>
  private present: Slot[]
  private readonly others: (Slot | undefined)[]
  private view = 0

  constructor(validators: readonly Uint8Array[]) {
    this.validators = validators
    this.places = new Map(validators.map((key, place) => [mapKey(key), place]))
    this.present = validators.map(() => emptySlot(0))
    this.others = validators.map(() => undefined)
  }

  /** Makes `view` the present one. Of the messages of the one before, those with no higher view beside them stay. */
  enter(view: number): void {
    this.view = view
    this.present = this.present.map((left, place) => {
      const other = this.others[place]
      if (other?.view === view) {
        this.others[place] = orNothing(left)
        return other
      }
      if (other === undefined || other.view < left.view) this.others[place] = orNothing(left) ?? other
      return emptySlot(view)
    })
  }

  /** Keeps a message when there is a place for it. One of a contradictory pair is told once. */
  record(message: SignedMessage): Recorded {
    const place = this.placeOf(signerOf(message))
    if (place === undefined) return 'dropped'
    const slot = this.slotFor(place, viewOf(message))
    if (slot === undefined) return 'dropped'
    const step = stepOf(message)
    const first = slot.messages.get(step)
    if (first === undefined) {
      slot.messages.set(step, message)
      return 'kept'
    }
    if (sameValue(first, message) || slot.contradicted.has(step)) return 'dropped'
    slot.contradicted.add(step)
    return { first }
  }

  placeOf(key: Uint8Array): number | undefined {
    return this.places.get(mapKey(key))
  }

  proposal(view: number): ProposalMessage | undefined {
    const [proposal] = this.of(view, 'propose')
    return proposal as ProposalMessage | undefined
  }

  prevotes(view: number): PrevoteMessage[] {
    return this.of(view, 'prevote') as PrevoteMessage[]
  }

  precommits(view: number): (PrecommitMessage | NilPrecommitMessage)[] {
    return this.of(view, 'precommit') as (PrecommitMessage | NilPrecommitMessage)[]
  }

  /** The views of which messages are kept, ascending. */
  views(): number[] {
    const slots = [...this.present, ...this.others].filter((slot) => slot !== undefined && slot.messages.size > 0)
    return [...new Set((slots as Slot[]).map(({ view }) => view))].sort((a, b) => a - b)
  }

  /** The highest view that `count` validators were heard in, there or beyond; -1 when no view has as many. */
  reachedBy(count: number): number {
    const highest = this.present.map((slot, place) =>
      Math.max(slot.messages.size > 0 ? slot.view : -1, this.others[place]?.view ?? -1),
    )
    return highest.sort((a, b) => b - a)[count - 1] ?? -1
  }

  private of(view: number, step: Step): SignedMessage[] {
    const slots = view === this.view ? this.present : this.others
    return slots.flatMap((slot) => (slot?.view === view ? (slot.messages.get(step) ?? []) : []))
  }

  private slotFor(place: number, view: number): Slot | undefined {
    if (view === this.view) return this.present[place]
    const other = this.others[place]
    if (other !== undefined && other.view >= view) return other.view === view ? other : undefined
    return (this.others[place] = emptySlot(view))
  }
}

function emptySlot(view: number): Slot {
  return { view, messages: new Map(), contradicted: new Set() }
}

function orNothing(slot: Slot): Slot | undefined {
  return slot.messages.size > 0 ? slot : undefined
}
