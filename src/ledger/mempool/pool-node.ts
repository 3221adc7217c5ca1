import { compareRates, type Paid, type Priced, priced } from './fee-rate.js'
import type { Placed } from './heap.js'
import type { PoolEntry } from './pool-entry.js'
import { policyOf } from './types/all-policies.js'

/** Way to a node that ends with its removal: what came later must not keep a mined transaction in memory. */
export interface Mark {
  node: PoolNode | undefined
}

/** Shared: nothing is added to the parents of a node, and from these nothing is removed. */
const noNodes = new Set<PoolNode>()
const noMarks: readonly Mark[] = []

/** An entry of the pool among those that it builds on, and that build on it. */
export class PoolNode implements Placed {
  place = -1
  readonly entry: PoolEntry
  /** Number of the addition: ancestors have lower ones. */
  readonly order: number
  /** Comes before all fees where nothing is missing before it. */
  readonly first: boolean
  /** Fee and bytes of the transaction itself. */
  readonly price: Priced
  readonly mark: Mark = { node: this }
  readonly parents: Set<PoolNode>
  readonly children = new Set<PoolNode>()
  /** Marks of all ancestors that it had when it was added. */
  readonly ancestorMarks: readonly Mark[]
  /** The pooled parent that pays least: it is for this one that the fee of a child, and of all that the child carries, counts. */
  carrier: PoolNode | undefined
  #carried: Priced
  #worth: Priced

  constructor(entry: PoolEntry, order: number, parents: readonly PoolNode[]) {
    const { transaction, fee } = entry
    this.entry = entry
    this.order = order
    this.first = policyOf(transaction).first === true
    this.price = priced(fee, transaction.bytes.length)
    this.#carried = this.price
    this.#worth = this.price
    this.parents = parents.length === 0 ? noNodes : new Set(parents)
    this.ancestorMarks = parents.length === 0 ? noMarks : Array.from(ancestorsOf(parents), ({ mark }) => mark)
  }

  /** Fee and bytes with the package that counts for it: the children that it carries, with their packages. */
  get carried(): Priced {
    return this.#carried
  }

  /** Price of a byte that the pool gets for keeping it: its own price of a byte or that of its package, whichever is higher. */
  get worth(): Priced {
    return this.#worth
  }

  /** Adds to its package, or with -1 takes from it. */
  carry({ fee, bytes }: Paid, sign: 1 | -1): void {
    const { fee: sum, bytes: size } = this.#carried
    this.#carried = priced(sign === 1 ? sum + fee : sum - fee, size + sign * bytes)
    this.#worth = compareRates(this.#carried, this.price) > 0 ? this.#carried : this.price
  }

  /** Ancestors that are still pooled. */
  *ancestors(): Generator<PoolNode> {
    for (const { node } of this.ancestorMarks) if (node !== undefined) yield node
  }
}

/** The given nodes and their ancestors; with `most`, not many more than so many. */
export function ancestorsOf(nodes: Iterable<PoolNode>, most = Infinity): Set<PoolNode> {
  const found = new Set<PoolNode>()
  for (const node of nodes) {
    if (found.size > most) break
    if (found.has(node)) continue
    found.add(node)
    for (const ancestor of node.ancestors()) found.add(ancestor)
  }
  return found
}

/** Whether one goes before another when the pool is full: it is worth less; of equal ones the later. */
export function isWorse(a: PoolNode, b: PoolNode): boolean {
  if (a.first !== b.first) return b.first
  const more = compareRates(a.worth, b.worth)
  return more < 0 || (more === 0 && a.order > b.order)
}

/** The parent that carries a node. */
export function carrierOf({ parents }: PoolNode): PoolNode | undefined {
  let least: PoolNode | undefined
  for (const parent of parents) if (least === undefined || paysLess(parent, least)) least = parent
  return least
}

function paysLess(a: PoolNode, b: PoolNode): boolean {
  const more = compareRates(a.price, b.price)
  return more < 0 || (more === 0 && a.order < b.order)
}
