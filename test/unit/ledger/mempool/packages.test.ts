import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Paid } from '../../../../src/ledger/mempool/fee-rate.js'
import { PoolGraph } from '../../../../src/ledger/mempool/graph.js'
import type { Package } from '../../../../src/ledger/mempool/packages.js'
import type { PoolEntry } from '../../../../src/ledger/mempool/pool-entry.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { runs } from '../../../support/builders/arbitraries.js'
import { fieldsOf } from '../../../support/builders/blocks.js'
import { bareEntry, recordEntry } from '../../../support/builders/pool-entries.js'
import { rounds } from '../../../support/process/thorough.js'

/** Additions, some with the removal of an earlier one and of what builds on it, or of that one alone. */
const plan = fc.array(
  fc.record({
    parents: fc.uniqueArray(fc.nat(25), { maxLength: 3 }),
    fee: fc.bigInt({ min: 0n, max: 1000n }),
    size: fc.integer({ min: 4, max: 300 }),
    remove: fc.option(fc.nat(25), { nil: undefined, freq: 4 }),
    alone: fc.boolean(),
  }),
  { minLength: 1, maxLength: 25 },
)
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

/** A graph after a plan; `alone`: whether some entries go without what builds on them. */
function graphOf(steps: Plan, { alone }: { alone: boolean }): PoolGraph {
  const graph = new PoolGraph()
  const all: PoolEntry[] = []
  const pooled = (index: number) => {
    const entry = all[index]
    return entry !== undefined && graph.get(entry.transaction.hash) === entry ? entry : undefined
  }
  steps.forEach((step, number) => {
    const entry = recordEntry(
      number,
      step.parents.flatMap((index) => pooled(index) ?? []),
      step.fee,
      step.size,
    )
    all.push(entry)
    graph.add(entry)
    const going = step.remove === undefined ? undefined : pooled(step.remove)
    if (going === undefined) return
    for (const one of alone && step.alone ? [going] : graph.withDescendants([going])) graph.remove(one)
  })
  return graph
}

const bytesOf = ({ transaction }: PoolEntry) => transaction.bytes.length
const sumOf = (entries: Iterable<PoolEntry>): Paid => {
  const sum = { fee: 0n, bytes: 0 }
  for (const entry of entries) {
    sum.fee += entry.fee
    sum.bytes += bytesOf(entry)
  }
  return sum
}
/** Above 0 where `a` pays more for a byte. */
const compare = (a: Paid, b: Paid) => Number(a.fee * BigInt(b.bytes) - b.fee * BigInt(a.bytes))

/** What an entry is worth by its definition, computed afresh. */
function worthOf(graph: PoolGraph): (entry: PoolEntry) => Paid {
  const entries = [...graph.entries()]
  const carrier = new Map<PoolEntry, PoolEntry | undefined>()
  for (const entry of entries) {
    const byOwn = [...graph.parents(entry)].sort((a, b) => compare(sumOf([a]), sumOf([b])) || a.arrival - b.arrival)
    carrier.set(entry, byOwn[0])
  }
  const packageOf = (entry: PoolEntry): PoolEntry[] => {
    return [entry, ...entries.filter((one) => carrier.get(one) === entry).flatMap(packageOf)]
  }
  return (entry) => {
    const [own, carried] = [sumOf([entry]), sumOf(packageOf(entry))]
    return compare(carried, own) > 0 ? carried : own
  }
}

/** The entries that are connected with one. */
function componentOf(graph: PoolGraph, start: PoolEntry): Set<PoolEntry> {
  const found = new Set([start])
  for (const entry of found) {
    for (const one of [...graph.parents(entry), ...graph.entries()]) {
      if (graph.parents(entry).includes(one) || graph.parents(one).includes(entry)) found.add(one)
    }
  }
  return found
}

