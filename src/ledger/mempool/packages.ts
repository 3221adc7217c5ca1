import { compareRates, type Priced, priced } from './fee-rate.js'
import { Heap, type Placed } from './heap.js'
import type { PoolEntry } from './pool-entry.js'
import type { PoolNode } from './pool-node.js'
import type { Steps } from '../../base/primitives/steps.js'

/** Descendants looked at in one step. */
const atOnce = 16
/** Nodes sorted in one step. */
const runLength = 256

/** A pooled transaction after all its ancestors that were not taken before. */
export class Package {
  readonly entries: readonly PoolEntry[]
  #left: number | undefined

  constructor(entries: readonly PoolEntry[]) {
    this.entries = entries
  }

  /** Index of an entry that is not to be taken; undefined: all are taken. */
  get left(): number | undefined {
    return this.#left
  }

  /** Takes none of it. The entry at `index`, by default the last, is not offered again, nor what builds on it. */
  leave(index = this.entries.length - 1): void {
    this.#left = index
  }
}

/** Keys that decide which package comes next. */
interface Ranked {
  /** Comes before all fees. */
  readonly first: boolean
  readonly price: Priced
  readonly order: number
}

/** A node to be taken with its missing ancestors. */
interface Offer extends Ranked, Placed {
  readonly node: PoolNode
}

/** A node that builds on others, with what it and its missing ancestors pay together. */
class Candidate implements Offer {
  place = -1
  readonly node: PoolNode
  price: Priced
  first = false

  constructor(node: PoolNode) {
    this.node = node
    this.price = node.price
  }

  get order(): number {
    return this.node.order
  }

  /** Sums up anew, without the ancestors in `taken`; whether that changed something. */
  measure(taken: ReadonlySet<PoolNode>): boolean {
    let { fee, bytes } = this.node.price
    let isAlone = true
    for (const { node } of this.node.ancestorMarks) {
      if (node === undefined || taken.has(node)) continue
      fee += node.price.fee
      bytes += node.price.bytes
      isAlone = false
    }
    const first = this.node.first && isAlone
    if (fee === this.price.fee && bytes === this.price.bytes && first === this.first) return false
    this.price = priced(fee, bytes)
    this.first = first
    return true
  }
}

/** Nodes that build on none, the best one at a time. Nothing that is taken changes their order, so sorting them once is enough. */
class Run implements Offer {
  place = -1
  node!: PoolNode
  first!: boolean
  price!: Priced
  order!: number
  /** The best is the last. */
  readonly #nodes: PoolNode[]

  /** `nodes`: one or more; they become the run's. */
  constructor(nodes: PoolNode[]) {
    this.#nodes = nodes.sort(compare)
    this.advance()
  }

  /** Moves to the next node; false if there is none. */
  advance(): boolean {
    const node = this.#nodes.pop()
    if (node === undefined) return false
    this.node = node
    this.first = node.first
    this.price = node.price
    this.order = node.order
    return true
  }
}

/**
 * Offers packages, the one that pays most for a byte first: those that were taken no longer count for what builds on them.
 * Types that go before all fees do so once nothing is missing before them. Nodes removed between two steps are skipped, those
 * from number `additions` on are left out; undefined is a pause.
 */
export function* packagesOf(nodes: Iterable<PoolNode>, additions: number): Generator<Package | undefined> {
  const selection = new Selection()
  const best = yield* Heap.of(yield* selection.offerSteps(nodes, additions), isBetter)
  for (let offer = best.first; offer !== undefined; offer = best.first) {
    const { node } = offer
    if (offer instanceof Candidate && offer.measure(selection.taken)) {
      best.moved(offer)
      yield
      continue
    }
    if (offer instanceof Run && offer.advance()) best.moved(offer)
    else best.remove(offer)
    const missing = selection.missing(node)
    if (missing === undefined) {
      yield
      continue
    }
    const offered = new Package(missing.map(({ entry }) => entry))
    yield offered
    if (offered.left !== undefined) selection.leave(missing[offered.left] as PoolNode)
    else if (missing.length > 1 || node.children.size > 0) yield* selection.takeSteps(missing, best)
  }
}

/** Progress of one walk over the pool. */
class Selection {
  /** Candidates of nodes that build on others. */
  readonly #dependent = new Map<PoolNode, Candidate>()
  readonly #taken = new Set<PoolNode>()
  readonly #left = new Set<PoolNode>()

  /** Taken nodes on which others build, or that build on others. */
  get taken(): ReadonlySet<PoolNode> {
    return this.#taken
  }

  /** All that can be offered, in no order. */
  *offerSteps(nodes: Iterable<PoolNode>, additions: number): Steps<Offer[]> {
    const offers: Offer[] = []
    let alone: PoolNode[] = []
    let looked = 0
    for (const node of nodes) {
      if (++looked % runLength === 0) yield
      if (node.order >= additions) continue
      if (node.ancestorMarks.length > 0) {
        const candidate = new Candidate(node)
        candidate.measure(this.#taken)
        this.#dependent.set(node, candidate)
        offers.push(candidate)
      } else if (alone.push(node) === runLength) {
        offers.push(new Run(alone))
        alone = []
        yield
      }
    }
    if (alone.length > 0) offers.push(new Run(alone))
    return offers
  }

  /** The nodes to be taken for one, ancestors first; undefined if it is taken, gone, or builds on one that was left. */
  missing(node: PoolNode): readonly PoolNode[] | undefined {
    if (node.mark.node === undefined || this.#taken.has(node)) return undefined
    if (node.ancestorMarks.length === 0) return this.#left.has(node) ? undefined : [node]
    const missing = [node, ...node.ancestors()].filter((one) => !this.#taken.has(one))
    if (this.#left.size > 0 && missing.some((one) => this.#left.has(one))) return undefined
    return missing.sort((a, b) => a.order - b.order)
  }

  leave(node: PoolNode): void {
    this.#left.add(node)
  }

  /** Takes nodes, and measures anew what builds on them. */
  *takeSteps(nodes: readonly PoolNode[], best: Heap<Offer>): Steps {
    const open: PoolNode[] = []
    for (const node of nodes) {
      this.#taken.add(node)
      for (const child of node.children) open.push(child)
    }
    const seen = new Set<PoolNode>()
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (seen.has(node) || this.#taken.has(node)) continue
      seen.add(node)
      for (const child of node.children) open.push(child)
      const candidate = this.#dependent.get(node)
      if (candidate !== undefined && candidate.place >= 0 && candidate.measure(this.#taken)) best.moved(candidate)
      if (seen.size % atOnce === 0) yield
    }
  }
}

/** Above 0 where `a` comes before `b`. */
function compare(a: Ranked, b: Ranked): number {
  if (a.first !== b.first) return a.first ? 1 : -1
  return compareRates(a.price, b.price) || b.order - a.order
}

function isBetter(a: Ranked, b: Ranked): boolean {
  return compare(a, b) > 0
}
