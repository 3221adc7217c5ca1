import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HeaderIndex } from '../../../../src/ledger/chain/header-index.js'
import { sideBlockLimit, SideBlocks } from '../../../../src/ledger/chain/side-blocks.js'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import type { Hash } from '../../../../src/base/primitives/hash.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { memoryStore, TestChain } from '../../../support/builders/chain.js'

const database = await Database.over(memoryStore())
const open = () => SideBlocks.open(database, new HeaderIndex(database))

/** Blocks by number; `on`: the one below, undefined where it is on the active chain. */
interface Planted {
  readonly on: number | undefined
  readonly work: bigint
  readonly size: number
}

function hashOf(number: number): Hash {
  const hash = new Uint8Array(32)
  new DataView(hash.buffer).setUint32(0, number + 1)
  return hash
}

function plant(side: SideBlocks, blocks: readonly Planted[]): void {
  blocks.forEach(({ on, work, size }, i) => {
    const header = { hash: hashOf(i), previous: on === undefined ? new Uint8Array(32) : hashOf(on), height: i }
    side.add({ header, chainWork: work, size, arrival: i })
  })
}

/** Blocks that go, one tip after another, by the text of the rule. */
function expected(
  blocks: readonly Planted[],
  count: number,
  work: bigint,
  kept: readonly number[],
): number[] | undefined {
  const stays = new Set<number>()
  for (const tip of kept) for (let i: number | undefined = tip; i !== undefined; i = blocks[i]?.on) stays.add(i)
  const left = new Set(blocks.keys())
  const going: number[] = []
  while (going.length < count) {
    const below = new Set([...left].map((i) => blocks[i]?.on))
    const tips = [...left].filter((i) => !stays.has(i) && !below.has(i) && (blocks[i]?.work ?? 0n) < work)
    const workAt = (i: number) => blocks[i]?.work ?? 0n
    const next = tips.sort((a, b) => (workAt(a) === workAt(b) ? b - a : workAt(a) < workAt(b) ? -1 : 1))[0]
    if (next === undefined) return undefined
    left.delete(next)
    going.push(next)
  }
  return going
}

const block = fc.record({ on: fc.option(fc.nat(), { nil: undefined }), more: fc.integer({ min: 1, max: 4 }) })
const forests = fc
  .tuple(fc.array(block, { minLength: 8, maxLength: 40 }), fc.nat(10))
  .map(([seeds, over]): { blocks: Planted[]; over: number } => {
    const blocks: Planted[] = []
    for (let i = 0; i < sideBlockLimit + over; i++) {
      // Most stand on none of the others: what the seeds make is what can go.
      const seed = seeds[i]
      const on = seed?.on === undefined || i === 0 ? undefined : seed.on % Math.min(i, seeds.length)
      const work = seed === undefined ? 1_000n : (on === undefined ? 10n : (blocks[on]?.work ?? 0n)) + BigInt(seed.more)
      blocks.push({ on, work, size: 1 })
    }
    return { blocks, over }
  })

describe('the store of side blocks', () => {
  it('gives up the tips of the lightest branches, and none that leads to what is kept', async () => {
    const kept = fc.array(fc.nat(), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(forests, fc.bigInt(9n, 1_001n), kept, async ({ blocks, over }, work, tips) => {
        const side = await open()
        plant(side, blocks)
        const names = tips.map((tip) => tip % blocks.length)
        const going = side.lighterThan(work, names.map(hashOf))
        const numbers = expected(blocks, over + 1, work, names)
        expect(going?.map(({ hash }) => mapKey(hash))).toEqual(numbers?.map((i) => mapKey(hashOf(i))))
        going?.forEach((gone) => side.remove(gone))
        if (going !== undefined) expect(side.full).toBe(false)
      }),
      { numRuns: 30 },
    )
  }, 60_000)

  it('is known again after a restart', async () => {
    const store = memoryStore()
    const test = await TestChain.open(undefined, { store })
    await test.mine(3)
    const [light, heavy] = [0, 1].map((height) => craftBlock(test.chain, { parent: test.activeHeader(height) }))
    for (const block of [light, heavy] as [Block, Block]) expect(await test.accept(block)).toBe('side')
    await test.close()
    const again = await Database.over(store)
    const side = await SideBlocks.open(again, new HeaderIndex(again))
    expect(side.below(3).map(({ height, size }) => [height, size])).toEqual(
      expect.arrayContaining([
        [1, light?.bytes.length],
        [2, heavy?.bytes.length],
      ]),
    )
    expect(side.below(2)).toHaveLength(1)
    await again.close()
  })

  it('is full at its number of blocks, and takes one less', async () => {
    const side = await open()
    const single = { on: undefined, work: 5n, size: 1 }
    plant(side, Array<Planted>(sideBlockLimit - 1).fill(single))
    expect([side.full, side.lighterThan(1n, [])]).toEqual([false, []])
    plant(side, Array<Planted>(sideBlockLimit).fill(single))
    expect([side.full, side.lighterThan(5n, []), side.lighterThan(6n, [])?.length]).toEqual([true, undefined, 1])
  })

  it('is full at its bytes, and then gives up as many blocks as it takes', async () => {
    const side = await open()
    const sizes = [2 ** 31 - 6, 1, 1, 1, 2]
    plant(
      side,
      sizes.map((size, i) => ({ on: undefined, work: BigInt(10 + i), size })),
    )
    expect([side.full, side.lighterThan(1n, [])]).toEqual([false, []])
    plant(
      side,
      [...sizes, 3].map((size, i) => ({ on: undefined, work: BigInt(100 - i), size })),
    )
    expect(side.full).toBe(true)
    expect(side.lighterThan(200n, [])?.map(({ size }) => size)).toEqual([3])
    expect(side.lighterThan(200n, [hashOf(5)])?.map(({ size }) => size)).toEqual([2, 1])
    for (const number of [1, 2, 2]) side.remove({ hash: hashOf(number) })
    expect(side.full).toBe(true)
    side.remove({ hash: hashOf(3) })
    expect(side.full).toBe(false)
  })
})
