import { mapKey } from '../../base/primitives/bytes.js'
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

/** Messages of one validator in one view: the first of each step, and the steps with a contradicting second one. */
interface Slot {
  readonly view: number
  readonly messages: Map<Step, SignedMessage>
  readonly contradicted: Set<Step>
}

/** Result for a message: kept, dropped (known, or of a view that is not kept), or the kept message that it contradicts. */
export type Recorded = 'kept' | 'dropped' | { readonly first: SignedMessage }

/**
 * Messages of one height in bounded memory: per validator those of the present view and of the highest other view with a
 * message of it. Only the first message of each step counts.
 */
export class Votes {
  readonly validators: readonly Uint8Array[]
  readonly #indexes: ReadonlyMap<string, number>
  #present: Slot[]
  readonly #others: (Slot | undefined)[]
  #view = 0

  constructor(validators: readonly Uint8Array[]) {
    this.validators = validators
    this.#indexes = new Map(validators.map((key, index) => [mapKey(key), index]))
    this.#present = validators.map(() => emptySlot(0))
    this.#others = validators.map(() => undefined)
  }

  /** Makes `view` the present one. Messages of the view before stay for validators without a higher other view. */
  enter(view: number): void {
    this.#view = view
    this.#present = this.#present.map((left, index) => {
      const other = this.#others[index]
      if (other?.view === view) {
        this.#others[index] = orNothing(left)
        return other
      }
      if (other === undefined || other.view < left.view) this.#others[index] = orNothing(left) ?? other
      return emptySlot(view)
    })
  }

  /** Keeps a message if its view is kept. A contradiction is returned once per signer, view and step. */
  record(message: SignedMessage): Recorded {
    const index = this.indexOf(signerOf(message))
    if (index === undefined) return 'dropped'
    const slot = this.#slotFor(index, viewOf(message))
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

  indexOf(key: Uint8Array): number | undefined {
    return this.#indexes.get(mapKey(key))
  }

  proposal(view: number): ProposalMessage | undefined {
    const [proposal] = this.#of(view, 'propose')
    return proposal as ProposalMessage | undefined
  }

  prevotes(view: number): PrevoteMessage[] {
    return this.#of(view, 'prevote') as PrevoteMessage[]
  }

  precommits(view: number): (PrecommitMessage | NilPrecommitMessage)[] {
    return this.#of(view, 'precommit') as (PrecommitMessage | NilPrecommitMessage)[]
  }

  /** The views with kept messages, ascending. */
  views(): number[] {
    const slots = [...this.#present, ...this.#others].filter((slot) => slot !== undefined && slot.messages.size > 0)
    return [...new Set((slots as Slot[]).map(({ view }) => view))].sort((a, b) => a - b)
  }

  /** The highest view such that `count` validators sent messages of it or a higher one; -1 if there is none. */
  reachedBy(count: number): number {
    const highest = this.#present.map((slot, index) =>
      Math.max(slot.messages.size > 0 ? slot.view : -1, this.#others[index]?.view ?? -1),
    )
    return highest.sort((a, b) => b - a)[count - 1] ?? -1
  }

  #of(view: number, step: Step): SignedMessage[] {
    const slots = view === this.#view ? this.#present : this.#others
    return slots.flatMap((slot) => (slot?.view === view ? (slot.messages.get(step) ?? []) : []))
  }

  #slotFor(index: number, view: number): Slot | undefined {
    if (view === this.#view) return this.#present[index]
    const other = this.#others[index]
    if (other !== undefined && other.view >= view) return other.view === view ? other : undefined
    return (this.#others[index] = emptySlot(view))
  }
}

function emptySlot(view: number): Slot {
  return { view, messages: new Map(), contradicted: new Set() }
}

function orNothing(slot: Slot): Slot | undefined {
  return slot.messages.size > 0 ? slot : undefined
}
