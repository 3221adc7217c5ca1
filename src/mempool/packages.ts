import { compareRates, type Priced, rateOf } from './fee-rate.js'
import { Heap, type Placed } from './heap.js'
import type { PoolEntry } from './pool-entry.js'
import type { PoolNode } from './pool-node.js'
import type { Steps } from '../primitives/steps.js'

/** Descendants looked at in one step. */
const atOnce = 16

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

/** A node with what it and its missing ancestors pay together. */
class Candidate implements Placed, Priced {
  place = -1
  readonly node: PoolNode
  fee: bigint
  bytes: number
  rate: number
  first: boolean

  constructor(node: PoolNode) {
    this.node = node
    this.fee = node.own.fee
    this.bytes = node.own.bytes
    this.rate = node.own.rate
    this.first = node.first
  }

  /** Sums up anew, without the ancestors in `taken`; whether that changed something. */
  measure(taken: ReadonlySet<PoolNode>): boolean {
    let { fee, bytes } = this.node.own
    let isAlone = true
    for (const { node } of this.node.ancestorMarks) {
      if (node === undefined || taken.has(node)) continue
      fee += node.own.fee
      bytes += node.own.bytes
      isAlone = false
    }
    const first = this.node.first && isAlone
    if (fee === this.fee && bytes === this.bytes && first === this.first) return false
    this.fee = fee
    this.bytes = bytes
    this.rate = rateOf(this)
    this.first = first
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
  const best = yield* Heap.of(selection.candidates(nodes, additions), isBetter)
  for (let candidate = best.first; candidate !== undefined; candidate = best.first) {
    if (selection.isStale(candidate)) {
      best.moved(candidate)
      yield
      continue
    }
    best.remove(candidate)
    const missing = selection.missing(candidate)
    if (missing === undefined) {
      yield
      continue
    }
    const offered = new Package(missing.map(({ entry }) => entry))
    yield offered
    if (offered.left !== undefined) selection.leave(missing[offered.left] as PoolNode)
    else if (missing.length > 1 || candidate.node.children.size > 0) yield* selection.takeSteps(missing, best)
  }
}

/** Progress of one walk over the pool. */
class Selection {
  /** Candidates of nodes that build on others. */
  readonly #dependent = new Map<PoolNode, Candidate>()
  /** Taken nodes on which others build. */
  readonly #taken = new Set<PoolNode>()
  readonly #left = new Set<PoolNode>()

  /** Measures a candidate whose ancestors may have left the pool; whether that changed its place. */
  isStale(candidate: Candidate): boolean {
    return candidate.node.ancestorMarks.length > 0 && candidate.measure(this.#taken)
  }

  *candidates(nodes: Iterable<PoolNode>, additions: number): Generator<Candidate> {
    for (const node of nodes) {
      if (node.order >= additions) continue
      const candidate = new Candidate(node)
      if (node.ancestorMarks.length > 0) {
        candidate.measure(this.#taken)
        this.#dependent.set(node, candidate)
      }
      yield candidate
    }
  }

  /** The nodes to be taken for a candidate, ancestors first; undefined if it is taken, gone, or builds on one that was left. */
  missing({ node }: Candidate): readonly PoolNode[] | undefined {
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
  *takeSteps(nodes: readonly PoolNode[], best: Heap<Candidate>): Steps {
    const open: PoolNode[] = []
    for (const node of nodes) {
      this.#taken.add(node)
      for (const child of node.children) open.push(child)
    }
    if (open.length === 0) return
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

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.first !== b.first) return a.first
  const more = compareRates(a, b)
  return more > 0 || (more === 0 && a.node.order < b.node.order)
}