describe('what goes first when the pool is full', () => {
  it('is worth least, and no set that stands for itself pays less: sums are those computed afresh', () => {
    fc.assert(
      fc.property(plan, (steps) => {
        const graph = graphOf(steps, { alone: true })
        for (let { worst } = graph; worst !== undefined; { worst } = graph) {
          const worth = worthOf(graph)
          const last = worst
          expect(compare(last.worth, worth(last.entry))).toBe(0)
          for (const entry of graph.entries()) {
            expect(compare(last.worth, worth(entry))).toBeLessThanOrEqual(0)
            expect(compare(last.worth, sumOf(componentOf(graph, entry)))).toBeLessThanOrEqual(0)
          }
          const family = new Set(graph.withDescendants([last.entry]))
          for (let leaf = graph.leafOf(last.entry); leaf !== undefined; leaf = graph.leafOf(last.entry)) {
            expect(family.delete(leaf)).toBe(true)
            expect(graph.withDescendants([leaf])).toEqual([leaf])
            graph.remove(leaf)
          }
          expect(family.size).toBe(0)
        }
        expect([graph.size, graph.bytes]).toEqual([0, 0])
      }),
      runs,
    )
  })

  it('is junk, however a dear child hangs on it', () => {
    // A chain, and many parents of one child: in each the child alone pays more than what is honest, all together far less.
    const shapes = [
      (i: number, made: PoolEntry[]) => (i > 0 ? [made[i - 1] as PoolEntry] : []),
      (i: number, made: PoolEntry[]) => (i === 24 ? made : []),
    ]
    for (const parentsOf of shapes) {
      const graph = new PoolGraph()
      const honest = recordEntry(99, [], 450n, 20)
      graph.add(honest)
      const made: PoolEntry[] = []
      for (let i = 0; i <= 24; i++) {
        const entry = recordEntry(i, parentsOf(i, made), i === 24 ? 400_000n : 100n, i === 24 ? 40 : 198_000)
        graph.add(entry)
        made.push(entry)
      }
      while (graph.size > 1) {
        const { entry } = graph.worst as NonNullable<PoolGraph['worst']>
        expect(entry).not.toBe(honest)
        for (let leaf = graph.leafOf(entry); leaf !== undefined; leaf = graph.leafOf(entry)) graph.remove(leaf)
      }
      expect([...graph.entries()]).toEqual([honest])
    }
  })
})

describe('what a block takes', () => {
  it('is always the package that pays most of those that fit, and no prefix pays less than what is left out', () => {
    fc.assert(
      fc.property(plan, fc.integer({ min: 50, max: 4000 }), (steps, room) => {
        const graph = graphOf(steps, { alone: false })
        const ancestors = (entry: PoolEntry) => new Set(ancestorsOf(graph, entry))
        const taken: PoolEntry[] = []
        /** By entry not taken: the packages taken since what it misses last changed. */
        const since = new Map<PoolEntry, PoolEntry[]>([...graph.entries()].map((entry) => [entry, []]))
        const missing = (entry: PoolEntry) => [...ancestors(entry), entry].filter((one) => !taken.includes(one))
        for (const offered of graph.byFeeRate()) {
          if (offered === undefined) continue
          const { entries } = offered
          const left = room - sumOf(taken).bytes
          expect(new Set(entries)).toEqual(new Set(missing(entries.at(-1) as PoolEntry)))
          expect([...entries].sort((a, b) => a.arrival - b.arrival)).toEqual(entries)
          if (sumOf(entries).bytes > left) {
            offered.leave()
            continue
          }
          for (const [other] of since) {
            const rival = sumOf(missing(other))
            if (rival.bytes <= left) expect(compare(sumOf(entries), rival)).toBeGreaterThanOrEqual(0)
          }
          taken.push(...entries)
          for (const one of entries) since.delete(one)
          for (const [other, packages] of since) {
            if (entries.some((one) => ancestors(other).has(one))) packages.length = 0
            else packages.push(...entries)
            const rival = sumOf(missing(other))
            const fits = rival.bytes <= room - sumOf(taken).bytes
            if (fits && packages.length > 0) expect(compare(sumOf(packages), rival)).toBeGreaterThanOrEqual(0)
          }
        }
        // Nothing that still fits is left out.
        for (const [other] of since) expect(sumOf(missing(other)).bytes).toBeGreaterThan(room - sumOf(taken).bytes)
      }),
      runs,
    )
  })

  it('is sooner what builds on something that another took along', () => {
    const graph = new PoolGraph()
    const parent = recordEntry(0, [], 0n, 200)
    const dear = recordEntry(1, [parent], 9000n)
    const cheap = recordEntry(2, [parent], 1200n)
    const grandchild = recordEntry(3, [cheap], 1000n)
    // As long as a child with its input.
    const alone = recordEntry(4, [], 900n, 4 + 38)
    for (const entry of [parent, dear, cheap, grandchild, alone]) graph.add(entry)
    const offered = [...graph.byFeeRate()].flatMap((one) => (one === undefined ? [] : [one.entries]))
    expect(offered.map((entries) => entries.map(({ arrival }) => arrival))).toEqual([[0, 1], [2], [3], [4]])
  })

  it('is never again what was left out, nor what builds on it, but may be what it builds on', () => {
    const graph = new PoolGraph()
    const [parent, middle, child, other] = [
      recordEntry(0, [], 10n),
      ...[1, 2, 3].map((number) => recordEntry(number, [], 0n)),
    ] as [PoolEntry, PoolEntry, PoolEntry, PoolEntry]
    const between = recordEntry(11, [parent], 20n)
    const dear = recordEntry(12, [between], 9000n)
    for (const entry of [parent, between, dear, middle, child, other]) graph.add(entry)
    const offers: number[][] = []
    for (const offered of graph.byFeeRate()) {
      if (offered === undefined) continue
      offers.push(offered.entries.map(({ arrival }) => arrival))
      if (offered.entries.includes(between)) offered.leave(offered.entries.indexOf(between))
    }
    expect(offers).toEqual([[0, 11, 12], [0], [1], [2], [3]])
  })
})

