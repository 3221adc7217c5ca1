import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { EngineRows } from '../../../src/ledger/engine/engine-rows.js'
import { EngineDown } from '../../../src/ledger/engine/engine-down.js'
import type { ShardState } from '../../../src/ledger/engine/row-engine.js'
import { isShipped } from '../../../src/ledger/engine/slots.js'
import { seal } from '../../../src/ledger/storage/rows/sealed-row.js'
import { shippedTables } from '../../../src/ledger/storage/rows/shipped-rows.js'
import type { RowSource } from '../../../src/ledger/storage/stored-rows.js'
import { rangeOf } from '../../../src/ledger/storage/rows/tables.js'
import { requireOwnShards } from '../../../src/node/gateway/check-shards.js'
import { quietLog, withoutValidators } from '../../support/builders/chain.js'
import { random } from '../../support/builders/random-chain.js'
import { ShippedChain } from '../../support/builders/shipped-chain.js'
import type { MemoryEngine } from '../../support/fakes/memory-engine.js'
import { rounds } from '../../support/process/thorough.js'

const blocks = rounds(15, 150)

let node: ShippedChain
const readers: EngineRows[] = []
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()))
  await node.close()
})

/** A node with some blocks in so many shards. */
async function shippedNode(shards: number, seed: number): Promise<void> {
  node = await ShippedChain.open(shards, seed)
  for (let i = 0; i < 8; i++) await node.advance()
  await node.expectSame()
}

/** Starts the node again with a list of so many times as many databases. */
async function divide(times: number, prepare: (engine: MemoryEngine) => void = () => {}): Promise<void> {
  await node.stop()
  node.engine = node.engine.spread(times)
  prepare(node.engine)
  await node.start()
}

async function openReader(engine: MemoryEngine): Promise<EngineRows> {
  const reader = await EngineRows.open({ engine, log: quietLog() })
  readers.push(reader)
  return reader
}

/** A digest of all rows that shards have, in their order, without those that are read by their keys alone. */
async function digestOf(rows: RowSource): Promise<string> {
  const hash = createHash('sha256')
  for (const table of shippedTables.filter((number) => number !== 0)) {
    for await (const page of rows.pages(rangeOf(table), 4096)) {
      for (const [key, value] of page) if (isShipped(key)) hash.update(key).update(seal(key, value))
    }
  }
  return hash.digest('hex')
}

