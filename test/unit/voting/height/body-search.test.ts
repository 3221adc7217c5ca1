import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Block } from '../../../../src/base/primitives/block.js'
import { equalBytes } from '../../../../src/base/primitives/bytes.js'
import type { Hash } from '../../../../src/base/primitives/hash.js'
import { BodySearch } from '../../../../src/voting/height/body-search.js'
import { ProposedBodies } from '../../../../src/voting/proposed-bodies.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'

/** Body search of a validator whose chain is busy until the test lets it go on. */
class Bench {
  readonly test: TestChain
  readonly search: BodySearch
  readonly blocks: readonly Block[]
  readonly bodies: ProposedBodies
  readonly fetched: string[] = []
  readonly found: string[] = []
  /** What a peer serves instead of the body. */
  served: ((block: Block | undefined) => Uint8Array | undefined) | undefined
  /** Pauses that are not over. */
  readonly pauses = new Map<() => void, number>()
  readonly #working = new Set<Promise<void>>()
  wanted: Hash | undefined
  #release = () => {}

  constructor(test: TestChain, bodies: ProposedBodies, blocks: readonly Block[]) {
    this.test = test
    this.blocks = blocks
    this.bodies = bodies
    this.search = new BodySearch({
      ...test,
      bodies,
      height: 1,
      network: {
        broadcast: () => {},
        fetch: async (hash) => {
          const block = blocks.find(({ header }) => equalBytes(header.hash, hash))
          this.fetched.push(block?.hash as string)
          return this.served === undefined ? block?.bytes : this.served(block)
        },
      },
      wanted: (hash) => this.wanted !== undefined && equalBytes(this.wanted, hash),
      keep: ({ hash, height }, bytes) => bodies.put({ hash, height } as Block['header'], bytes),
      found: ({ id }, verdict) => void this.found.push(`${id} ${verdict}`),
      after: (milliseconds, callback) => {
        this.pauses.set(callback, milliseconds)
        return () => this.pauses.delete(callback)
      },
      track: (work) => void this.#working.add(work),
    })
  }

  static async open(count: number): Promise<Bench> {
    const test = await TestChain.open({})
    const tip = () => ({ height: test.chain.tip.header.height, hash: test.chain.tip.header.hash })
    const blocks = Array.from({ length: count }, () => craftBlock(test.chain))
    return new Bench(test, await ProposedBodies.open(test.database, tip), blocks)
  }

