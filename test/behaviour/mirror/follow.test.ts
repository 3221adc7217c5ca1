import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UserError } from '../../../src/base/errors/rule-error.js'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import type { Mirror } from '../../../src/ledger/mirror/mirror.js'
import type { MirrorFile } from '../../../src/ledger/mirror/mirror-store.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { keysOf, minedDepth } from '../../support/builders/light-scene.js'
import { headIn, mirrorWith } from '../../support/builders/mirror-scene.js'
import { mirrorOf, mirrorOnce } from '../../support/builders/mirrored.js'
import { ManualTimers } from '../../support/fakes/manual-timers.js'
import { MemoryMirror } from '../../support/fakes/memory-mirror.js'

/** A mirror whose files are written once a test lets them. */
class SlowMirror extends MemoryMirror {
  #gate = Promise.resolve()
  #open = () => {}
  /** Whether something is being written. */
  waiting = false
  closed = false

  hold(): void {
    this.#gate = new Promise((resolve) => (this.#open = resolve))
  }

  letGo(): void {
    this.#open()
  }

  override async putAll(files: AsyncIterable<MirrorFile> | Iterable<MirrorFile>): Promise<void> {
    this.waiting = true
    await this.#gate
    await super.putAll(files)
  }

  override async close(): Promise<void> {
    this.closed = true
  }
}

let test: TestChain
beforeEach(async () => {
  test = await TestChain.open({ validators: keysOf(1) })
})
afterEach(() => test.close())

const tipOf = () => test.chain.tip.header.height

async function until(mirror: Mirror, height: number): Promise<void> {
  await vi.waitFor(() => expect(mirror.figures.height).toBe(height), { timeout: 10_000 })
}

async function publish(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const one = holder()
    await test.publish(one.create(), one.did)
  }
}

/** Names of pages and leaves of a mirror that holds what a fresh one does. */
async function expectWhole(store: MemoryMirror): Promise<void> {
  const fresh = new MemoryMirror()
  const head = await mirrorOnce(test, fresh)
  expect(headIn(store)).toEqual(head)
  const ofWriter = ['own/intent', 'own/writer']
  for (const [name, bytes] of fresh.files) if (!ofWriter.includes(name)) expect(store.files.get(name)).toEqual(bytes)
}

