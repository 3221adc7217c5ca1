import { describe, expect, it, onTestFinished } from 'vitest'
import { replay, stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { EventCursor } from '../../../src/ledger/events/event-cursor.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { fromHex, parseDisplayHash } from '../../../src/base/primitives/bytes.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import { devnetState } from '../../support/assert/devnet-state.js'
import { formatDate } from '../../../src/identity/did/date.js'
import { Crowd, random } from '../../support/builders/random-chain.js'
import { testAddress } from '../../support/builders/spec.js'
import { testDevnet, type TestDevnet } from '../../support/fakes/test-devnet.js'

const coin = 100_000_000n

async function open(options: Parameters<typeof testDevnet>[0] = {}): Promise<TestDevnet> {
  const net = await testDevnet(options)
  onTestFinished(() => net.close())
  return net
}

const logOf = ({ chain: { chain, mempool, clock } }: TestDevnet) => EventLog.open({ chain, mempool, clock })
const waiting = ({ chain }: TestDevnet) => Array.from(chain.mempool.entries(), ({ transaction }) => transaction.txid)
const hashAt = ({ chain }: TestDevnet, height: number) => chain.reader.headerAt(height)?.header.id
const hashOf = (text: string) => parseDisplayHash(text) as Hash

function told(log: EventLog, first: number): string[] {
  return Array.from({ length: log.last - first }, (_, i) => log.at(first + 1 + i).data).map((event) =>
    'height' in event ? `${event.topic} ${event.action} ${event.height}` : event.topic,
  )
}

describe('dev_reorg', () => {
  it('replaces the last blocks by others, in one write, and events revert and apply', async () => {
    const net = await open()
    await net.devnet.mine(5)
    const old = [5, 4, 3].map((height) => hashAt(net, height))
    const log = await logOf(net)
    const first = log.last
    const batches = net.chain.database.sequence
    const { disconnected, connected } = await net.devnet.reorg(3)
    expect(net.chain.database.sequence).toBe(batches + 1)
    expect(disconnected).toEqual(old)
    expect(connected).toEqual([3, 4, 5].map((height) => hashAt(net, height)))
    expect(new Set([...disconnected, ...connected]).size).toBe(6)
    expect(told(log, first)).toEqual([
      'block revert 5',
      'block revert 4',
      'block revert 3',
      'block apply 3',
      'block apply 4',
      'block apply 5',
    ])
  })

  it('leads a client that stands on a block that left to the new ones', async () => {
    const net = await open()
    await net.devnet.mine(4)
    const left = hashAt(net, 4) as string
    const log = await logOf(net)
    await net.devnet.reorg(2)
    const cursor = new EventCursor(log, ['block'], { kind: 'block', hash: hashOf(left) })
    const seen: string[] = []
    for (let more = await cursor.replay(); more !== undefined; more = await cursor.replay()) {
      seen.push(...more.map(({ data }) => `${data.action} ${'height' in data ? data.height : ''}`))
    }
    expect(seen).toEqual(['revert 4', 'revert 3', 'apply 3', 'apply 4'])
  })

  it('gives their transactions back to the pool, or leaves them out', async () => {
    for (const drop of [false, true]) {
      const net = await open()
      const txid = await net.devnet.faucet(testAddress(12), coin)
      const child = await net.chain.send(await net.chain.transfer(testAddress(13), coin))
      await net.devnet.mine(1)
      await net.devnet.reorg(1, { drop })
      await net.chain.mempool.settled()
      expect(waiting(net).sort()).toEqual(drop ? [] : [txid, child.txid].sort())
      expect(net.chain.reader.headerAt(1)?.transactionCount).toBe(1)
      const reason = net.chain.mempool.droppedReason(hashOf(txid))
      expect(reason).toBe(drop ? 'it was taken out by dev_reorg' : undefined)
      await net.devnet.mine(1)
      expect(net.chain.reader.headerAt(2)?.transactionCount).toBe(drop ? 1 : 3)
    }
  })

  it('is followed at once by a block with what came back, where blocks are automatic', async () => {
    const net = await open({ mining: { kind: 'automine' } })
    await net.devnet.faucet(testAddress(12), coin)
    await expect.poll(() => net.chain.reader.height).toBe(1)
    await net.devnet.reorg(1)
    await expect.poll(() => net.chain.reader.height).toBe(2)
    expect(net.chain.reader.headerAt(2)?.transactionCount).toBe(2)
    expect(net.chain.mempool.size).toBe(0)
  })

  it('refuses more blocks than there are, or than a reorganisation takes', async () => {
    const net = await open()
    await net.devnet.mine(3)
    for (const blocks of [0, -1, 1.5, NaN, 289, 4]) {
      await expect(net.devnet.reorg(blocks)).rejects.toMatchObject({ code: 'request-parameter' })
    }
    await expect(net.devnet.reorg(4)).rejects.toThrow('blocks: 4, and the chain has 3 after its genesis block')
    await net.devnet.mine(300)
    expect((await net.devnet.reorg(288)).connected).toHaveLength(288)
  })

  it('takes snapshots away that stand on a block that left, and no others', async () => {
    const net = await open()
    await net.devnet.mine(2)
    const low = await net.devnet.snapshot()
    await net.devnet.mine(2)
    const high = await net.devnet.snapshot()
    await net.devnet.reorg(2)
    await expect(net.devnet.revert(high)).rejects.toThrow('its block left the chain')
    await net.devnet.revert(low)
    expect(net.chain.reader.height).toBe(2)
  })

  it('can be repeated beyond what is kept aside, and survives a restart', async () => {
    const net = await testDevnet()
    await net.devnet.mine(290)
    for (let round = 0; round < 5; round++) await net.devnet.reorg(288)
    const before = await devnetState(net)
    await net.close()
    const again = await open({ store: net.store })
    again.chain.clock.time = net.chain.clock.time
    expect(await devnetState(again)).toEqual(before)
    await again.devnet.reorg(10)
    await again.devnet.mine(1)
    expect(again.chain.reader.height).toBe(291)
  })

  it.each([1, 2, 3])('leaves what the blocks alone make, in random use (seed %i)', async (seed) => {
    const net = await open()
    const roll = random(seed)
    const crowd = new Crowd(roll)
    for (let step = 0; step < 120; step++) {
      const choice = roll(10)
      if (choice < 5) await crowd.act(net.chain)
      else if (choice < 8) await net.devnet.mine(1 + roll(3))
      else if (net.chain.reader.height > 0) {
        await net.devnet.reorg(1 + roll(Math.min(5, net.chain.reader.height)), { drop: roll(2) === 0 })
        await net.chain.mempool.settled()
        crowd.look(net.chain)
      }
    }
    const copy = await open()
    expect(await replay(net.chain.database, copy.chain.chain)).toBeUndefined()
    expect(await stateDigest(copy.chain.database)).toBe(await stateDigest(net.chain.database))
  })
})

describe('dev_dropTransaction', () => {
  it('takes a transaction out with those that depend on it, and leaves the others', async () => {
    const net = await open()
    const parent = (await net.chain.send(await net.chain.transfer(testAddress(10), coin, 10))).txid
    const child = (await net.chain.send(await net.chain.transfer(testAddress(10), coin, 10))).txid
    const other = (await net.chain.send(await net.chain.transfer(testAddress(11), coin, 11))).txid
    expect(await net.devnet.dropTransaction(hashOf(parent))).toEqual([parent, child])
    expect(waiting(net)).toEqual([other])
    expect(net.chain.mempool.droppedReason(hashOf(parent))).toBe('it was taken out by dev_dropTransaction')
    expect(net.chain.mempool.droppedReason(hashOf(child))).toBe('it was taken out by dev_dropTransaction')
    await net.devnet.mine(1)
    expect(net.chain.reader.headerAt(1)?.transactionCount).toBe(2)
    const rows = await devnetState(net)
    expect(rows.stored).toEqual([])
  })

  it('refuses one that does not wait: unknown, or mined', async () => {
    const net = await open()
    const txid = await net.devnet.faucet(testAddress(12), coin)
    await net.devnet.mine(1)
    for (const hash of [hashOf(txid), fromHex('11'.repeat(32)) as Hash]) {
      await expect(net.devnet.dropTransaction(hash)).rejects.toMatchObject({ code: 'unknown-transaction' })
    }
  })

  it('does not come back, and may be sent again', async () => {
    const net = await testDevnet()
    const { bytes, hash } = await net.chain.send(await net.chain.transfer(testAddress(12), coin))
    await net.devnet.dropTransaction(hash)
    await net.close()
    const again = await open({ store: net.store })
    expect(again.chain.mempool.size).toBe(0)
    await again.chain.mempool.accept(bytes, { local: true })
    expect(again.chain.mempool.size).toBe(1)
  })
})

describe('dev_setTime', () => {
  it('sets the clock forward and back, and keeps that over a restart', async () => {
    const net = await testDevnet()
    const now = net.clock.seconds
    expect(await net.devnet.setTime(now + 5000)).toBe(now + 5000)
    expect(net.clock.seconds).toBe(now + 5000)
    expect(await net.devnet.setTime(now + 1000)).toBe(now + 1000)
    await net.close()
    const again = await open({ store: net.store })
    again.chain.clock.time = net.chain.clock.time
    expect(again.clock.seconds).toBe(now + 1000)
    await again.devnet.mine(1)
    expect(again.chain.chain.tip.header.time).toBe(now + 1000)
  })

  it('refuses a time before the tip, or beyond what blocks can have', async () => {
    const net = await open()
    await net.devnet.mine(1)
    const { time } = net.chain.chain.tip.header
    await expect(net.devnet.setTime(time - 1)).rejects.toThrow(
      `time: ${time - 1} (${formatDate(time - 1)}) is before the tip's time, ${time} (${formatDate(time)})`,
    )
    for (const wrong of [-1, 1.5, NaN, 4_102_444_801]) {
      await expect(net.devnet.setTime(wrong)).rejects.toMatchObject({ code: 'request-parameter' })
    }
    expect(await net.devnet.setTime(time)).toBe(time)
  })
})