  hold(): void {
    void this.test.chain.exclusive(() => new Promise<void>((resolve) => (this.#release = resolve)))
  }

  /** The chain goes on, and all that can be done is done. */
  async release(): Promise<void> {
    this.#release()
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }

  /** The present pauses are over. */
  async pass(): Promise<void> {
    const over = [...this.pauses.keys()]
    this.pauses.clear()
    over.forEach((callback) => callback())
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }

  /** A view begins, and a message names a block. */
  async name({ header }: Block): Promise<void> {
    this.wanted = header.hash
    this.search.seek(header.hash, header)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  }

  async close(): Promise<void> {
    this.search.close()
    await this.release()
    await Promise.all(this.#working)
    await this.test.close()
  }
}

describe('bodies of blocks that are voted on', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await Bench.open(6)
  })
  afterEach(() => bench.close())

  it('are not checked when their view is over before their turn comes, and are at hand when they are named again', async () => {
    const [first, second] = bench.blocks as [Block, Block]
    bench.hold()
    await bench.name(first)
    await bench.name(second)
    let isIdle = false
    void bench.search.idle().then(() => (isIdle = true))
    await bench.pass()
    expect([bench.search.busy, isIdle]).toEqual([true, false])
    await bench.release()
    expect([bench.search.busy, isIdle]).toEqual([false, true])
    expect(bench.found).toEqual([`${second.hash} valid`])
    expect(bench.search.proposable?.id).toBe(second.hash)
    await bench.name(first)
    await bench.release()
    expect(bench.found).toEqual([`${second.hash} valid`, `${first.hash} valid`])
    expect(bench.search.proposable?.id).toBe(first.hash)
    expect(bench.fetched).toEqual([first.hash, second.hash])
  })

  it('are not checked after the end, and at once where their view is over and another one names them', async () => {
    const [first, second] = bench.blocks as [Block, Block]
    const { chain } = bench.test
    const prepare = chain.prepare.bind(chain)
    const begun: boolean[] = []
    chain.prepare = (bytes, wanted) =>
      prepare(bytes, () => {
        begun.push(wanted?.() ?? true)
        bench.wanted = first.header.hash
        return begun.at(-1) === true
      })
    bench.hold()
    await bench.name(first)
    bench.wanted = undefined
    await bench.release()
    expect([begun, bench.found, bench.pauses.size]).toEqual([[false, true], [`${first.hash} valid`], 0])
    bench.hold()
    await bench.name(second)
    bench.search.close()
    await bench.release()
    expect(begun).toEqual([false, true, false])
  })

  it('are fetched anew where a body that was kept unchecked is another one under their header', async () => {
    const [first, second] = bench.blocks as [Block, Block]
    const { header, auxPow, transactions } = first
    bench.served = () => new Block(header, auxPow, [...transactions, ...transactions]).bytes
    bench.hold()
    await bench.name(first)
    bench.served = undefined
    await bench.name(second)
    await bench.release()
    await bench.name(first)
    await bench.release()
    expect([bench.fetched.at(-1), bench.found]).toEqual([second.hash, [`${second.hash} valid`]])
    await bench.pass()
    expect([bench.fetched.at(-1), bench.found.at(-1)]).toEqual([first.hash, `${first.hash} valid`])
  })

  it('are fetched and checked once more where they made room for others', async () => {
    const [first] = bench.blocks as [Block]
    await bench.name(first)
    await bench.release()
    for (let i = 0; i < 16; i++) {
      const other = craftBlock(bench.test.chain)
      await bench.bodies.put(other.header, other.bytes)
    }
    expect([bench.bodies.has(first.header.hash), bench.search.proposable]).toEqual([false, undefined])
    await bench.name(first)
    await bench.release()
    expect([bench.fetched, bench.found]).toEqual([
      [first.hash, first.hash],
      [`${first.hash} valid`, `${first.hash} valid`],
    ])
    expect(bench.bodies.has(first.header.hash)).toBe(true)
  })

  it('are checked to the end once that has begun, and may be proposed then', async () => {
    const [first] = bench.blocks as [Block]
    bench.wanted = first.header.hash
    const { chain } = bench.test
    const prepare = chain.prepare.bind(chain)
    chain.prepare = (bytes, wanted) =>
      prepare(bytes, () => {
        const begun = wanted?.() ?? true
        bench.wanted = undefined
        return begun
      })
    bench.search.seek(first.header.hash, first.header)
    await bench.release()
    expect(bench.wanted).toBeUndefined()
    expect(bench.search.proposable?.id).toBe(first.hash)
  })

  it('cost no more than one check a view, whatever order their names come in', async () => {
    const seed = Date.now() % 1_000_000
    const random = new SeededRandom(seed)
    const { chain } = bench.test
    const prepare = chain.prepare.bind(chain)
    let checks = 0
    chain.prepare = (bytes, wanted) => prepare(bytes, () => (wanted?.() ?? true) && ++checks > 0)
    for (let round = 0; round < 20; round++) {
      const before = checks
      bench.hold()
      const names = Array.from({ length: 1 + random.below(6) }, () => bench.blocks[random.below(6)] as Block)
      for (const block of names) await bench.name(block)
      await bench.release()
      expect(checks - before, `seed ${seed}, round ${round}`).toBeLessThanOrEqual(1)
      expect(bench.search.proposable?.id, `seed ${seed}, round ${round}`).toBe(names.at(-1)?.hash)
      expect(bench.search.busy).toBe(false)
    }
  })

  it.each<[string, (bench: Bench) => Bench['served']]>([
    ['no peer has', () => () => undefined],
    [
      'a peer gives another for',
      ({ blocks }) =>
        () =>
          blocks[1]?.bytes,
    ],
  ])('that %s are asked for again after half a second, until they come', async (_, served) => {
    const [first] = bench.blocks as [Block]
    bench.served = served(bench)
    await bench.name(first)
    for (let asked = 1; asked < 4; asked++) {
      expect([bench.fetched.length, [...bench.pauses.values()], bench.found]).toEqual([asked, [500], []])
      await bench.pass()
    }
    bench.served = undefined
    await bench.pass()
    expect([bench.pauses.size, bench.found]).toEqual([0, [`${first.hash} valid`]])
  })

  it('are not asked for any more once their view is over, nor after the end', async () => {
    const [first, second] = bench.blocks as [Block, Block]
    bench.served = () => undefined
    await bench.name(first)
    await bench.name(second)
    for (let i = 0; i < 3; i++) await bench.pass()
    expect(bench.fetched.slice(-2)).toEqual([second.hash, second.hash])
    const asked = bench.fetched.length
    bench.search.close()
    await bench.pass()
    expect([bench.fetched.length, bench.pauses.size, bench.found]).toEqual([asked, 0, []])
    expect(await bench.search.body(first.header.hash)).toBeUndefined()
  })
})
