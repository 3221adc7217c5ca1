import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { stateDigest } from '../../../../src/ledger/chain/replay-chain.js'
import { bodyBytes } from '../../../../src/network/fetch/body-download.js'
import { PendingHeaders } from '../../../../src/network/fetch/pending-headers.js'
import type { SyncProgress } from '../../../../src/network/sync/sync.js'
import { blocksExchange } from '../../../../src/network/wire/blocks-message.js'
import { headersExchange, type HeaderUnit, locatorHashes } from '../../../../src/network/wire/headers-message.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { Header } from '../../../../src/base/primitives/header.js'
import { memoryStore, oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { faultOf } from '../../../support/assert/row-invariants.js'
import { busyness } from '../../../support/process/patience.js'
import { longChain, SyncNode, TestPeer, unitAt } from '../../../support/network/sync.js'

const never = () => new Promise<never>(() => {})

describe.each([
  ['with a validator', oneValidator()],
  ['without validators', withoutValidators],
])('the sync of a chain %s', (_, overrides) => {
  // More than the blocks that wait for the writer at most, 256.
  const length = 300
  let source: TestChain
  const nodes: SyncNode[] = []

  beforeAll(async () => {
    source = await longChain(overrides, length)
  })
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.close()
  })
  afterAll(() => source.close())

  async function start(peers: readonly TestPeer[], options?: Parameters<typeof SyncNode.start>[2]) {
    const node = await SyncNode.start(overrides, peers, options)
    nodes.push(node)
    return node
  }

  it('leads to the same state, and ends', async () => {
    const peer = new TestPeer(source)
    const node = await start([peer])
    const told: SyncProgress[] = []
    node.sync.events.on('progress', (progress) => told.push(progress))
    await node.until(() => node.sync.progress().catchingUp)
    await node.until(() => node.height === length)
    expect(await stateDigest(node.target.database)).toBe(await stateDigest(source.database))
    expect(await faultOf(node.target)).toBeUndefined()
    expect(peer.penalties).toEqual([])
    await node.until(() => told.at(-1)?.stage === 'idle')
    expect(node.sync.progress()).toMatchObject({ catchingUp: false, height: length, target: length })
    // Nothing is asked and no time is kept while there is nothing to do.
    expect(node.timers).toBe(0)
  })

  it('shares the work among its peers', async () => {
    const peers = Array.from({ length: 3 }, () => {
      return new TestPeer(source).answering(blocksExchange, async (_question, honest) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        return honest()
      })
    })
    const node = await start(peers)
    await node.until(() => node.height === length)
    for (const peer of peers) {
      expect(peer.asked.get('blocks')).toBeGreaterThan(0)
      expect(peer.penalties).toEqual([])
    }
  })

  it('goes on with what its peers get later', async () => {
    const growing = await longChain(overrides, 20)
    const peer = new TestPeer(growing)
    const node = await start([peer])
    await node.until(() => node.height === 20)
    await growing.mine(5)
    peer.refresh()
    node.events.emit('status', peer)
    await node.until(() => node.height === 25)
    expect(node.target.chain.tip.header.id).toBe(growing.chain.tip.header.id)
    await growing.close()
  })

  it('resumes after a restart where it was', async () => {
    const store = memoryStore()
    const first = await start([new TestPeer(source)], { target: await TestChain.open(overrides, { store }) })
    await first.until(() => first.height >= 100)
    await nodes.pop()?.close()
    const target = await TestChain.open(overrides, { store })
    const reached = target.chain.tip.header.height
    expect(reached).toBeGreaterThanOrEqual(100)
    const peer = new TestPeer(source)
    const asked: number[] = []
    peer.answering(headersExchange, async (_question, honest) => {
      const units = await honest()
      asked.push(units[0]?.header.height ?? 0)
      return units
    })
    const second = await start([peer], { target })
    await second.until(() => second.height === length)
    expect(asked[0]).toBe(reached + 1)
    expect(await stateDigest(target.database)).toBe(await stateDigest(source.database))
  })

  it.each([1, 2])('takes the blocks of %s peers that do not answer from another', async (count) => {
    const stallers = Array.from({ length: count }, () => new TestPeer(source).answering(blocksExchange, never))
    const honest = new TestPeer(source)
    const node = await start([...stallers, honest])
    const began = node.target.clock.time
    await node.until(() => node.height === length)
    expect(node.target.clock.time - began).toBeLessThan(30_000)
    for (const staller of stallers) expect(staller.penalties).toContain('peer-slow')
    expect(honest.penalties).toEqual([])
  })

  it('takes the headers of a peer that does not answer from another', async () => {
    const staller = new TestPeer(source, { tipHeight: length + 1 }).answering(headersExchange, never)
    const node = await start([staller, new TestPeer(source)])
    await node.until(() => node.height === length)
    expect(staller.asked.get('headers')).toBe(1)
  })

  it('takes the headers of a peer that drips them from another', async () => {
    const dripping = new TestPeer(source, { tipHeight: length + 1, chainWork: 1n << 200n }).answering(
      headersExchange,
      async (_question, honest) => (await honest()).slice(0, 1),
    )
    const node = await start([dripping, new TestPeer(source)])
    const began = node.target.clock.time
    await node.until(() => node.height === length)
    expect(node.target.clock.time - began).toBeLessThan(30_000)
    expect(dripping.asked.get('headers')).toBeLessThan(10)
  })

  it.each([0, 0xffffffff])('asks for many blocks at once where headers say that each has %i bytes', async (size) => {
    const peer = new TestPeer(source).answering(
      headersExchange,
      async (_question, honest: () => Promise<readonly HeaderUnit[]>) =>
        (await honest()).map((unit) => ({ ...unit, size })),
    )
    const node = await start([peer])
    await node.until(() => node.height === length)
    expect(peer.asked.get('blocks')).toBeLessThan(30)
    expect(peer.penalties).toEqual([])
  })

  it('takes the blocks that a peer withholds from another', async () => {
    const withholding = new TestPeer(source).answering(blocksExchange, async (hashes) =>
      hashes.map(() => new Uint8Array(0)),
    )
    const node = await start([withholding, new TestPeer(source)])
    await node.until(() => node.height === length)
    expect(withholding.penalties).toContain('peer-withheld')
  })

  it.each([
    ['does not decode', 1, 'block-malformed'],
    ['has other transactions than its header', 2, 'block-merkle-root'],
  ])('takes a block that %s from another peer and marks nothing', async (_name, fromEnd, code) => {
    const mutating = new TestPeer(source).answering(blocksExchange, async (_question, honest) => {
      return (await honest()).map((block) => {
        // In a block with a transfer the same place belongs to another rule.
        if (Block.fromBytes(block).transactions.length > 1) return block
        return block.map((byte, i) => (i === block.length - fromEnd ? byte ^ 1 : byte))
      })
    })
    const node = await start([mutating, new TestPeer(source)])
    await node.until(() => node.height === length)
    expect(new Set(mutating.penalties)).toEqual(new Set([code]))
  })

  it('takes a block from another peer when it gets one that it did not ask for', async () => {
    const confused = new TestPeer(source).answering(blocksExchange, async (_question, honest) => {
      return (await honest()).toReversed()
    })
    const node = await start([confused, new TestPeer(source)])
    await node.until(() => node.height === length)
    expect(new Set(confused.penalties)).toEqual(new Set(['peer-withheld']))
  })

  it('parts with a peer that claims what its headers do not prove', async () => {
    const claim = { tipHeight: length + 1000, chainWork: 1n << 200n, tipHash: new Uint8Array(32).fill(9) }
    const liar = new TestPeer(source, claim)
    const node = await start([liar, new TestPeer(source)])
    await node.until(() => node.height === length && liar.closed)
    expect(liar.penalties).toEqual(['peer-withheld'])
    expect(liar.reason).toContain(`height ${length + 1000}`)
    await node.until(() => node.sync.progress().stage === 'idle')
  })

  it.each([
    ['do not follow each other', (units: readonly unknown[]) => units.filter((_unit, i) => i !== 5)],
    ['follow nothing that was named', (units: readonly unknown[]) => units.slice(3)],
  ])('parts with a peer whose headers %s', async (_name, change) => {
    const peer = new TestPeer(source, { tipHeight: length + 1, chainWork: 1n << 200n }).answering(
      headersExchange,
      async (_question, honest) => change(await honest()) as Awaited<ReturnType<typeof honest>>,
    )
    const node = await start([peer, new TestPeer(source)])
    await node.until(() => node.height === length)
    expect(peer.penalties).toEqual(['peer-headers'])
    expect(peer.closed).toBe(true)
  })

  it('parts with a peer whose AuxPow proves nothing', async () => {
    const peer = new TestPeer(source, { tipHeight: length + 1, chainWork: 1n << 200n }).answering(
      headersExchange,
      async (_question, honest) => {
        const units = await honest()
        const auxPow = units[1]?.auxPow ?? new Uint8Array(0)
        return units.map((unit, i) => (i === 200 ? { ...unit, auxPow } : unit))
      },
    )
    const node = await start([peer, new TestPeer(source)])
    await node.until(() => node.height === length)
    expect(peer.penalties).toEqual(['auxpow-commitment'])
  })

  it('fetches no more than it may while the writer is held up', async () => {
    const node = await start([new TestPeer(source), new TestPeer(source)])
    await node.until(() => node.height > 0)
    let release = () => {}
    const held = node.target.chain.exclusive(() => new Promise<void>((resolve) => (release = resolve)))
    const before = node.height
    await node.until(() => node.sync.progress().stage === 'blocks')
    for (let i = 0; i < 20; i++) {
      expect(node.sync.held.bodies).toBeLessThanOrEqual(bodyBytes)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(node.height - before).toBeLessThanOrEqual(256)
    release()
    await held
    await node.until(() => node.height === length)
  })

  it('fetches two blocks at a time, however large they are', async () => {
    const asked: number[] = []
    const peers = [1, 2, 3].map(() =>
      new TestPeer(source)
        .answering(headersExchange, async (_, honest) =>
          (await honest()).map((unit) => ({ ...unit, size: source.spec.limits.blockSize })),
        )
        .answering(blocksExchange, (hashes) => {
          asked.push(hashes.length)
          return never()
        }),
    )
    const node = await start(peers)
    await node.until(() => asked.length === 2)
    for (let turn = 0; turn < 100; turn++) await nextTurn()
    expect(asked).toEqual([1, 1])
  })

  it('logs how far it is, and why it waits', async () => {
    const lines: string[] = []
    const target = await TestChain.open(overrides)
    const log = {
      ...target.log,
      info: (fields: object, message: string) => lines.push(JSON.stringify({ fields, message })),
    }
    const silent = new TestPeer(source).answering(blocksExchange, never)
    const node = await start([silent], { target, log })
    await node.until(() => lines.length > 1, 60)
    expect(lines[0]).toContain(`"stage":"blocks","catchingUp":true,"height":0,"target":${length}`)
    expect(lines[0]).toContain('waiting for blocks from 1 peer')
    silent.close('for the test')
    node.events.emit('left', silent)
    await node.until(() => node.sync.progress().stage === 'waiting')
    expect(node.sync.progress().reason).toBe('no peers')
  })

  it('stops at any time, with nothing left', async () => {
    const node = await start([new TestPeer(source), new TestPeer(source).answering(blocksExchange, never)])
    await node.until(() => node.height > 0)
    await node.stop()
    const { height } = node
    expect(node.timers).toBe(0)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(node.height).toBe(height)
    expect(node.events.eventNames()).toEqual([])
  })

  it('names few hashes of a long chain, genesis last', () => {
    const { chain } = source
    const locator = new PendingHeaders(chain.tip).locator(chain.headers)
    const heights = locator.map((hash) => chain.headers.get(hash)?.header.height)
    expect(locator.length).toBeLessThanOrEqual(locatorHashes)
    expect(heights.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_height, i) => length - i))
    expect(heights.at(-1)).toBe(0)
  })

  it('names hashes of a branch at distances that an answer reaches across', () => {
    const { chain } = source
    const branch = new PendingHeaders(chain.tip)
    const peer = new TestPeer(source)
    const { version, bits, nonce, merkleRoot } = chain.tip.header
    for (let i = 0; i < 4096; i++) {
      const { hash: previous, height, time } = branch.end
      const header = new Header({ version, bits, nonce, merkleRoot, previous, time, height: height + 1 })
      branch.push({ header, auxPow: new Uint8Array(0), confirm: new Uint8Array(0), size: 0 }, peer, false)
    }
    const locator = branch.locator(chain.headers)
    expect(locator.length).toBeLessThanOrEqual(locatorHashes)
    const heights = new Map(branch.blocks.map(({ unit: { header } }) => [toHex(header.hash), header.height]))
    const named = locator.map((hash) => heights.get(toHex(hash)) ?? length)
    const distances = named.map((height, i) => height - (named[i + 1] ?? height))
    expect(Math.max(...distances)).toBeLessThanOrEqual(256)
  })

  describe('when a new tip is told', () => {
    it('fetches and connects the block on top of the own tip at once', async () => {
      const growing = await longChain(overrides, 5)
      const peer = new TestPeer(growing)
      const node = await start([peer])
      await node.until(() => node.height === 5)
      await growing.mine()
      await node.sync.announced(peer, unitAt(growing, 6))
      expect(node.height).toBe(6)
      expect(node.sync.progress().catchingUp).toBe(false)
      // Known by now.
      await node.sync.announced(peer, unitAt(growing, 6))
      await growing.close()
    })

    it('takes the block from another peer when the one who told has none', async () => {
      const growing = await longChain(overrides, 5)
      const empty = new TestPeer(growing).answering(blocksExchange, async (hashes) =>
        hashes.map(() => new Uint8Array(0)),
      )
      const other = new TestPeer(growing)
      const node = await start([other])
      await node.until(() => node.height === 5)
      node.peers.push(empty)
      await growing.mine()
      const unit = unitAt(growing, 6)
      await expect(node.sync.announced(empty, unit)).rejects.toMatchObject({ code: 'peer-withheld' })
      other.refresh()
      await node.sync.announced(empty, unit)
      expect(node.height).toBe(6)
      await growing.close()
    })

    it('refuses what proves nothing', async () => {
      const growing = await longChain(overrides, 5)
      const peer = new TestPeer(growing)
      const node = await start([peer])
      await node.until(() => node.height === 5)
      await growing.mine()
      const unit = { ...unitAt(growing, 6), auxPow: unitAt(growing, 5).auxPow }
      await expect(node.sync.announced(peer, unit)).rejects.toMatchObject({ code: 'auxpow-commitment' })
      expect(node.height).toBe(5)
      await growing.close()
    })

    it('holds nothing against a peer that another one forged next to it', async () => {
      const growing = await longChain(overrides, 5)
      const [liar, peer] = [new TestPeer(growing), new TestPeer(growing)]
      const node = await start([peer, liar])
      await node.until(() => node.height === 5)
      await growing.mine()
      const unit = unitAt(growing, 6)
      const forged = node.sync.announced(liar, { ...unit, auxPow: unitAt(growing, 5).auxPow })
      const told = node.sync.announced(peer, unit)
      await expect(forged).rejects.toMatchObject({ code: 'auxpow-commitment' })
      expect(await told).toBe(true)
      expect(node.height).toBe(6)
      await growing.close()
    })

    it('says of one message alone that it brought the block, however many are made up', async () => {
      const growing = await longChain(overrides, 5)
      const peer = new TestPeer(growing)
      const node = await start([peer])
      await node.until(() => node.height === 5)
      await growing.mine()
      const unit = unitAt(growing, 6)
      const told = [0, 1, 2, 3].map((size) => node.sync.announced(peer, { ...unit, size }))
      expect(await Promise.all(told)).toEqual([true, false, false, false])
      expect(peer.asked.get('blocks')).toBe(2)
      await growing.close()
    })

    it('is not asked for over and over of a peer that passed it on and does not have it', async () => {
      const growing = await longChain(overrides, 5)
      const peer = new TestPeer(growing)
      const node = await start([peer])
      await node.until(() => node.height === 5)
      await growing.mine(4)
      peer.answering(headersExchange, async () => [])
      const before = peer.asked.get('headers') ?? 0
      await node.sync.announced(peer, unitAt(growing, 9)).catch(() => {})
      const ticks = node.target.clock.time + 10_000
      await node.until(() => node.target.clock.time > ticks)
      expect((peer.asked.get('headers') ?? 0) - before).toBeLessThanOrEqual(1)
      expect(peer.closed).toBe(false)
      await growing.close()
    })

    it('of a peer that leads nowhere keeps no other peer from being followed', async () => {
      const growing = await longChain(overrides, 5)
      const hostile = new TestPeer(growing)
      const node = await start([hostile])
      await node.until(() => node.height === 5)
      await growing.mine(15)
      const honest = new TestPeer(growing)
      let height = 9
      // While it is asked for one it tells of the next: it has never led to all that it told.
      hostile.answering(headersExchange, async () => {
        if (height < 20) void node.sync.announced(hostile, unitAt(growing, height++)).catch(() => {})
        await new Promise((resolve) => setTimeout(resolve, 100))
        return []
      })
      await node.sync.announced(hostile, unitAt(growing, 8)).catch(() => {})
      await node.until(() => (hostile.asked.get('headers') ?? 0) > 1)
      node.join(honest)
      await node.until(() => node.height === 20, 10)
      expect(honest.penalties).toEqual([])
      await growing.close()
    })

    it('is given up without a word when the node stops', async () => {
      const growing = await longChain(overrides, 5)
      const peer = new TestPeer(growing)
      const node = await start([peer])
      await node.until(() => node.height === 5)
      await growing.mine()
      peer.answering(blocksExchange, never)
      const told = [0, 1].map((size) => node.sync.announced(peer, { ...unitAt(growing, 6), size }))
      await node.stop()
      expect(await Promise.all(told)).toEqual([false, false])
      await growing.close()
    })

    it('writes the blocks above it in one batch, where they wait for the writer together', async () => {
      const growing = await longChain(overrides, 5)
      const peer = new TestPeer(growing)
      const node = await start([peer])
      const { chain, database } = node.target
      await node.until(() => node.height === 5)
      let release = () => {}
      const held = chain.exclusive(() => new Promise<void>((resolve) => (release = resolve)))
      const before = database.sequence
      await growing.mine(6)
      const told = Array.from({ length: 6 }, (_, i) => node.sync.announced(peer, unitAt(growing, 6 + i)))
      const ended = Promise.allSettled(told)
      await node.until(() => node.sync.held.headers >= 5 && node.sync.progress().stage === 'blocks')
      // Until their bodies are there, and checked by threads, which no count of turns tells.
      await new Promise((resolve) => setTimeout(resolve, 200 * busyness()))
      release()
      await held
      await node.until(() => node.height === 11)
      await ended
      expect(database.sequence - before).toBeLessThanOrEqual(2)
      await growing.close()
    })

    it('goes after one further up', async () => {
      const growing = await longChain(overrides, 5)
      const peer = new TestPeer(growing)
      const node = await start([peer])
      await node.until(() => node.height === 5)
      await growing.mine(4)
      await node.sync.announced(peer, unitAt(growing, 9)).catch((error: unknown) => {
        // Without validators nobody knows yet whether its bits are right.
        expect(error).toMatchObject({ code: 'block-parent-unknown' })
      })
      await node.until(() => node.height === 9)
      await growing.close()
    })
  })
})