describe('the order of packages', () => {
  /** Numbers of the packages that are offered; `each` may take entries out, add some, or leave a package. */
  function offersOf(graph: PoolGraph, each: (offered: Package, numbers: readonly number[]) => void = () => {}) {
    const offers: number[][] = []
    for (const offered of graph.byFeeRate()) {
      if (offered === undefined) continue
      const numbers = offered.entries.map(({ arrival }) => arrival)
      offers.push(numbers)
      each(offered, numbers)
    }
    return offers
  }
  const graphWith = (...entries: readonly PoolEntry[]) => {
    const graph = new PoolGraph()
    for (const entry of entries) graph.add(entry)
    return graph
  }

  it('goes by each transaction alone as soon as the dearer one before it is taken', () => {
    const [dear, alone] = [recordEntry(0, [], 10_000n), recordEntry(1, [], 1000n)]
    const [poor, rich] = [recordEntry(2, [dear], 1n), recordEntry(3, [alone], 500n)]
    expect(offersOf(graphWith(dear, alone, poor, rich))).toEqual([[0], [1], [3], [2]])
  })

  it('puts a package between two that stand alone', () => {
    const [high, low, base] = [recordEntry(0, [], 1000n), recordEntry(1, [], 10n), recordEntry(2, [], 1n)]
    expect(offersOf(graphWith(high, low, base, recordEntry(3, [base], 900n)))).toEqual([[0], [2, 3], [1]])
  })

  it('counts the bytes of all that a package takes', () => {
    const [high, low, large] = [recordEntry(0, [], 1000n), recordEntry(1, [], 10n), recordEntry(2, [], 1n, 6000)]
    expect(offersOf(graphWith(high, low, large, recordEntry(3, [large], 900n)))).toEqual([[0], [1], [2, 3]])
  })

  it('follows a change of what comes before, however far', () => {
    const parent = recordEntry(0, [], 0n, 2000)
    const [dear, middle] = [recordEntry(1, [parent], 1_000_000n), recordEntry(2, [parent], 0n)]
    const last = recordEntry(3, [middle], 30_000n)
    // Pays more than what is last does with all three, less than it does with the one in the middle.
    const alone = recordEntry(4, [], 1000n)
    expect(offersOf(graphWith(parent, dear, middle, last, alone))).toEqual([[0, 1], [2, 3], [4]])
  })

  it('follows an ancestor that leaves the pool meanwhile', () => {
    const first = recordEntry(0, [], 90_000n)
    const parent = recordEntry(1, [], 5000n)
    const child = recordEntry(2, [parent], 10n)
    const alone = recordEntry(3, [], 1000n)
    const graph = graphWith(first, parent, child, alone)
    expect(offersOf(graph, (_, [number]) => void (number === 0 && graph.remove(parent)))).toEqual([[0], [3], [2]])
  })

  it('leaves out what comes meanwhile, though it builds on what is taken', () => {
    const parent = recordEntry(0, [], 1000n)
    const graph = graphWith(parent, recordEntry(1, [parent], 1n), recordEntry(2, [], 10n))
    const add = (_: Package, [number]: readonly number[]) => {
      if (number === 0) graph.add(recordEntry(3, [parent], 5000n))
    }
    expect(offersOf(graph, add)).toEqual([[0], [2], [1]])
  })

  it('offers nothing that builds on a package that was left', () => {
    const left = recordEntry(0, [], 9000n)
    const child = recordEntry(1, [left], 1n)
    const graph = graphWith(left, child, recordEntry(2, [], 1n), recordEntry(3, [child], 1n))
    expect(offersOf(graph, (offered, [number]) => void (number === 0 && offered.leave()))).toEqual([[0], [2]])
  })

  it('is not disturbed by a package that was left when an ancestor of it is taken', () => {
    const parent = recordEntry(0, [], 4000n)
    const child = recordEntry(1, [parent], 4000n)
    const others = [2, 3, 4, 5].map((number) => recordEntry(number, [], BigInt(2600 - 300 * number)))
    const more = others.map((one, i) => recordEntry(6 + i, [one], 1n))
    const graph = graphWith(parent, child, ...others, ...more)
    const whole = offersOf(graph)
    expect(whole.flat()).toHaveLength(10)
    const leave = (offered: Package, numbers: readonly number[]) => void (numbers.includes(1) && offered.leave())
    expect(offersOf(graph, leave)).toEqual(whole)
  })

  it('begins with what goes before all fees, wherever it came', () => {
    const proof = (number: number): PoolEntry => {
      const hash = new Uint8Array(32).fill(number)
      const payload = { type: 5, sideBlockHash: hash, sideGenesisHash: hash, blockHeight: number } as const
      const { transaction } = recordEntry(number, [], 0n)
      const fields = { ...fieldsOf(transaction), payload: { ...payload, signedData: new Uint8Array(64) } }
      return { ...recordEntry(number, [], 0n), transaction: new Transaction(fields) }
    }
    for (let count = 2; count <= 5; count++) {
      for (let first = 0; first < count; first++) {
        for (let second = 0; second < count; second++) {
          const entries = Array.from({ length: count }, (_, i) => {
            return i === first || i === second ? proof(i) : recordEntry(i, [], BigInt(100 * i + 1))
          })
          const order = offersOf(graphWith(...entries)).flat()
          const proofs = [...new Set([first, second])].sort((a, b) => a - b)
          const rest = entries.map((_, i) => i).filter((i) => !proofs.includes(i))
          expect(order).toEqual([...proofs, ...rest.reverse()])
        }
      }
    }
  })
})