describe('a mirror that follows a chain', () => {
  it('has a new head after each block, until it is closed', async () => {
    const store = new MemoryMirror()
    const mirror = mirrorOf(test, store)
    await publish(1)
    await mirror.start()
    for (let i = 0; i < 3; i++) {
      await publish(1)
      await until(mirror, tipOf())
    }
    await expectWhole(store)
    await mirror.close()
    const names = [...store.files.keys()]
    await publish(1)
    expect([...store.files.keys()]).toEqual(names)
    expect(headIn(store).height).toBe(tipOf() - 1)
  })

  it('goes to the newest block in one step, where blocks came while it wrote or while its node caught up', async () => {
    const store = new SlowMirror()
    let heads = 0
    store.before = (name) => void (name === 'head' && heads++)
    let isInStep = true
    await publish(1)
    const mirror = mirrorOf(test, store, { isInStep: () => isInStep })
    store.hold()
    await mirror.start()
    await vi.waitFor(() => expect(store.waiting).toBe(true))
    const first = tipOf()
    await publish(5)
    store.letGo()
    await until(mirror, tipOf())
    expect(first).toBe(tipOf() - 5)
    expect(heads).toBe(2)
    isInStep = false
    await publish(20)
    expect(mirror.figures.height).toBe(tipOf() - 20)
    isInStep = true
    await publish(1)
    await until(mirror, tipOf())
    expect(heads).toBe(3)
    await mirror.close()
    await expectWhole(store)
  })

  it('tries a step again that failed, after longer and longer waits, and not with each block', async () => {
    const store = new MemoryMirror()
    const timers = new ManualTimers()
    await publish(1)
    const mirror = mirrorOf(test, store, { timers })
    await mirror.start()
    await until(mirror, tipOf())
    let writes = 0
    store.before = () => {
      writes++
      throw new Error('no room')
    }
    await publish(1)
    await vi.waitFor(() => expect(timers.pending).toEqual([1000]))
    const tried = writes
    await publish(3)
    expect(writes).toBe(tried)
    for (const wait of [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      timers.fire()
      await vi.waitFor(() => expect(timers.pending).toEqual([wait]))
    }
    expect(mirror.figures).toMatchObject({ failures: 8, height: tipOf() - 4 })
    store.before = () => {}
    timers.fire()
    await until(mirror, tipOf())
    await vi.waitFor(() => expect(mirror.figures.failures).toBe(0))
    expect(timers.pending).toEqual([])
    await publish(1)
    await until(mirror, tipOf())
    await mirror.close()
    await expectWhole(store)
  })

  it('leaves the mirror alone for good once another process has begun to write it', async () => {
    const store = new MemoryMirror()
    const timers = new ManualTimers()
    await publish(1)
    const [first, second] = [mirrorOf(test, store, { timers, keepBlocks: 0 }), mirrorOf(test, store, { keepBlocks: 0 })]
    await first.start()
    await until(first, tipOf())
    await second.start()
    for (let i = 0; i < 3; i++) {
      await publish(1)
      await until(second, tipOf())
    }
    expect(first.figures).toMatchObject({ failures: 1, height: tipOf() - 3 })
    await second.close()
    await publish(1)
    const before = new Map(store.files)
    timers.fire()
    await vi.waitFor(() => expect(first.figures.failures).toBe(2))
    expect(store.files).toEqual(before)
    // Started again, it takes over what the other has left.
    await first.close()
    await mirrorOnce(test, store)
    await expectWhole(store)
  })

  it('ends once its files were removed', async () => {
    const store = new MemoryMirror()
    const timers = new ManualTimers()
    const mirror = mirrorOf(test, store, { timers })
    await publish(1)
    await mirror.start()
    await until(mirror, tipOf())
    store.files.clear()
    await publish(1)
    await vi.waitFor(() => expect(mirror.figures.failures).toBe(1))
    expect(store.files).toEqual(new Map())
    await mirror.close()
    await mirrorOnce(test, store)
    await expectWhole(store)
  })

  it('leaves no file behind that a step wrote which failed, and that no block needs when it is tried again', async () => {
    const store = new MemoryMirror()
    const timers = new ManualTimers()
    const ada = holder()
    let last = await test.publish(ada.create(), ada.did)
    const update = async () => {
      last = await test.publish(ada.update(last), ada.did)
    }
    const mirror = mirrorOf(test, store, { timers, keepBlocks: 0 })
    await mirror.start()
    await until(mirror, tipOf())
    for (let fails = 0; fails < 8; fails++) {
      let left = fails
      store.before = () => {
        if (left-- <= 0) throw new Error('no room')
      }
      await update()
      await vi.waitFor(() => expect(mirror.figures.failures).toBe(1))
      // The leaf that may be written already is not that of the tip when the step is taken again.
      await update()
      store.before = () => {}
      timers.fire()
      await until(mirror, tipOf())
      await vi.waitFor(() => expect(mirror.figures.failures).toBe(0))
    }
    await mirror.close()
    await mirrorOnce(test, store, { keepBlocks: 0 })
    const fresh = new MemoryMirror()
    await mirrorOnce(test, fresh)
    const kept = ({ files }: MemoryMirror) => [...files.keys()].filter((name) => /^(?:map|leaf)\//.test(name)).sort()
    expect(kept(store)).toEqual(kept(fresh))
  })

  it('is closed while it waits to try again', async () => {
    const store = new SlowMirror()
    const timers = new ManualTimers()
    await publish(1)
    const mirror = mirrorOf(test, store, { timers })
    await mirror.start()
    await until(mirror, tipOf())
    store.before = () => {
      throw new Error('no room')
    }
    await publish(1)
    await vi.waitFor(() => expect(timers.pending).toEqual([1000]))
    await mirror.close()
    expect(timers.pending).toEqual([])
    expect(store.closed).toBe(true)
  })

  it('writes the last blocks before it is closed, those too that came while it wrote', async () => {
    const store = new SlowMirror()
    const timers = new ManualTimers()
    await publish(1)
    const mirror = mirrorOf(test, store, { timers })
    await mirror.start()
    await until(mirror, tipOf())
    store.hold()
    store.waiting = false
    await publish(1)
    await vi.waitFor(() => expect(store.waiting).toBe(true))
    await publish(2)
    const closing = mirror.close()
    store.letGo()
    await closing
    expect({ height: headIn(store).height, closed: store.closed, pending: timers.pending }).toEqual({
      height: tipOf(),
      closed: true,
      pending: [],
    })
    await expectWhole(store)
  })

  it('is closed in the middle of a step that takes long: between two files, with the head before, and goes on from there', async () => {
    const store = new SlowMirror()
    const timers = new ManualTimers()
    await publish(1)
    const mirror = mirrorOf(test, store, { timers })
    await mirror.start()
    await until(mirror, tipOf())
    const head = headIn(store)
    store.hold()
    store.waiting = false
    await publish(1)
    await vi.waitFor(() => expect(store.waiting).toBe(true))
    let isClosed = false
    const closing = mirror.close().then(() => (isClosed = true))
    expect(timers.pending).toEqual([5000])
    timers.fire()
    await new Promise((resolve) => setImmediate(resolve))
    // What is being written is not left halfway, and the store is closed after it.
    expect([isClosed, store.closed]).toEqual([false, false])
    store.letGo()
    await closing
    expect(store.closed).toBe(true)
    expect(headIn(store)).toEqual(head)
    expect(mirror.figures.failures).toBe(0)
    const names = [...store.files.keys()]
    await publish(1)
    expect([...store.files.keys()]).toEqual(names)
    await mirrorOnce(test, store)
    await expectWhole(store)
  })
})

describe('a mirror at a place', () => {
  it('of another chain is refused, and left as it is', async () => {
    const store = new MemoryMirror()
    await publish(1)
    await mirrorOnce(test, store)
    const before = new Map(store.files)
    const other = await TestChain.open({ validators: keysOf(1), name: 'other' })
    await other.mine(2)
    const refused = mirrorOnce(other, store)
    await expect(refused).rejects.toBeInstanceOf(UserError)
    await expect(refused).rejects.toThrow(
      `it is the mirror of another chain, ${test.chain.genesis.header.id}, not of ${other.chain.genesis.header.id}`,
    )
    await expect(mirrorOf(other, store).start()).rejects.toBeInstanceOf(UserError)
    expect(store.files).toEqual(before)
    await other.close()
  })

  it.each([
    ['a text', 'hello'],
    ['bytes that are no text', '\u0000'],
    ['nothing', ''],
    ['other JSON', '{"format":"something/1","height":1}'],
    ['a null', 'null'],
    ['a height that is none', '{"format":"didledger/mirror/1","height":"1"}'],
  ])('whose file head holds %s is refused, and left as it is', async (_, text) => {
    const store = new MemoryMirror()
    store.files.set('head', text === '\u0000' ? Uint8Array.of(255, 254) : fromUtf8(text))
    const before = new Map(store.files)
    await publish(1)
    await expect(mirrorOnce(test, store)).rejects.toThrow(
      'the file head is none of a mirror: name an empty folder or prefix',
    )
    await expect(mirrorOnce(test, store)).rejects.toBeInstanceOf(UserError)
    expect(store.files).toEqual(before)
  })

  it('with other files beside it keeps them', async () => {
    const store = new MemoryMirror()
    store.files.set('index.html', fromUtf8('mine'))
    store.files.set('map/notes.txt', fromUtf8('mine'))
    await publish(1)
    await mirrorOnce(test, store)
    await publish(1)
    await mirrorOnce(test, store)
    expect(store.files.get('index.html')).toEqual(fromUtf8('mine'))
    await expectWhole(store)
  })

  it('whose own notes are damaged is written whole again', async () => {
    const store = new MemoryMirror()
    await publish(2)
    await mirrorOnce(test, store)
    for (const bytes of [Uint8Array.of(255, 0, 254), fromUtf8('no hash\nno name'), fromUtf8('\n\n')]) {
      const damaged = mirrorWith(store, { 'own/intent': bytes, 'own/gone/x': bytes, 'own/gone/1': bytes })
      await publish(1)
      await mirrorOnce(test, damaged)
      await expectWhole(damaged)
    }
  })
})

/** An upgrade from which on blocks have a root of DIDs. */
const rootsFrom = (height: number) => [{ height, name: 'roots', parameters: { didRoot: true } }]

describe('a chain of which no block is proved yet', () => {
  it('is mirrored once there is one: below the first with a root of DIDs, and below the depth of miners', async () => {
    for (const [overrides, first] of [
      [{ validators: keysOf(1) }, 1],
      [{ validators: keysOf(1), didRoot: undefined, upgrades: rootsFrom(4) }, 4],
      [{ validators: [], producer: 'miners' }, 1 + minedDepth],
    ] as const) {
      const young = await TestChain.open(overrides)
      const store = new MemoryMirror()
      for (let height = 0; height < first; height++) {
        expect(await mirrorOnce(young, store)).toBeUndefined()
        expect([...store.files.keys()]).toEqual(['own/writer', 'about'])
        await young.mine()
      }
      expect(await mirrorOnce(young, store)).toMatchObject({ height: young.spec.hasValidators ? first : 1 })
      await young.close()
    }
  })
})
