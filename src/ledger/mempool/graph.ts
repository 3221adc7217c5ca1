import { type Coin, coinOf } from '../consensus/ledger.js'
import { InvariantError } from '../../base/errors/rule-error.js'
import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { outpointKey } from '../../base/primitives/input.js'
import type { Steps } from '../../base/primitives/steps.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { Outpoint } from '../../base/primitives/transaction-fields.js'
import { type Changed, Dependents, type IssuerStates } from './dependents.js'
import type { Paid } from './fee-rate.js'
import { Heap } from './heap.js'
import { type Package, packagesOf } from './packages.js'
import type { PoolEntry, PoolIndex } from './pool-entry.js'
import { ancestorsOf, carrierOf, isWorse, PoolNode } from './pool-node.js'
import { policyOf } from './types/all-policies.js'

/** Entries to be evaluated again. */
export interface Touched {
  /** Operations of DIDs that changed: most of them hold. */
  readonly own: readonly PoolEntry[]
  readonly others: readonly PoolEntry[]
}

/** Pooled transactions and their dependencies. Pure bookkeeping without rules. */
export class PoolGraph implements PoolIndex {
  readonly #nodes = new Map<string, PoolNode>()
  /** The order in which entries leave a full pool. */
  readonly #worst = new Heap<PoolNode>(isWorse)
  readonly #spenders = new Map<string, string>()
  readonly #operations = new Map<string, string[]>()
  readonly #subjects = new Map<string, string>()
  readonly #dependents: Dependents
  #bytes = 0
  #additions: number

  /** Continues the count of additions of a graph that it replaces. `documentShare`: as in the policy. */
  constructor(additions = 0, documentShare?: number) {
    this.#additions = additions
    this.#dependents = new Dependents(documentShare)
  }

  get size(): number {
    return this.#nodes.size
  }

  /** Bytes of all transactions. */
  get bytes(): number {
    return this.#bytes
  }

  /** Number of additions so far. */
  get additions(): number {
    return this.#additions
  }

