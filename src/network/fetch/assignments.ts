import type { Timers } from '../../base/runtime/env.js'

/** Items that one peer is asked for. */
export interface Assignment<P, I> {
  readonly peer: P
  readonly items: readonly I[]
  /** Milliseconds until it is overdue. */
  readonly patience: number
  /** Bytes expected in the answer. */
  readonly bytes: number
  /** Whether its items were released to other peers because the answer is late. */
  readonly overdue: boolean
  /** The answer came: it is not overdue any more, and its items stay out until {@link release}. */
  answered(): void
  /** Ends the request: its items are free again, unless another peer holds them by now. */
  release(): void
}

/** Callbacks of {@link Assignments}. */
export interface AssignmentsOwner<P, I> {
  /** Whether the items of a late answer can go to another peer; otherwise the assignment keeps them. */
  canMove(assignment: Assignment<P, I>): boolean
  /** The items of a late answer were released. */
  onOverdue(assignment: Assignment<P, I>): void
}

interface OpenAssignment<P, I> extends Assignment<P, I> {
  overdue: boolean
  cancel: () => void
}

/** Which peer is asked for what: each item is held by one peer until it answers or is overdue. */
export class Assignments<P, I> {
  readonly #timers: Timers
  readonly #owner: AssignmentsOwner<P, I>
  readonly #open = new Set<OpenAssignment<P, I>>()
  readonly #holders = new Map<I, Assignment<P, I>>()

  constructor(timers: Timers, owner: AssignmentsOwner<P, I>) {
    this.#timers = timers
    this.#owner = owner
  }

  /** Open requests, overdue ones included. */
  get open(): ReadonlySet<Assignment<P, I>> {
    return this.#open
  }

  /** Whether a peer is asked for an item and is not overdue. */
  isOut(item: I): boolean {
    return this.#holders.has(item)
  }

  /** Notes a request for items that are not out. After `patience` milliseconds it is overdue. */
  give(peer: P, items: readonly I[], patience: number, bytes = 0): Assignment<P, I> {
    const answered = () => assignment.cancel()
    const release = () => {
      assignment.cancel()
      this.#open.delete(assignment)
      this.#free(assignment)
    }
    const assignment: OpenAssignment<P, I> = {
      peer,
      items,
      patience,
      bytes,
      overdue: false,
      answered,
      release,
      cancel: () => {},
    }
    for (const item of items) this.#holders.set(item, assignment)
    this.#open.add(assignment)
    this.#watch(assignment)
    return assignment
  }

  /** Cancels the timers; items stay out. */
  close(): void {
    for (const { cancel } of this.#open) cancel()
  }

  #watch(assignment: OpenAssignment<P, I>): void {
    assignment.cancel = this.#timers.after(assignment.patience, () => {
      if (!this.#owner.canMove(assignment)) return this.#watch(assignment)
      assignment.overdue = true
      this.#free(assignment)
      this.#owner.onOverdue(assignment)
    })
  }

  #free(assignment: Assignment<P, I>): void {
    for (const item of assignment.items) if (this.#holders.get(item) === assignment) this.#holders.delete(item)
  }
}
