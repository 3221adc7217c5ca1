import { type Coin, coinOf } from '../consensus/ledger.js'
import { InvariantError } from '../errors/rule-error.js'
import { mapKey } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import { outpointKey } from '../primitives/input.js'
import type { Transaction } from '../primitives/transaction.js'
import type { Outpoint } from '../primitives/transaction-fields.js'
import { Heap } from './heap.js'
import type { PoolEntry, PoolIndex } from './pool-entry.js'
import { policyOf } from './types/all-policies.js'

interface Node {
  readonly id: string
  readonly entry: PoolEntry
  /** Number of the addition. */
  readonly order: number
  /** Sort key of {@link PoolGraph.byFeeRate}. */
  readonly rate: number
  /** Ids of pooled parents: by an output, or by the previous operation of the same DID. */
  readonly parents: Set<string>
  readonly children: Set<string>
}

const none: readonly Node[] = []

/** Pooled transactions and their dependencies. Pure bookkeeping without rules. */
export class PoolGraph implements PoolIndex {
  readonly #nodes = new Map<string, Node>()
  readonly #spenders = new Map<string, string>()
  readonly #operations = new Map<string, string[]>()
  readonly #subjects = new Map<string, string>()
  #bytes = 0
  #additions: number

  /** Continues the count of additions of a graph that it replaces. */
  constructor(additions = 0) {
    this.#additions = additions
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
   * Highest fee rate first, ancestors before descendants, types with priority before all others. Entries removed between
   * two steps are skipped, later additions are left out, and each entry comes once; undefined is a pause.
   */
  *byFeeRate(): Generator<PoolEntry | undefined> {
    const additions = this.#additions
    const best = yield* Heap.of(
      this.#nodes.values(),
      (a, b) => a.rate > b.rate || (a.rate === b.rate && a.order < b.order),
    )
    const done = new Set<string>()
    for (let first = best.take(); first !== undefined; first = best.take()) {
      if (first.order >= additions) continue
      const open = [first]
      for (let node = open.at(-1); node !== undefined; node = open.at(-1)) {
        if (done.has(node.id) || this.#nodes.get(node.id) !== node) {
          open.pop()
          continue
        }
        const missing = this.#nodesOf(node.parents).filter(({ id }) => !done.has(id))
        if (missing.length > 0) {
          open.push(...missing)
          continue
        }
        open.pop()
        done.add(node.id)
        yield node.entry
      }
    }
  }

  get(txid: Hash): PoolEntry | undefined {
    return this.#nodes.get(mapKey(txid))?.entry
  }

  /** Direct parents: by an output, or by the previous operation of the same DID. */
  parents({ transaction }: PoolEntry): readonly PoolEntry[] {
    const node = this.#nodes.get(transaction.hashKey)
    return node === undefined ? [] : this.#nodesOf(node.parents).map(({ entry }) => entry)
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

  /** Ancestors, direct and indirect, as if the entries of `without` were removed. */
  ancestors(transaction: Transaction, did?: string, without: ReadonlySet<PoolEntry> = new Set()): PoolEntry[] {
    return this.#closure(this.#parentsOf(transaction, did, without), (node) => node.parents)
  }

  /** The given entries and their descendants, in order of arrival. */
  withDescendants(entries: readonly PoolEntry[]): PoolEntry[] {
    const ids = entries.map(({ transaction }) => transaction.hashKey)
    return this.#closure(ids, (node) => node.children)
  }

  /** Adds an entry that spends nothing that another one spends. */
  add(entry: PoolEntry): void {
    const { transaction, did } = entry
    const rival = transaction.inputs.map((input) => this.spender(input)).find((spender) => spender !== undefined)
    if (rival !== undefined)
      throw new InvariantError(`${transaction.txid} spends what ${rival.transaction.txid} spends`)
    const id = transaction.hashKey
    const parents = new Set(this.#parentsOf(transaction, did?.id))
    this.#nodes.set(id, { id, entry, order: this.#additions++, rate: rateOf(entry), parents, children: new Set() })
    for (const parent of parents) this.#nodes.get(parent)?.children.add(id)
    for (const input of transaction.inputs) this.#spenders.set(outpointKey(input), id)
    if (did !== undefined) this.#operations.set(did.id, [...(this.#operations.get(did.id) ?? []), id])
    const subject = policyOf(transaction).subject?.(transaction.payload)
    if (subject !== undefined) this.#subjects.set(subject, id)
    this.#bytes += transaction.bytes.length
  }

  /** Removes one entry; its descendants stay and are up to the caller. */
  remove({ transaction, did }: PoolEntry): void {
    const id = transaction.hashKey
    const node = this.#nodes.get(id)
    if (node === undefined) return
    for (const parent of node.parents) this.#nodes.get(parent)?.children.delete(id)
    for (const child of node.children) this.#nodes.get(child)?.parents.delete(id)
    this.#nodes.delete(id)
    for (const input of transaction.inputs) this.#spenders.delete(outpointKey(input))
    if (did !== undefined) {
      const left = (this.#operations.get(did.id) ?? []).filter((operation) => operation !== id)
      if (left.length === 0) this.#operations.delete(did.id)
      else this.#operations.set(did.id, left)
    }
    const subject = policyOf(transaction).subject?.(transaction.payload)
    if (subject !== undefined) this.#subjects.delete(subject)
    this.#bytes -= transaction.bytes.length
  }

  #nodesOf(ids: ReadonlySet<string>): readonly Node[] {
    return ids.size === 0 ? none : [...ids].flatMap((id) => this.#nodes.get(id) ?? [])
  }

  #entry(id: string | undefined): PoolEntry | undefined {
    return id === undefined ? undefined : this.#nodes.get(id)?.entry
  }

  #parentsOf(transaction: Transaction, did: string | undefined, without?: ReadonlySet<PoolEntry>): string[] {
    const outputs = transaction.inputs.map(({ txid }) => mapKey(txid)).filter((id) => this.#nodes.has(id))
    const operations = did === undefined ? [] : (this.#operations.get(did) ?? [])
    const operation = operations.findLast((id) => without?.has(this.#entry(id) as PoolEntry) !== true)
    return operation === undefined ? outputs : [...outputs, operation]
  }

  #closure(start: readonly string[], next: (node: Node) => Iterable<string>): PoolEntry[] {
    const seen = new Set<Node>()
    const open = [...start]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const node = this.#nodes.get(id)
      if (node === undefined || seen.has(node)) continue
      seen.add(node)
      open.push(...next(node))
    }
    return [...seen].sort((a, b) => a.order - b.order).map(({ entry }) => entry)
  }
}

function rateOf({ fee, transaction }: PoolEntry): number {
  return policyOf(transaction).first ? Infinity : Number(fee) / transaction.bytes.length
}