  /** In order of arrival. */
  *entries(): Generator<PoolEntry> {
    for (const { entry } of this.#nodes.values()) yield entry
  }

  /**
   * Yields packages for a block, the best fee rate first, see {@link packagesOf}. Entries removed between two steps are skipped, later
   * additions are left out, and each entry comes once; undefined is a pause.
   */
  byFeeRate(): Generator<Package | undefined> {
    return packagesOf(this.#nodes.values(), this.#additions)
  }

  /** The entry that is worth least, and what the pool gets for it; undefined when empty. */
  get worst(): { readonly entry: PoolEntry; readonly worth: Paid } | undefined {
    return this.#worst.first
  }

  /** An entry without descendants among a pooled one and what builds on it; undefined if it is not pooled. */
  leafOf({ transaction }: PoolEntry): PoolEntry | undefined {
    let leaf = this.#nodes.get(transaction.hashKey)
    for (let next = leaf; next !== undefined; [next] = next.children) leaf = next
    return leaf?.entry
  }

  /** Whether others build on an entry: spend its outputs, or follow its operation. */
  isBuiltUpon({ transaction }: PoolEntry): boolean {
    return (this.#nodes.get(transaction.hashKey)?.children.size ?? 0) > 0
  }

  /** Whether a pooled entry is another one, or builds on it. */
  isWithin({ transaction }: PoolEntry, other: PoolEntry): boolean {
    const node = this.#nodes.get(transaction.hashKey)
    if (node === undefined) return false
    return [node, ...node.ancestors()].some(({ entry }) => entry === other)
  }

  get(txid: Hash): PoolEntry | undefined {
    return this.#nodes.get(mapKey(txid))?.entry
  }

  /** Direct parents: by an output, or by the previous operation of the same DID. */
  parents({ transaction }: PoolEntry): readonly PoolEntry[] {
    return entriesOf(this.#nodes.get(transaction.hashKey)?.parents ?? new Set())
  }

  /** The entry that spends an outpoint. */
  spender(outpoint: Outpoint): PoolEntry | undefined {
    return this.#entry(this.#spenders.get(outpointKey(outpoint)))
  }

  /** Output of a pooled transaction as the coin that it becomes at `height`. */
  coin({ txid, index }: Outpoint, height: number): Coin | undefined {
    const output = this.get(txid)?.transaction.outputs[index]
    return output && coinOf(output, { height, coinbase: false })
  }

  /** Pending operations of a DID in order of application. */
  operations(did: string): PoolEntry[] {
    return (this.#operations.get(did) ?? []).map((id) => this.#entry(id) as PoolEntry)
  }

  /** The one transaction of a subject, as its type policy names it. */
  ofSubject(subject: string): PoolEntry | undefined {
    return this.#entry(this.#subjects.get(subject))
  }

  /**
   * Finds the entries that changed DIDs and credentials may have made invalid, in steps: those of which the own DID changed, and
   * those of which another fact does not hold any more. The work is in proportion to what changed, not to the pool.
   */
  *touchedSteps(changed: Changed, states: IssuerStates): Steps<Touched> {
    const own = new Set<PoolEntry>()
    const others = new Set<PoolEntry>()
    for (const did of changed.dids) {
      for (const entry of this.operations(did)) own.add(entry)
      yield
    }
    yield* this.#dependents.touchedSteps(changed, states, (entry) => {
      if (!own.has(entry)) others.add(entry)
    })
    return { own: [...own], others: [...others] }
  }

  /**
   * Ancestors, direct and indirect, in order of arrival; with `most`, not many more than so many. `without`: operations of its
   * DID that it is not to follow.
   */
  ancestors(transaction: Transaction, did?: string, without?: ReadonlySet<PoolEntry>, most?: number): PoolEntry[] {
    return entriesOf(ancestorsOf(this.#parentsOf(transaction, did, without), most))
  }

  /** The given entries and their descendants, in order of arrival. */
  withDescendants(entries: readonly PoolEntry[]): PoolEntry[] {
    const seen = new Set<PoolNode>()
    const open = entries.flatMap(({ transaction }) => this.#nodes.get(transaction.hashKey) ?? [])
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (seen.has(node)) continue
      seen.add(node)
      for (const child of node.children) open.push(child)
    }
    return entriesOf(seen)
  }

  /** Adds an entry that spends nothing that another one spends. */
  add(entry: PoolEntry): void {
    const { transaction, did } = entry
    const rival = transaction.inputs.map((input) => this.spender(input)).find((spender) => spender !== undefined)
    if (rival !== undefined)
      throw new InvariantError(`${transaction.txid} spends what ${rival.transaction.txid} spends`)
    const id = transaction.hashKey
    const node = new PoolNode(entry, this.#additions++, this.#parentsOf(transaction, did?.id))
    this.#nodes.set(id, node)
    for (const parent of node.parents) parent.children.add(node)
    this.#worst.add(node)
    this.#carry(node, carrierOf(node))
    for (const input of transaction.inputs) this.#spenders.set(outpointKey(input), id)
    if (did !== undefined) this.#operations.set(did.id, [...(this.#operations.get(did.id) ?? []), id])
    const subject = policyOf(transaction).subject?.(transaction.payload)
    if (subject !== undefined) this.#subjects.set(subject, id)
    this.#bytes += transaction.bytes.length
    this.#dependents.add(entry)
  }

  /** Removes one entry; its descendants stay and are up to the caller. */
  remove({ transaction, did }: PoolEntry): void {
    const id = transaction.hashKey
    const node = this.#nodes.get(id)
    if (node === undefined) return
    this.#nodes.delete(id)
    this.#unlink(node)
    for (const input of transaction.inputs) this.#spenders.delete(outpointKey(input))
    if (did !== undefined) {
      const left = (this.#operations.get(did.id) ?? []).filter((operation) => operation !== id)
      if (left.length === 0) this.#operations.delete(did.id)
      else this.#operations.set(did.id, left)
    }
    const subject = policyOf(transaction).subject?.(transaction.payload)
    if (subject !== undefined) this.#subjects.delete(subject)
    this.#bytes -= transaction.bytes.length
    this.#dependents.remove(node.entry)
  }

  /** Takes a node out from among its relatives: children that it carried are carried by another parent. */
  #unlink(node: PoolNode): void {
    node.mark.node = undefined
    this.#worst.remove(node)
    this.#carry(node, undefined)
    for (const parent of node.parents) parent.children.delete(node)
    for (const child of node.children) {
      child.parents.delete(node)
      if (child.carrier === node) this.#carry(child, carrierOf(child))
    }
  }

  /** Lets a node be carried by `carrier`, and no longer by the one before. */
  #carry(node: PoolNode, carrier: PoolNode | undefined): void {
    this.#count(node.carrier, node.carried, -1)
    node.carrier = carrier
    this.#count(carrier, node.carried, 1)
  }

  /** Counts a package for a node and all that carry it. */
  #count(node: PoolNode | undefined, carried: Paid, sign: 1 | -1): void {
    for (let at = node; at !== undefined; at = at.carrier) {
      at.carry(carried, sign)
      if (at.place >= 0) this.#worst.moved(at)
    }
  }

  #entry(id: string | undefined): PoolEntry | undefined {
    return id === undefined ? undefined : this.#nodes.get(id)?.entry
  }

  /** By an output, or as the previous operation of the same DID. */
  #parentsOf(transaction: Transaction, did: string | undefined, without?: ReadonlySet<PoolEntry>): PoolNode[] {
    const outputs = transaction.inputs.flatMap(({ txid }) => this.#nodes.get(mapKey(txid)) ?? [])
    const operations = did === undefined ? [] : (this.#operations.get(did) ?? [])
    const last = operations.findLast((id) => without?.has(this.#entry(id) as PoolEntry) !== true)
    const operation = last === undefined ? undefined : this.#nodes.get(last)
    return operation === undefined ? outputs : [...outputs, operation]
  }
}

/** In order of arrival. */
function entriesOf(nodes: ReadonlySet<PoolNode>): PoolEntry[] {
  return [...nodes].sort((a, b) => a.order - b.order).map(({ entry }) => entry)
}