/** A reader may be asked to try again, where blocks come faster than it reads all rows. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof RuleError) || !['busy', 'shards-apart'].includes(error.code)) throw error
}

describe('a list with several databases for each shard', () => {
  it('divides the shards over them while readers go on and blocks come, and each has its own rows alone', async () => {
    await shippedNode(1, 31)
    const roll = random(5)
    /** What the node had after each of its batches that a test saw. */
    const known = new Map<number, string>()
    const note = async () => {
      const { sequence } = node.chain.database.outbox.position ?? { sequence: -1 }
      known.set(sequence, await digestOf(node.chain.database))
    }
    await note()
    const seen: { sequence: number; shards: number; digest: string }[] = []
    for (const shards of [2, 4]) {
      const wide = node.engine.spread(2)
      // Gateways get the new list first, and each has its own connections.
      const readersOf = [await openReader(wide.spread(1)), await openReader(wide.spread(1))]
      let isOver = false
      const reading = Promise.all(
        readersOf.map(async (reader) => {
          while (!isOver) {
            const read = reader.settle(async () => {
              const { sequence, shards: of } = reader.state
              return { sequence, shards: of, digest: await digestOf(reader) }
            })
            const found = await read.catch(unlessRefused)
            if (found !== undefined) seen.push(found)
            await new Promise((resolve) => setTimeout(resolve, roll(5)))
          }
        }),
      )
      await expect.poll(() => seen.some((one) => one.shards === shards / 2)).toBe(true)
      await node.stop()
      node.engine = wide
      wide.at = () => new Promise((resolve) => setTimeout(resolve, roll(4)))
      await node.start()
      for (let i = 0; i < blocks; i++) {
        await node.advance()
        await note()
        const before = seen.length
        // Some blocks come before anybody has read the one before.
        while (roll(4) > 0 && seen.length < before + 2) await new Promise((resolve) => setTimeout(resolve, 5))
      }
      await node.expectSame()
      expect((await node.states()).map((state) => [state?.number, state?.shards, state?.epoch])).toEqual(
        Array.from({ length: shards }, (_, number) => [number, shards, 1]),
      )
      await expect.poll(() => seen.some((one) => one.shards === shards)).toBe(true)
      isOver = true
      await reading
    }
    const judged = seen.filter(({ sequence }) => known.has(sequence))
    expect(judged.filter(({ sequence, digest }) => known.get(sequence) !== digest)).toEqual([])
    expect(new Set(judged.map(({ sequence }) => sequence)).size).toBeGreaterThan(4)
    expect(new Set(judged.map(({ shards }) => shards))).toEqual(new Set([1, 2, 4]))
  }, 120_000)

  it('gives the shards that are read their steps while the others are filled', async () => {
    await shippedNode(2, 32)
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await divide(2, (engine) => {
      engine.at = (moment) => (moment === 'ready' ? held : undefined)
    })
    await expect.poll(() => node.engine.calls.filter((call) => call === 'ready').length).toBe(2)
    for (let i = 0; i < 5; i++) await node.advance()
    const { height } = node.chain.reader
    const heights = async () => (await node.states()).map((state) => state?.height)
    await expect.poll(heights).toEqual([height, undefined, height, undefined])
    expect((await node.states()).map((state) => state?.shards)).toEqual([2, undefined, 2, undefined])
    release()
    await node.expectSame()
    expect((await node.states()).map((state) => state?.shards)).toEqual([4, 4, 4, 4])
    expect(node.chain.database.outbox.size).toBe(0)
  })

  it.each([
    { batches: 100, waits: true },
    { batches: 101, waits: false },
  ])('has shards wait for others that lack $batches batches: $waits', async (lag) => {
    await shippedNode(1, 39)
    let [release, isHeld]: [() => void, boolean] = [() => {}, true]
    const held = new Promise<void>((resolve) => (release = resolve))
    await divide(2, (engine) => {
      engine.at = (moment, shard) => {
        if (moment === 'ready') return held
        // Steps of the new one wait as well, once it is filled.
        if (moment === 'apply' && shard === 1)
          return new Promise<void>((resolve) => {
            const look = () => (isHeld ? setTimeout(look, 2) : resolve())
            look()
          })
      }
    })
    await expect.poll(() => node.engine.calls.includes('ready')).toBe(true)
    const position = async () => (await node.states())[0]
    const { sequence, height: filledAt } = (await position()) as ShardState
    while ((node.chain.database.outbox.position?.sequence ?? 0) < sequence + lag.batches) await node.chain.mineEmpty(1)
    const { height } = node.chain.reader
    await expect.poll(async () => (await position())?.height).toBe(height)
    expect((await position())?.sequence).toBe(sequence + lag.batches)
    release()
    await expect.poll(() => node.engine.calls.slice(node.engine.calls.indexOf('finished')).includes('apply')).toBe(true)
    await node.chain.mineEmpty(5)
    if (lag.waits) await new Promise((resolve) => setTimeout(resolve, 100))
    else await expect.poll(async () => (await position())?.height).toBe(height + 5)
    expect((await node.states()).map((state) => [state?.height, state?.shards])).toEqual([
      [lag.waits ? height : height + 5, 1],
      [filledAt, 2],
    ])
    isHeld = false
    await node.expectSame()
    expect((await node.states()).map((state) => state?.shards)).toEqual([2, 2])
  })

  it('gives the shards that are read their steps while one of the others does not answer', async () => {
    await shippedNode(2, 40)
    let isDown = true
    await divide(2, (engine) => {
      engine.at = (_, shard) => {
        if (isDown && shard === 3) throw new EngineDown(shard, 'down')
      }
    })
    for (let i = 0; i < 5; i++) await node.advance()
    const { height } = node.chain.reader
    const heights = async () => (await node.states()).map((state) => state?.height)
    await expect.poll(heights).toMatchObject([height, undefined, height, undefined])
    await expect.poll(() => node.chain.database.outbox.size).toBe(0)
    isDown = false
    await node.expectSame()
    expect((await node.states()).map((state) => state?.shards)).toEqual([4, 4, 4, 4])
  })

  it('fills those again that were filled for a division which did not come about, and are too old by now', async () => {
    await shippedNode(1, 41)
    const narrow = node.engine
    await divide(2, (engine) => {
      engine.at = (moment, shard) => {
        if (moment === 'apply') throw new EngineDown(shard, 'down')
      }
    })
    await expect.poll(() => node.engine.calls.includes('finished')).toBe(true)
    const wide = node.engine
    await node.stop()
    node.engine = narrow
    await node.start()
    for (let i = 0; i < 5; i++) await node.advance()
    await node.expectSame()
    await node.stop()
    wide.at = () => {}
    node.engine = wide
    await node.start()
    await node.expectSame()
    expect((await node.states()).map((state) => [state?.shards, state?.epoch])).toEqual([
      [2, 1],
      [2, 1],
    ])
  })

  it('is left alone as a whole where one of the databases has rows of another chain, also when it may take over', async () => {
    await shippedNode(1, 42)
    const other = await ShippedChain.open(1, 43, { ...withoutValidators, time: 1_600_000_000 })
    await other.expectSame()
    await node.stop()
    const before = other.engine.rows(0)
    let isDown = true
    node.engine = node.engine.beside(other.engine)
    node.engine.at = (_, shard) => {
      if (isDown && shard === 1) throw new EngineDown(shard, 'down')
    }
    await node.start({ takeOver: true })
    await node.advance()
    await expect.poll(async () => (await node.states())[0]?.height).toBe(node.chain.reader.height)
    isDown = false
    expect(await node.ended()).toBe('ship-foreign')
    expect(node.engine.rows(1)).toEqual(before)
    await other.close()
  })

  it('tells readers that it is there while it deletes what went to others, for as long as that takes', async () => {
    await shippedNode(1, 44)
    await node.chain.mineEmpty(40)
    await divide(2, (engine) => {
      engine.at = (moment) => (moment === 'sweep' ? new Promise((resolve) => setTimeout(resolve, 10)) : undefined)
    })
    await node.expectSame()
    const { calls } = node.engine
    const sweeps = calls.slice(calls.indexOf('sweep'), calls.lastIndexOf('sweep'))
    expect(sweeps.filter((call) => call === 'sweep').length).toBeGreaterThan(3)
    expect(sweeps).toContain('apply')
  })

  it.each(['state', 'load', 'put', 'ready', 'finish', 'finished', 'apply', 'applied', 'sweep', 'swept'] as const)(
    'divides them also where an engine fails at "%s"',
    async (moment) => {
      await shippedNode(2, 33)
      let failures = 0
      await divide(3, (engine) => {
        engine.at = (at, shard) => {
          if (at === moment && failures++ < 4) throw new EngineDown(shard, `down at ${moment}`)
        }
      })
      await node.advance()
      await node.expectSame()
      expect(failures).toBeGreaterThan(0)
      expect((await node.states()).map((state) => state?.shards)).toEqual([6, 6, 6, 6, 6, 6])
    },
  )

  it('divides them also where the node ends at any moment and starts again', async () => {
    await shippedNode(1, 34)
    const roll = random(34)
    await node.stop()
    node.engine = node.engine.spread(2)
    for (let i = 0; i < blocks; i++) {
      node.engine.at = () => new Promise((resolve) => setTimeout(resolve, roll(3)))
      await node.start()
      if (i % 3 === 0) await node.advance()
      await new Promise((resolve) => setTimeout(resolve, roll(60)))
      await node.stop()
    }
    node.engine.at = () => {}
    await node.start()
    await node.expectSame()
    expect((await node.states()).map((state) => state?.shards)).toEqual([2, 2])
  }, 60_000)

  it('lets nobody read a copy of a shard from before it was divided', async () => {
    await shippedNode(1, 35)
    node.engine.hold(0, true)
    await divide(2)
    await node.expectSame()
    const reader = await openReader(node.engine)
    expect(reader.state.shards).toBe(2)
    expect(await digestOf(reader)).toBe(await digestOf(node.chain.database))
  })

  it('is refused where it does not name all shards, each as the first of as many databases', async () => {
    await shippedNode(2, 36)
    for (const order of [
      [0, undefined, 1],
      [1, undefined, 0, undefined],
      [undefined, 0, undefined, 1],
      [0, 1, undefined, undefined],
      [1, 0],
    ]) {
      await node.stop()
      node.engine = node.engine.arranged(order)
      const before = node.engine.rows(order.indexOf(0))
      await node.start()
      expect([order, await node.ended()]).toEqual([order, 'ship-foreign'])
      expect(node.engine.rows(order.indexOf(0))).toEqual(before)
      await node.stop()
      node.engine = node.engine.arranged([order.indexOf(0), order.indexOf(1)])
      await node.start()
      await node.expectSame()
    }
  })

  it('is one that a gateway begins with, whatever becomes of databases behind a shard before it is divided', async () => {
    await shippedNode(2, 38)
    const { spec } = node.chain
    const wide = node.engine.spread(2)
    wide.at = (_, shard) => {
      if (shard === 1) throw new EngineDown(shard, 'down')
    }
    await requireOwnShards(wide, spec)
    const reader = await openReader(wide)
    expect([reader.state.shards, reader.fault]).toEqual([2, undefined])
    expect(await digestOf(reader)).toBe(await digestOf(node.chain.database))
    await expect(requireOwnShards(node.engine.spread(2).arranged([1, 0, 2, 3]), spec)).rejects.toThrow(
      'shard 0: there are no rows in it',
    )
    const narrow = node.engine.arranged([0])
    await expect(requireOwnShards(narrow, spec)).rejects.toThrow('it is number 0 of 2, and named as 0 of 1')
  })

  it('leaves a reader with the old list without answers, and says why', async () => {
    await shippedNode(1, 37)
    const old = node.engine.spread(1)
    const reader = await openReader(old)
    await divide(2)
    await node.expectSame()
    await expect.poll(() => reader.fault).toBeDefined()
    await expect(EngineRows.open({ engine: old, log: quietLog() })).rejects.toThrow('other parts of them by now')
  })
})
