import { describe, expect, it, onTestFinished } from 'vitest'
import { replay, stateDigest } from '../../../../src/ledger/chain/replay-chain.js'
import { maxSnapshotBytes, maxSnapshots, Snapshots } from '../../../../src/node/devnet/snapshots.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { Mining } from '../../../../src/ledger/production/mining.js'
import { digestOf } from '../../../../src/ledger/storage/care/table-digest.js'
import { derivedTables, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { holder } from '../../../support/builders/did.js'
import { testAddress } from '../../../support/builders/spec.js'
import { Crowd, random } from '../../../support/builders/random-chain.js'
import { testDevnet, type TestDevnet } from '../../../support/fakes/test-devnet.js'

const coin = 100_000_000n

async function open(options: Parameters<typeof testDevnet>[0] = {}): Promise<TestDevnet> {
  const net = await testDevnet(options)
  onTestFinished(() => net.close())
  return net
}

const waiting = ({ chain }: TestDevnet) => Array.from(chain.mempool.entries(), ({ transaction }) => transaction.txid)

/** Everything that a snapshot has to bring back. */
async function stateOf({ chain, clock }: TestDevnet) {
  await settled(chain.database)
  const rows = (await chain.database.rows(tables.pool.range())).map(([, value]) => tables.pool.decode(value))
  return {
    tip: chain.chain.tip.header.id,
    digest: await stateDigest(chain.database),
    rows: toHex(await digestOf(chain.database, [...derivedTables, tables.confirm.number, tables.sideBody.number])),
    headers: (await chain.database.keys(tables.header.range())).length,
    pool: Array.from(chain.mempool.entries(), ({ transaction, arrival }) => `${transaction.txid} ${arrival}`),
    poolBytes: chain.mempool.bytes,
    poolRows: rows.map(({ arrival, bytes }) => `${Transaction.fromBytes(bytes).txid} ${arrival}`).sort(),
    clock: clock.state,
  }
}

/** A row that goes is written soon, not at once. */
async function settled(database: TestDevnet['chain']['database']): Promise<void> {
  await database.idle()
  await new Promise((resolve) => setImmediate(resolve))
  await database.idle()
}

describe('random use of a devnet with snapshots', () => {
  it.each([1, 2, 3, 4, 5])('comes back to what was each time (seed %i)', async (seed) => {
    const roll = random(seed)
    const net = await testDevnet()
    const { chain, clock, devnet } = net
    const crowd = new Crowd(roll)
    const taken = new Map<number, Awaited<ReturnType<typeof stateOf>>>()
    const gone: number[] = []
    let reverts = 0
    for (let step = 0; step < 220; step++) {
      const choice = roll(40)
      if (choice < 18) await crowd.act(chain)
      else if (choice < 20) await devnet.faucet(testAddress(10 + roll(4)), BigInt(1 + roll(1000)))
      else if (choice < 28) await devnet.mine(1 + roll(2))
      else if (choice < 30) await devnet.increaseTime(roll(1000))
      else if (choice < 32) {
        await devnet.setNextBlockTime(Math.max(chain.chain.tip.header.time, clock.seconds) + 1 + roll(500))
      } else if (choice < 34) chain.clock.time += roll(5000)
      else if (choice < 37) {
        const id = await devnet.snapshot()
        const before = await stateOf(net)
        expect(before.poolRows).toEqual([...before.pool].sort())
        taken.set(id, before)
      } else if (taken.size > 0) {
        const ids = [...taken.keys()]
        const id = ids[Math.max(0, ids.length - 1 - roll(4))] as number
        await devnet.revert(id)
        expect(await stateOf(net)).toEqual(taken.get(id))
        reverts++
        for (const later of ids.filter((other) => other > id)) {
          taken.delete(later)
          gone.push(later)
        }
        crowd.look(chain)
      }
      if (gone.length > 0 && roll(20) === 0) {
        const id = gone[roll(gone.length)] as number
        await expect(devnet.revert(id)).rejects.toMatchObject({ code: 'request-parameter' })
      }
    }
    expect(reverts).toBeGreaterThan(5)

    // What a restart finds is what is there, and what the blocks alone make.
    const last = await stateOf(net)
    const { now } = clock.state
    await net.close()
    const again = await open({ store: net.store })
    again.chain.clock.time = chain.clock.time
    const found = await stateOf(again)
    expect({ ...found, pool: [...found.pool].sort() }).toEqual({
      ...last,
      pool: [...last.pool].sort(),
      clock: { now, nextBlockTime: undefined },
    })
    const copy = await open()
    expect(await replay(again.chain.database, copy.chain.chain)).toBeUndefined()
    expect(await stateDigest(copy.chain.database)).toBe(last.digest)
  })
})

describe('a snapshot', () => {
  it('can be reverted to again and again, and blocks of the same heights be signed anew', async () => {
    const net = await open()
    const { chain, devnet } = net
    await devnet.mine(2)
    const id = await devnet.snapshot()
    expect(id).toBe(1)
    const before = await stateOf(net)
    const tips = new Set<string>()
    for (let round = 0; round < 5; round++) {
      await devnet.faucet(testAddress(12), coin)
      tips.add((await devnet.mine(3)).at(-1) as string)
      expect(chain.reader.height).toBe(5)
      await devnet.revert(id)
      expect(await stateOf(net)).toEqual(before)
      // The transactions of the blocks that went are unknown again, not waiting.
      expect(waiting(net)).toEqual([])
    }
    expect(tips.size).toBe(5)
  })

  it('holds what waited: mined or dropped meanwhile, it waits again, in its order and with its age', async () => {
    const net = await open()
    const { chain, devnet } = net
    const kept: string[] = []
    for (const person of [10, 11]) {
      chain.clock.time += 1000
      kept.push((await chain.send(await chain.transfer(testAddress(12), coin, person))).txid)
    }
    const arrivals = () => Array.from(chain.mempool.entries(), ({ arrival }) => arrival)
    const before = arrivals()
    const id = await devnet.snapshot()
    await devnet.mine(1)
    const later = await chain.send(await chain.transfer(testAddress(13), coin))
    await devnet.revert(id)
    expect(waiting(net)).toEqual(kept)
    expect(arrivals()).toEqual(before)
    expect(chain.mempool.droppedReason(later.hash)).toBeUndefined()
    // Too old for the pool by the real clock: dropped with a reason, which the revert takes back.
    chain.clock.time += 73 * 60 * 60 * 1000
    await chain.mempool.expire()
    expect(waiting(net)).toEqual([])
    await devnet.revert(id)
    expect(waiting(net)).toEqual(kept)
    for (const { transaction } of chain.mempool.entries()) {
      expect(chain.mempool.droppedReason(transaction.hash)).toBeUndefined()
    }
    await settled(chain.database)
    expect(await chain.database.keys(tables.dropped.range())).toEqual([])
    await devnet.mine(1)
    expect(chain.reader.transaction(Buffer.from(kept[0] as string, 'hex').reverse())).toBeDefined()
  })

  it('takes resolved DIDs back, whatever was answered in between', async () => {
    const net = await open()
    const { chain, devnet, resolver } = net
    const { did, create, update, deactivate } = holder()
    const publish = async (operation: ReturnType<typeof create>) => {
      const { txid } = await chain.send(await chain.carry(operation, did))
      await devnet.mine(1)
      return txid
    }
    const both = async () => ({
      last: JSON.stringify(await resolver.resolve(did, { all: false })),
      all: JSON.stringify(await resolver.resolve(did, { all: true })),
    })
    const empty = await devnet.snapshot()
    const unknown = await both()
    const first = await publish(create())
    const created = await both()
    expect(created.last).toContain('"status":0')
    const id = await devnet.snapshot()
    await publish(update(first))
    await both()
    await devnet.revert(id)
    expect(await both()).toEqual(created)
    await publish(deactivate())
    expect((await both()).last).toContain('"status":2')
    await devnet.revert(id)
    expect(await both()).toEqual(created)
    // By the clock alone: the tip is the same all the while.
    await devnet.increaseTime(20 * 365 * 86_400)
    expect((await both()).last).toContain('"status":1')
    await devnet.revert(id)
    expect(await both()).toEqual(created)
    await devnet.revert(empty)
    expect(await both()).toEqual(unknown)
    await expect(devnet.revert(id)).rejects.toMatchObject({ code: 'request-parameter' })
  })

  it('takes found documents back, also where one block held several operations of a DID', async () => {
    const net = await open()
    const { chain, devnet, resolver } = net
    const [ada, bob] = [holder(), holder()] as const
    const offering = (type: string) => ({
      services: [{ id: `#${type}`, type, serviceEndpoint: 'https://hub.example' }],
    })
    const send = async (operation: ReturnType<typeof ada.create>, did: string) =>
      (await chain.send(await chain.carry(operation, did))).txid
    const found = async () =>
      (await resolver.query({ query: {} })).document.map(({ id, service = [] }) => [
        id,
        ...(service as { type: string }[]).map(({ type }) => type),
      ])
    const empty = await devnet.snapshot()
    const first = await send(ada.create(), ada.did)
    const second = await send(ada.update(first, offering('One')), ada.did)
    await send(bob.create(offering('Hub')), bob.did)
    const third = await send(ada.update(second, offering('Two')), ada.did)
    const waiting = await devnet.snapshot()
    await devnet.mine(1)
    const mined = await devnet.snapshot()
    const both = await found()
    expect(both.map(([, type]) => type).sort()).toEqual(['Hub', 'Two'])
    await send(ada.update(third, offering('Three')), ada.did)
    await send(bob.deactivate(), bob.did)
    await devnet.mine(1)
    expect(await found()).toEqual([[ada.did, 'Three']])
    await devnet.revert(mined)
    expect(await found()).toEqual(both)
    await devnet.revert(waiting)
    expect(await found()).toEqual([])
    await devnet.mine(1)
    expect((await found()).sort()).toEqual(both.sort())
    await devnet.revert(empty)
    expect(await found()).toEqual([])
  })

  it('brings the clock back to what it showed, however long ago, and the time of the next block', async () => {
    const { chain, clock, devnet } = await open()
    await devnet.increaseTime(1000)
    const { seconds } = clock
    await devnet.setNextBlockTime(seconds + 77)
    const id = await devnet.snapshot()
    await devnet.mine(2)
    await devnet.increaseTime(5000)
    chain.clock.time += 3_600_000
    await devnet.revert(id)
    expect(clock.seconds).toBe(seconds)
    await devnet.mine(1)
    expect(chain.chain.tip.header.time).toBe(seconds + 77)
    // Behind the machine's clock, and it goes on.
    await devnet.revert(id)
    chain.clock.time += 5000
    expect(clock.seconds).toBe(seconds + 5)
  })

  it('is refused where it is unknown or gone, with the reason', async () => {
    const { devnet } = await open()
    await expect(devnet.revert(1)).rejects.toThrow(/id: there is no snapshot 1; .*restart/)
    const first = await devnet.snapshot()
    await devnet.mine(1)
    const second = await devnet.snapshot()
    await devnet.revert(first)
    await expect(devnet.revert(second)).rejects.toThrow(/id: snapshot 2 is gone/)
    await expect(devnet.revert(0)).rejects.toThrow(/no snapshot 0/)
    // Numbers are not used again.
    expect(await devnet.snapshot()).toBe(3)
    await devnet.revert(first)
  })
})

describe('mining and reverts', () => {
  it('goes on by itself: what waits again is mined again, and so is what comes', async () => {
    const net = await open({ mining: { kind: 'automine' } })
    const { chain, devnet } = net
    const mined = async () => {
      await expect.poll(() => chain.mempool.size).toBe(0)
      return chain.reader.height
    }
    const id = await devnet.snapshot()
    await devnet.faucet(testAddress(12), coin)
    expect(await mined()).toBe(1)
    await devnet.revert(id)
    expect(chain.reader.height).toBe(0)
    await devnet.faucet(testAddress(12), coin)
    expect(await mined()).toBe(1)
    // A snapshot that holds something that waits: taken in the turn in which it came, before its block.
    const taken = new Promise<number>((resolve) => {
      chain.mempool.events.once('accepted', () => resolve(devnet.snapshot()))
    })
    await devnet.faucet(testAddress(12), coin)
    const full = await taken
    expect(await mined()).toBe(2)
    await devnet.revert(full)
    expect(await mined()).toBe(2)
  })

  it('ends no revert with a block that was under way before it', async () => {
    const net = await open({ mining: { kind: 'automine' } })
    const { chain, devnet } = net
    const id = await devnet.snapshot()
    for (let round = 0; round < 14; round++) {
      const payments = [devnet.faucet(testAddress(12), coin), devnet.faucet(testAddress(13), coin)]
      const mining = devnet.mine(2)
      for (let turns = round % 7; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
      await Promise.all(payments)
      await mining
      await devnet.revert(id)
      expect([chain.reader.height, chain.mempool.size]).toEqual([0, 0])
      for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve))
      expect(chain.reader.height).toBe(0)
    }
  })

  it('leaves nothing behind of what came just before the revert', async () => {
    const net = await open({ mining: { kind: 'automine' } })
    const { chain, devnet } = net
    const id = await devnet.snapshot()
    for (let round = 0; round < 6; round++) {
      // The payment enters the pool and asks for a block while the revert is waiting already.
      const payment = devnet.faucet(testAddress(12), coin)
      for (let turns = round; turns > 0; turns--) await Promise.resolve()
      await Promise.all([payment, devnet.revert(id)])
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
      expect([chain.reader.height, chain.mempool.size]).toEqual([0, 0])
    }
  })

  it('lets another producer of the node begin anew', async () => {
    const net = await open()
    const { chain, clock, devnet, timers } = net
    const random = { bytes: (length: number) => new Uint8Array(length) }
    const { mempool, log } = chain
    const mining = new Mining({ chain: chain.chain, mempool, clock, timers, random, log, validator: devnet.validator })
    const id = await devnet.snapshot()
    for (let round = 0; round < 20; round++) {
      await devnet.mine(1)
      const blocks = mining.mine(2)
      for (let turns = round % 5; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
      await devnet.revert(id)
      expect(await blocks).toHaveLength(2)
      await devnet.revert(id)
    }
    expect(log.errors).toEqual([])
  })

  it('starts to count the seconds to the next block anew', async () => {
    const net = await open({ mining: { kind: 'interval', seconds: 7 } })
    const { chain, devnet, timers } = net
    const id = await devnet.snapshot()
    timers.fire()
    await expect.poll(() => chain.reader.height).toBe(1)
    await devnet.revert(id)
    expect(chain.reader.height).toBe(0)
    expect(timers.pending).toEqual([7000])
    timers.fire()
    await expect.poll(() => chain.reader.height).toBe(1)
    // Those that are over while the revert is under way count for nothing either.
    const reverted = devnet.revert(id)
    timers.fire()
    await reverted
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    expect(chain.reader.height).toBe(0)
    expect(timers.pending).toEqual([7000])
  })

  it('is safe against everything else that happens at the same time', async () => {
    const net = await open({ mining: { kind: 'automine' } })
    const { chain, devnet } = net
    const ids = [await devnet.snapshot()]
    await devnet.faucet(testAddress(12), coin)
    await devnet.mine(1)
    ids.push(await devnet.snapshot())
    const transfers = await Promise.all([10, 11].map(async (person) => chain.transfer(testAddress(12), coin, person)))
    for (let round = 0; round < 20; round++) {
      await Promise.allSettled([
        ...transfers.map((transfer) => chain.send(transfer)),
        devnet.faucet(testAddress(13), coin),
        devnet.mine(2),
        devnet.increaseTime(10),
        devnet.revert(ids[round % 2] as number).catch(() => devnet.revert(ids[0] as number)),
        devnet.faucet(testAddress(13), coin),
      ])
    }
    await devnet.mine(1)
    await expect.poll(() => chain.mempool.size).toBe(0)
    expect(chain.log.errors).toEqual([])
    const { pool, poolRows } = await stateOf(net)
    expect(poolRows).toEqual([...pool].sort())
    const copy = await open()
    expect(await replay(chain.database, copy.chain.chain)).toBeUndefined()
    expect(await stateDigest(copy.chain.database)).toBe(await stateDigest(chain.database))
  })
})

describe('questions while the chain goes ahead and back', () => {
  it('are answered from one state or the other, never from both', async () => {
    const { chain, devnet, resolver } = await open()
    const { did, create, update } = holder()
    const { txid } = await chain.send(await chain.carry(create(), did))
    await devnet.mine(1)
    const id = await devnet.snapshot()
    // The two updates are the same transaction in blocks of other times.
    const ask = async () =>
      JSON.stringify(await resolver.resolve(did, { all: true })).replace(/"timestamp":"[^"]*"/g, '')
    const allowed = [await ask()]
    await chain.send(await chain.carry(update(txid), did))
    const full = await devnet.snapshot()
    await devnet.mine(1)
    allowed.push(await ask())
    const seen = new Set<string>()
    let over = false
    const asking = (async () => {
      while (!over) {
        for (const answer of await Promise.all([ask(), ask(), ask()])) seen.add(answer)
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    for (let round = 0; round < 40; round++) {
      await devnet.revert(full)
      await devnet.mine(1)
    }
    await devnet.revert(id)
    over = true
    await asking
    expect([...seen].sort()).toEqual(allowed.sort())
  })
})

describe('the snapshots that are kept', () => {
  const clock = { now: 0, nextBlockTime: undefined }
  const of = (bytes: number) => ({
    tip: new Uint8Array(32),
    clock,
    pool: [{ transaction: { bytes: { length: bytes } } as Transaction, arrival: 0 }],
  })

  it('are bounded in number and bytes, and room comes back', () => {
    const many = new Snapshots()
    for (let id = 1; id <= maxSnapshots; id++) expect(many.add(of(10))).toBe(id)
    expect(() => many.add(of(10))).toThrow(expect.objectContaining({ code: 'snapshot-limit' }))
    many.forgetAfter(maxSnapshots - 1)
    expect(many.add(of(10))).toBe(maxSnapshots + 1)
    const large = new Snapshots()
    large.add(of(maxSnapshotBytes - 1))
    expect(() => large.add(of(2))).toThrow(expect.objectContaining({ code: 'snapshot-limit' }))
    expect(large.add(of(1))).toBe(2)
    large.forgetAfter(0)
    expect(large.add(of(maxSnapshotBytes))).toBe(3)
  })
})
