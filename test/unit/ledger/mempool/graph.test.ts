import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noWork } from '../../../../src/ledger/consensus/signature-work.js'
import type { DidState } from '../../../../src/identity/did/state.js'
import { PoolGraph } from '../../../../src/ledger/mempool/graph.js'
import type { Package } from '../../../../src/ledger/mempool/packages.js'
import type { PoolEntry } from '../../../../src/ledger/mempool/pool-entry.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'

/** The state after a first operation, with a document without keys. */
function stateOf(id: string): DidState {
  const document = {
    id,
    expiresAt: 0,
    authentication: new Map(),
    authorization: new Map(),
    control: undefined,
    credentials: new Set<string>(),
  }
  return { status: 'valid', operationCount: 1, documentPayloadSize: 0, lastTxid: '', documentTxid: '', document }
}

/** An entry that spends an output of each of these others; `number` makes it like no other. */
function entryOf(number: number, parents: readonly PoolEntry[], fee: bigint, did?: string): PoolEntry {
  const transaction = new Transaction({
    version: 0,
    payloadVersion: 0,
    payload: { type: 3, recordType: '', content: Uint8Array.of(number) },
    attributes: [],
    inputs: parents.map((parent) => ({ txid: parent.transaction.hash, index: number, sequence: 0 })),
    outputs: [],
    lockTime: 0,
    programs: [],
  })
  const entry = { transaction, fee, arrival: number, work: noWork }
  return did === undefined ? entry : { ...entry, did: { id: did, state: stateOf(did), issuerKeys: [], ownBytes: 0 } }
}

const numbers = (entries: Iterable<PoolEntry>) => Array.from(entries, ({ arrival }) => arrival)
const ordered = (packages: Iterable<Package | undefined>) => numbers([...packages].flatMap((one) => one?.entries ?? []))

interface Model {
  readonly entry: PoolEntry
  readonly parents: readonly number[]
}

/** Everything reachable over `next`, from these numbers, without them. */
function reach(start: readonly number[], next: (number: number) => readonly number[]): Set<number> {
  const seen = new Set<number>()
  const open = start.flatMap((number) => next(number))
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (seen.has(number)) continue
    seen.add(number)
    open.push(...next(number))
  }
  return seen
}

describe('the graph of the pool', () => {
  const plan = fc.array(
    fc.record({
      parents: fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 3 }),
      fee: fc.bigInt({ min: 0n, max: 50n }),
      did: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
      remove: fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
    }),
    { maxLength: 25 },
  )

  it('knows ancestors, descendants and a mineable order through additions and removals', () => {
    fc.assert(
      fc.property(plan, (steps) => {
        const graph = new PoolGraph()
        const model = new Map<number, Model>()
        steps.forEach(({ parents, fee, did, remove }, number) => {
          const present = parents.filter((parent) => model.has(parent))
          const entry = entryOf(
            number,
            present.map((parent) => (model.get(parent) as Model).entry),
            fee,
            did,
          )
          const before = [...model].filter(([, other]) => did !== undefined && other.entry.did?.id === did)
          const last = before.at(-1)?.[0]
          const all = [...new Set(last === undefined ? present : [...present, last])]
          const ancestors = reach([-1], (at) => (at === -1 ? all : (model.get(at)?.parents ?? [])))
          expect(new Set(numbers(graph.ancestors(entry.transaction, did)))).toEqual(ancestors)
          graph.add(entry)
          model.set(number, { entry, parents: all })
          const gone = remove === undefined ? undefined : model.get(remove)
          if (remove !== undefined && gone !== undefined) {
            const children = (at: number) =>
              [...model].filter(([, one]) => one.parents.includes(at)).map(([one]) => one)
            const family = new Set([remove, ...reach([remove], children)])
            expect(new Set(numbers(graph.withDescendants([gone.entry])))).toEqual(family)
            for (const one of family) {
              graph.remove((model.get(one) as Model).entry)
              model.delete(one)
            }
          }
        })
        expect(numbers(graph.entries())).toEqual([...model.keys()])
        expect(graph.bytes).toBe(
          [...model.values()].reduce((sum, { entry }) => sum + entry.transaction.bytes.length, 0),
        )
        const order = ordered(graph.byFeeRate())
        expect([...order].sort((a, b) => a - b)).toEqual([...model.keys()])
        const seen = new Set<number>()
        for (const number of order) {
          for (const parent of model.get(number)?.parents ?? []) expect(seen.has(parent)).toBe(true)
          seen.add(number)
        }
        for (const { entry } of model.values()) {
          for (const input of entry.transaction.inputs) expect(graph.spender(input)).toBe(entry)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('puts the highest fee rate first where nothing else decides, and proofs of side-chain work before all', () => {
    const graph = new PoolGraph()
    const low = entryOf(1, [], 1n)
    const high = entryOf(2, [], 100n)
    const parent = entryOf(3, [], 2n)
    const child = entryOf(4, [parent], 1000n)
    const pow = new Transaction({
      version: 0,
      payloadVersion: 0,
      payload: {
        type: 5,
        sideBlockHash: new Uint8Array(32),
        sideGenesisHash: new Uint8Array(32).fill(1),
        blockHeight: 1,
        signedData: new Uint8Array(64),
      },
      attributes: [],
      inputs: [],
      outputs: [],
      lockTime: 0,
      programs: [],
    })
    for (const entry of [low, high, parent, child]) graph.add(entry)
    graph.add({ transaction: pow, fee: 0n, arrival: 5, work: noWork })
    expect(ordered(graph.byFeeRate())).toEqual([5, 3, 4, 2, 1])
    expect(graph.ofSubject('01'.repeat(32))?.arrival).toBe(5)
    expect(graph.ofSubject('00'.repeat(32))).toBe(undefined)
  })

  it('finds a leaf below each entry, and none of one that is not pooled', () => {
    const graph = new PoolGraph()
    const [first, other] = [entryOf(1, [], 1n), entryOf(9, [], 1n)]
    const second = entryOf(2, [first], 1n)
    const third = entryOf(3, [second], 1n)
    for (const entry of [first, second, third]) graph.add(entry)
    expect([first, second, third, other].map((entry) => graph.leafOf(entry)?.arrival)).toEqual([3, 3, 3, undefined])
  })

  it('lets a child count for another parent when the one that carried it goes', () => {
    const graph = new PoolGraph()
    const [cheap, dearer, honest] = [entryOf(1, [], 1n), entryOf(2, [], 2n), entryOf(3, [], 100n)]
    const child = entryOf(4, [cheap, dearer], 10_000n)
    for (const entry of [cheap, dearer, honest, child]) graph.add(entry)
    // With the child the cheapest is worth the most; the second has nothing but its own.
    expect(graph.worst?.entry).toBe(dearer)
    graph.remove(cheap)
    expect(graph.worst?.entry).toBe(honest)
    graph.remove(child)
    expect(graph.worst?.entry).toBe(dearer)
  })

  it('counts ancestors as if those of a set were gone', () => {
    const graph = new PoolGraph()
    const funding = entryOf(1, [], 1n)
    const create = entryOf(2, [], 1n, 'a')
    const update = entryOf(3, [funding], 1n, 'a')
    for (const entry of [funding, create, update]) graph.add(entry)
    const next = entryOf(4, [], 1n, 'a').transaction
    expect(numbers(graph.ancestors(next, 'a'))).toEqual([1, 2, 3])
    expect(numbers(graph.ancestors(next, 'a', new Set([update])))).toEqual([2])
    expect(numbers(graph.operations('a'))).toEqual([2, 3])
  })
})