function ancestorsOf(graph: PoolGraph, entry: PoolEntry): PoolEntry[] {
  return graph.parents(entry).flatMap((parent) => [parent, ...ancestorsOf(graph, parent)])
}

describe('every walk over a large pool', () => {
  const count = rounds(18_000, 90_000)
  /** Milliseconds of this process for a piece of work. */
  const time = (work: () => void) => {
    const began = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 1000
  }
  const shapes = {
    'chains of 25': (number: number, made: readonly PoolEntry[]) =>
      number % 25 === 0 ? [] : [made[number - 1] as PoolEntry],
    'fans of 3,000': (number: number, made: readonly PoolEntry[]) =>
      number % 3000 === 0 ? [] : [made[number - (number % 3000)] as PoolEntry],
    'transfers that stand alone': () => [],
  }

  for (const [shape, parentsOf] of Object.entries(shapes)) {
    it(`gives way and evicts one by one: ${shape}`, { timeout: 120_000 }, () => {
      const graph = new PoolGraph()
      const made: PoolEntry[] = []
      for (let number = 0; number < count; number++) {
        made.push(bareEntry(number, parentsOf(number, made), BigInt(100 + ((number * 7919) % 5000))))
      }
      const adding = time(() => made.forEach((entry) => graph.add(entry)))
      let [offered, steps] = [0, 0]
      const walking = time(() => {
        for (const one of graph.byFeeRate()) {
          offered += one?.entries.length ?? 0
          steps++
        }
      })
      expect(offered).toBe(count)
      // Of 64 nodes at most in a step, as the heap is made, and then of one package.
      expect(steps).toBeGreaterThan(count / 64)
      let refused = 0
      for (const one of graph.byFeeRate()) {
        if (one === undefined) refused++
        else one.leave(0)
      }
      // What builds on what was left is passed over step by step as well.
      expect(refused).toBeGreaterThanOrEqual(made.filter((entry) => graph.parents(entry).length > 0).length)
      const evicting = time(() => {
        for (let left = 5000; left > 0; left--) {
          graph.remove(graph.leafOf((graph.worst as { entry: PoolEntry }).entry) as PoolEntry)
        }
      })
      expect(graph.size).toBe(count - 5000)
      // A step is far from the 10 ms of a turn, also on a machine with much else to do.
      expect(adding / count).toBeLessThan(1)
      expect(walking / steps).toBeLessThan(1)
      expect(evicting / 5000).toBeLessThan(1)
    })
  }

  it('ends one beyond the most ancestors, of thousands', () => {
    const graph = new PoolGraph()
    const parents = Array.from({ length: 800 }, (_, i) => recordEntry(i, [], 1n))
    for (const entry of parents) graph.add(entry)
    const child = recordEntry(900, parents, 1n)
    expect(graph.ancestors(child.transaction)).toHaveLength(800)
    expect(graph.ancestors(child.transaction, undefined, undefined, 25)).toHaveLength(26)
    graph.add(recordEntry(901, parents.slice(0, 25), 1n))
    expect(
      graph.ancestors(recordEntry(902, parents.slice(0, 25), 1n).transaction, undefined, undefined, 25),
    ).toHaveLength(25)
  })
})
