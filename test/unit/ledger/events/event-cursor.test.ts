import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { type StartPoint, EventCursor } from '../../../../src/ledger/events/event-cursor.js'
import { EventLog } from '../../../../src/ledger/events/event-log.js'
import { eventTopics } from '../../../../src/base/primitives/chain-event.js'
import { formatAmount } from '../../../../src/base/primitives/amount.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import { memoryStore, oneValidator, TestChain } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'
import { ChainView } from '../../../support/assert/chain-view.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { rounds } from '../../../support/process/thorough.js'

const signatures = new SignatureCache()
const open = () => TestChain.open(undefined, { signatures })
const logOf = (test: TestChain, kept?: number) =>
  EventLog.open({
    chain: test.chain,
    mempool: test.mempool,
    clock: test.clock,
    ...(kept === undefined ? {} : { kept }),
  })

/** Everything a feed has to tell until it waits for something new. */
async function drain(feed: EventCursor): Promise<{ number: number | null; text: string }[]> {
  const told: { number: number | null; text: string }[] = []
  while (feed.replaying) told.push(...((await feed.replay()) ?? []).map(({ number, text }) => ({ number, text })))
  for (let event = feed.take(); event !== undefined; event = feed.take()) told.push(event)
  return told
}

const parsed = (told: readonly { text: string }[]) =>
  told.map(({ text }) => JSON.parse(text) as Record<string, unknown>)

/** Blocks in which each DID of a few is created, updated or deactivated; several operations share a block. */
async function mineOperations(test: TestChain, blocks: number): Promise<Block[]> {
  const made: Block[] = []
  const created: { who: ReturnType<typeof holder>; txid: string }[] = []
  for (let i = 0; i < blocks; i++) {
    for (let more = i % 3; more > 0; more--) {
      const who = holder()
      const { txid } = await test.send(await test.carry(who.create(), who.did))
      created.push({ who, txid })
    }
    const old = i % 2 === 1 ? created.shift() : undefined
    if (old !== undefined) await test.send(await test.carry(old.who.deactivate(), old.who.did))
    made.push(...(await test.mine()))
  }
  return made
}

/** Three branches of one tree, each from genesis on: the second leaves the first after 2 blocks, the third after 4. */
async function branches(): Promise<Block[][]> {
  const first = await open()
  const trunk = await mineOperations(first, 8)
  await first.close()
  const others: Block[][] = []
  for (const [fork, length] of [
    [2, 8],
    [4, 5],
  ] as const) {
    const test = await open()
    for (const block of trunk.slice(0, fork)) await test.accept(block)
    others.push([...trunk.slice(0, fork), ...(await mineOperations(test, length))])
    await test.close()
  }
  return [trunk, ...others]
}

/** The active chain as a client should see it. */
async function truth({ reader }: TestChain): Promise<{ hashes: string[]; operations: string[] }> {
  const hashes: string[] = []
  const operations: string[] = []
  for (let height = 0; height <= reader.height; height++) {
    const block = await reader.block(reader.headerAt(height) as NonNullable<ReturnType<typeof reader.headerAt>>)
    hashes.push(block.hash)
    for (const { payload, txid } of block.transactions) {
      if (payload.type === 10) operations.push(`${payload.operation.operation} ${txid}`)
    }
  }
  return { hashes, operations }
}

function shown(view: ChainView): { hashes: string[]; operations: string[] } {
  return {
    hashes: view.blocks.map(({ hash }) => hash),
    operations: view.operations.map((operation) => operation.split(' ').slice(1).join(' ')),
  }
}

/** A client that comes and goes, and knows nothing but what it was told. */
class Client {
  readonly view = new ChainView()
  #feed: EventCursor | undefined
  readonly refused: string[] = []

  constructor(readonly log: EventLog) {}

  /** Takes at least so many events, or all there are. */
  async listen(most: number): Promise<void> {
    try {
      this.#feed ??= new EventCursor(this.log, ['block', 'did'], this.#beginning())
      for (let taken = 0; taken < most;) {
        const one = this.#feed.replaying ? undefined : this.#feed.take()
        if (one === undefined && !this.#feed.replaying) return
        const given = one === undefined ? ((await this.#feed.replay()) ?? []) : [one]
        // A client with little room takes the rest of a block later, wherever that has gone meanwhile.
        const events = given.slice(0, 1 + (most === Infinity ? 1 : most % 3))
        if (events.length < given.length) this.#feed.putBack(given.length - events.length)
        for (const { number, data } of events) this.view.take({ number, ...data })
        taken += events.length
      }
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      this.refused.push(error.code)
      this.leave(true)
    }
  }

  leave(forgetful: boolean): void {
    this.#feed = undefined
    if (forgetful) this.view.interrupted()
  }

  #beginning(): StartPoint {
    if (this.view.number !== undefined) return { kind: 'event', number: this.view.number }
    this.view.interrupted()
    return this.view.afterBlock
  }
}

/** A chain whose branch of 4 blocks was left at height 2 for a longer one, and the blocks of both. */
async function reorganised(test: TestChain, log?: EventLog): Promise<{ left: Block[]; taken: Block[] }> {
  const [left, taken] = (await branches()) as [Block[], Block[]]
  for (const block of left.slice(0, 4)) await test.accept(block)
  if (log !== undefined) expect(log.tip.height).toBe(4)
  for (const block of taken.slice(2, 6)) await test.accept(block)
  return { left: left.slice(0, 4), taken: taken.slice(0, 6) }
}

/** Leaves time between the rows of a change and what is said of it, and around every read of a block. */
function slowDown({ chain, database }: TestChain): void {
  chain.addIndexer({
    stage: () => {},
    follow: async () => {
      for (let turn = 0; turn < 3; turn++) await nextTurn()
    },
  })
  const rows = database.rows.bind(database)
  database.rows = async (...range) => {
    await nextTurn()
    const found = await rows(...range)
    await nextTurn()
    return found
  }
}

describe('EventCursor', () => {
  it('tells of a reorganisation newest first, then oldest first, operations before their block', async () => {
    const test = await open()
    const log = await logOf(test)
    const feed = new EventCursor(log, eventTopics, { kind: 'now' })
    const { left, taken } = await reorganised(test, log)
    const told = parsed(await drain(feed))
    const blocks = told.filter(({ topic }) => topic === 'block').map(({ action, hash }) => [action, hash])
    expect(blocks).toEqual([
      ...left.map(({ hash }) => ['apply', hash]),
      ...[...left.slice(2)].reverse().map(({ hash }) => ['revert', hash]),
      ...taken.slice(2).map(({ hash }) => ['apply', hash]),
    ])
    expect(told.map(({ number }) => number)).toEqual(told.map((_, i) => log.start + 1 + i))
    const third = left[2] as Block
    const ofThird = told.filter(({ blockhash, hash }) => blockhash === third.hash || hash === third.hash)
    const txids = third.transactions.flatMap(({ payload, txid }) => (payload.type === 10 ? [txid] : []))
    expect(txids.length).toBe(2)
    expect(ofThird.map(({ action, topic, txid }) => [action, topic, txid])).toEqual([
      ...txids.map((txid) => ['apply', 'did', txid]),
      ['apply', 'block', undefined],
      ...[...txids].reverse().map((txid) => ['revert', 'did', txid]),
      ['revert', 'block', undefined],
    ])
    await test.close()
  })

  it('says of each event what there is to say', async () => {
    const test = await open()
    const log = await logOf(test)
    const feed = new EventCursor(log, eventTopics, { kind: 'now' })
    const who = holder()
    const sent = await test.send(await test.carry(who.create(), who.did))
    const { txid } = sent
    const fee = formatAmount(test.mempool.get(sent.hash)?.fee ?? 0n)
    const [block] = (await test.mine()) as [Block]
    expect(parsed(await drain(feed))).toEqual([
      { number: log.start + 1, topic: 'transaction', action: 'apply', txid, type: 10, size: sent.bytes.length, fee },
      {
        number: log.start + 2,
        topic: 'did',
        action: 'apply',
        did: who.did,
        operation: 'create',
        txid,
        height: 1,
        blockhash: block.hash,
      },
      {
        number: log.start + 3,
        topic: 'block',
        action: 'apply',
        height: 1,
        hash: block.hash,
        previousblockhash: test.chain.genesis.hash,
        time: block.header.time,
        transactions: 2,
      },
    ])
    await test.close()
  })

  it('tells only the topics asked for', async () => {
    const test = await open()
    const log = await logOf(test)
    const feeds = eventTopics.map((topic) => new EventCursor(log, [topic], { kind: 'now' }))
    await mineOperations(test, 5)
    const ada = holder()
    await test.publish(ada.create(), ada.did)
    for (const name of 'abcd') await test.publish(ada.revoke(`${ada.did}#${name}`), ada.did)
    for (const [i, feed] of feeds.entries()) {
      const told = parsed(await drain(feed))
      expect(told.length).toBeGreaterThan(3)
      expect(new Set(told.map(({ topic }) => topic))).toEqual(new Set([eventTopics[i]]))
      const again = new EventCursor(log, [eventTopics[i] as (typeof eventTopics)[number]], {
        kind: 'height',
        height: 0,
      })
      const replayed = { block: 11, did: told.length, credential: told.length, transaction: 0 }[
        eventTopics[i] as (typeof eventTopics)[number]
      ]
      expect(await drain(again)).toHaveLength(replayed)
    }
    await test.close()
  })

  it('goes on after a number as long as the event after it is kept', async () => {
    const test = await open()
    const log = await logOf(test, 3)
    const after = (number: number) => () => new EventCursor(log, eventTopics, { kind: 'event', number })
    expect(await drain(after(log.start)())).toEqual([])
    await test.mine(5)
    expect([log.start, log.last - log.start, log.oldest - log.start]).toEqual([log.start, 5, 3])
    expect((await drain(after(log.last - 3)())).map(({ number }) => number)).toEqual(
      [3, 4, 5].map((n) => log.start + n),
    )
    expect(await drain(after(log.last)())).toEqual([])
    for (const number of [log.last - 4, log.start, log.start - 1, log.last + 1, 0, 1]) {
      expect([number, codeOf(after(number))]).toEqual([number, 'event-gone'])
    }
    await test.close()
  })

  it('gives up when what is next is not kept any more', async () => {
    const test = await open()
    const log = await logOf(test, 3)
    const feed = new EventCursor(log, ['block'], { kind: 'now' })
    await test.mine(3)
    expect(feed.take()?.number).toBe(log.start + 1)
    await test.mine(2)
    expect(codeOf(() => feed.take())).toBe('event-gone')
    await test.close()
  })

  it('begins with the block of a height, genesis included, and joins the log', async () => {
    const test = await open()
    const log = await logOf(test)
    const { taken } = await reorganised(test)
    for (const height of [0, 1, 3, 6, 7]) {
      const feed = new EventCursor(log, ['block'], { kind: 'height', height })
      const told = await drain(feed)
      const hashes = [test.chain.genesis.hash, ...taken.map(({ hash }) => hash)].slice(height)
      expect(parsed(told).map(({ action, hash, number }) => [action, hash, number])).toEqual(
        hashes.map((hash) => ['apply', hash, null]),
      )
      const [more] = (await test.mine()) as [Block]
      taken.push(more)
      expect(parsed(await drain(feed)).map(({ hash, number }) => [hash, number])).toEqual([[more.hash, log.last]])
    }
    const above = () => new EventCursor(log, eventTopics, { kind: 'height', height: test.reader.height + 2 })
    expect(codeOf(above)).toBe('unknown-block')
    await test.close()
  })

  it('goes on after a block, taking it back first where it has left the chain', async () => {
    const test = await open()
    const log = await logOf(test)
    const { left, taken } = await reorganised(test)
    const after = async (block: Block) => {
      const told = parsed(await drain(new EventCursor(log, ['block'], { kind: 'block', hash: block.header.hash })))
      return told.map(({ action, hash }) => `${String(action)} ${String(hash)}`)
    }
    const [applies, reverts] = [taken, left].map((blocks) => blocks.map(({ hash }) => hash)) as [string[], string[]]
    expect(await after(taken[5] as Block)).toEqual([])
    expect(await after(taken[3] as Block)).toEqual(applies.slice(4).map((hash) => `apply ${hash}`))
    expect(await after(left[3] as Block)).toEqual([
      `revert ${reverts[3]}`,
      `revert ${reverts[2]}`,
      ...applies.slice(2).map((hash) => `apply ${hash}`),
    ])
    const unknown = () => new EventCursor(log, eventTopics, { kind: 'block', hash: new Uint8Array(32) })
    expect(codeOf(unknown)).toBe('unknown-block')
    await test.close()
  })

  it.each([
    ['a branch takes over', false],
    ['a branch takes over and loses again', true],
  ])('reads a block again when meanwhile %s', async (_, back) => {
    const test = await open()
    const log = await logOf(test)
    const [left, taken] = (await branches()) as [Block[], Block[]]
    for (const block of left.slice(0, 4)) await test.accept(block)
    const { database } = test
    const rows = database.rows.bind(database)
    const feed = new EventCursor(log, ['block', 'did'], { kind: 'height', height: 3 })
    database.rows = async (...range) => {
      database.rows = rows
      for (const block of taken.slice(2, 5)) await test.accept(block)
      const found = await rows(...range)
      if (back) for (const block of left.slice(4, 7)) await test.accept(block)
      return found
    }
    const view = new ChainView()
    for (const { number, data } of (await feed.replay()) ?? []) view.take({ number, ...data })
    while (feed.replaying) for (const { number, data } of (await feed.replay()) ?? []) view.take({ number, ...data })
    expect(log.reorganisations).toBe(back ? 2 : 1)
    const { hashes, operations } = await truth(test)
    expect(shown(view).hashes).toEqual(hashes.slice(3))
    expect(operations).toEqual(expect.arrayContaining(shown(view).operations))
    await test.close()
  })

  it('waits for the log where the rows are ahead of it', async () => {
    const test = await open()
    let committed = () => {}
    let release = () => {}
    const reached = new Promise<void>((resolve) => (committed = resolve))
    const gate = new Promise<void>((resolve) => (release = resolve))
    let closed = false
    test.chain.addIndexer({
      stage: () => {},
      follow: async () => {
        if (!closed) return
        committed()
        await gate
      },
    })
    const log = await logOf(test)
    const [left, taken] = (await branches()) as [Block[], Block[]]
    for (const block of [...left.slice(0, 4), ...taken.slice(2, 4)]) await test.accept(block)
    const feed = new EventCursor(log, ['block'], { kind: 'height', height: 2 })
    closed = true
    const accepting = test.accept(taken[4] as Block)
    await reached
    const told: unknown[] = []
    for (let i = 0; i < 4; i++)
      told.push(...((await feed.replay()) ?? []).map(({ data }) => 'hash' in data && data.hash))
    expect(told).toEqual(taken.slice(1, 5).map(({ hash }) => hash))
    expect(log.tip.height).toBe(4)
    const last = feed.replay()
    release()
    await accepting
    expect(await last).toEqual([])
    expect([await feed.replay(), feed.replaying, feed.take()]).toEqual([undefined, false, undefined])
    await test.accept(taken[5] as Block)
    expect(feed.take()?.data).toMatchObject({ hash: taken[5]?.hash })
    await test.close()
  })

  it('goes on in the middle of a block, also once it has left the chain', async () => {
    const test = await open()
    const log = await logOf(test)
    const [left, taken] = (await branches()) as [Block[], Block[]]
    for (const block of left.slice(0, 3)) await test.accept(block)
    const feed = new EventCursor(log, ['block', 'did'], { kind: 'height', height: 3 })
    const given = (await feed.replay()) ?? []
    expect(given.length).toBeGreaterThan(1)
    feed.putBack(given.length - 1)
    for (const block of taken.slice(2, 6)) await test.accept(block)
    expect(log.reorganisations).toBe(1)
    expect(await feed.replay()).toMatchObject(given.slice(1).map(({ data }) => ({ data })))
    expect((await feed.replay())?.map(({ data }) => data)).toEqual(
      [...given.slice(0, -1).reverse(), ...given.slice(-1)].map(({ data }) => ({ ...data, action: 'revert' })),
    )
    const view = new ChainView()
    while (feed.replaying) for (const { number, data } of (await feed.replay()) ?? []) view.take({ number, ...data })
    expect(shown(view).hashes).toEqual(taken.slice(2, 6).map(({ hash }) => hash))
    await test.close()
  })

  it('says so where the rest of a block is due that is not held any more', async () => {
    const test = await TestChain.open({ ...oneValidator(), devnet: true })
    const log = await logOf(test)
    const who = holder()
    await test.send(await test.carry(who.create(), who.did))
    await test.mine()
    const feed = new EventCursor(log, eventTopics, { kind: 'height', height: 1 })
    const given = (await feed.replay()) ?? []
    expect(given).toHaveLength(2)
    feed.putBack(1)
    log.blocks.clear()
    await test.chain.exclusive((writer) => writer.rewind(test.chain.genesis.header.hash, []))
    await expect(feed.replay()).rejects.toMatchObject({ code: 'event-gone' })
    await test.close()
  })

  it('gives up on a block to take back that is not held any more', async () => {
    const test = await TestChain.open({ ...oneValidator(), devnet: true })
    const log = await logOf(test)
    const [block] = (await test.mine()) as [Block]
    const feed = new EventCursor(log, eventTopics, { kind: 'block', hash: block.header.hash })
    await test.chain.exclusive((writer) => writer.rewind(test.chain.genesis.header.hash, []))
    await expect(feed.replay()).rejects.toMatchObject({ code: 'event-gone' })
    expect(log.tip.height).toBe(0)
    await test.close()
  })
})

describe('blocks that replays share', () => {
  it('are decoded once for all who stand at them, and for those who come soon', async () => {
    const test = await open()
    const log = await logOf(test)
    const blocks = await mineOperations(test, 6)
    const feeds = Array.from(
      { length: 20 },
      () => new EventCursor(log, ['block', 'did'], { kind: 'height', height: 1 }),
    )
    const told = await Promise.all(feeds.map((feed) => drain(feed)))
    expect(log.blocks.decoded).toBe(blocks.length)
    for (const one of told) expect(one).toEqual(told[0])
    await drain(new EventCursor(log, ['block'], { kind: 'height', height: 1 }))
    expect(log.blocks.decoded).toBe(blocks.length)
    log.blocks.clear()
    await drain(new EventCursor(log, ['block'], { kind: 'height', height: 1 }))
    expect(log.blocks.decoded).toBe(2 * blocks.length)
    await test.close()
  })

  it('are kept within a bound, the last used longest', async () => {
    const test = await open()
    const { chain, mempool, clock } = test
    const size = 1000
    const log = await EventLog.open({ chain, mempool, clock, keptForReplays: 3 * size })
    const blocks = await test.mine(4)
    const read = (at: number) => log.blocks.of((blocks[at] as Block).header.hash, 'apply')
    const decoded = async (...heights: number[]) => {
      const before = log.blocks.decoded
      for (const at of heights) expect((await read(at))?.bytes).toBe(size)
      return log.blocks.decoded - before
    }
    expect(await decoded(0, 1, 2)).toBe(3)
    expect(await decoded(0, 1, 2, 0)).toBe(0)
    // The fourth is one too many: the one used longest ago goes.
    expect(await decoded(3, 0, 2)).toBe(1)
    expect(await decoded(1)).toBe(1)
    await test.close()
  })

  it('are read for one address after the other, and for each address one at a time', async () => {
    const test = await open()
    const { chain, mempool, clock } = test
    const log = await EventLog.open({ chain, mempool, clock, replays: 2 })
    const blocks = await test.mine(7)
    let release = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const rows = test.database.rows.bind(test.database)
    test.database.rows = async (...range) => {
      await gate
      return rows(...range)
    }
    const order: string[] = []
    const read = (at: number, share: string) =>
      log.blocks.inTurn(share, async () => {
        order.push(`${share} ${at} begins`)
        await log.blocks.of((blocks[at] as Block).header.hash, 'apply')
        order.push(`${share} ${at}`)
      })
    const all = [0, 1, 2].map((at) => read(at, 'greedy'))
    all.push(read(3, 'late'), read(4, 'third'), read(5, 'late'))
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(order).toEqual(['greedy 0 begins', 'late 3 begins'])
    release()
    await Promise.all(all)
    const ended = order.filter((entry) => !entry.endsWith('begins'))
    for (const share of ['greedy', 'late', 'third']) {
      const own = order.filter((entry) => entry.startsWith(share))
      expect(own.length % 2).toBe(0)
      for (let i = 0; i < own.length; i += 2) expect(own[i]).toBe(`${own[i + 1]} begins`)
    }
    expect(ended.indexOf('third 4')).toBeLessThan(ended.indexOf('greedy 2'))
    expect(log.blocks.decoded).toBe(6)
    await test.close()
  })
})

describe('EventLog', () => {
  it('never gives a number twice, whatever the clock says after a restart', async () => {
    const store = memoryStore()
    const starts: number[] = []
    for (const seconds of [0, 5, -100_000, 100_000, 1e12, 0]) {
      const test = await TestChain.open(undefined, { store, signatures })
      const clock = { now: () => test.clock.time + seconds * 1000 }
      const log = await EventLog.open({ chain: test.chain, mempool: test.mempool, clock })
      await test.mine(2)
      expect(log.last).toBe(log.start + 2)
      starts.push(log.start)
      await test.close()
    }
    for (const [i, start] of starts.slice(1).entries()) expect(start).toBeGreaterThan((starts[i] as number) + 2 ** 31)
    expect(starts.every(Number.isSafeInteger)).toBe(true)
    const other = await open()
    other.clock.time += 1000
    expect((await logOf(other)).start).not.toBe(starts[0])
    await other.close()
  })

  it('keeps a bounded number of events and makes the text of each once', async () => {
    const test = await open()
    const log = await logOf(test, 10)
    await test.mine(50)
    const event = log.at(log.last)
    expect(log.oldest).toBe(log.last - 9)
    expect(event.text).toBe(event.text)
    expect(log.at(log.oldest).number).toBe(log.oldest)
    await test.close()
  })
})

describe('a client that comes and goes while branches take turns', () => {
  it('always ends with the chain of the node', async () => {
    const tree = await branches()
    const block = fc.record({
      what: fc.constant('block' as const),
      branch: fc.nat(2),
      count: fc.integer({ min: 1, max: 4 }),
    })
    const listen = fc.record({
      what: fc.constant('listen' as const),
      client: fc.nat(1),
      most: fc.integer({ min: 1, max: 9 }),
    })
    const leave = fc.record({ what: fc.constant('leave' as const), client: fc.nat(1), forgetful: fc.boolean() })
    const steps = fc.array(fc.oneof({ arbitrary: block, weight: 4 }, listen, leave), { minLength: 8, maxLength: 20 })
    let reorganisations = 0
    let gone = 0
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(4, 16, 1000), fc.boolean(), async (plan, kept, slow) => {
        const test = await open()
        if (slow) slowDown(test)
        const log = await logOf(test, kept)
        const clients = [new Client(log), new Client(log)]
        const turns = clients.map(() => Promise.resolve())
        const next = tree.map(() => 0)
        const blocks: Promise<unknown>[] = []
        for (const step of plan) {
          if (step.what === 'block') {
            const at = next[step.branch] as number
            next[step.branch] = at + step.count
            // Not waited for: the clients look while blocks are on their way.
            for (const one of (tree[step.branch] as Block[]).slice(at, at + step.count)) blocks.push(test.accept(one))
            await nextTurn()
          } else {
            const client = clients[step.client] as Client
            turns[step.client] = (turns[step.client] as Promise<void>).then(() =>
              step.what === 'listen' ? client.listen(step.most) : client.leave(step.forgetful),
            )
          }
        }
        await Promise.all([...blocks, ...turns])
        for (const client of clients) {
          await client.listen(Infinity)
          if (client.refused.length > 0) await client.listen(Infinity)
          expect(client.refused.filter((code) => code !== 'event-gone')).toEqual([])
          expect(shown(client.view)).toEqual(await truth(test))
          gone += client.refused.length
        }
        reorganisations += log.reorganisations
        await test.close()
      }),
      { numRuns: rounds(30, 1000) },
    )
    expect(reorganisations).toBeGreaterThan(rounds(7, 300))
    expect(gone).toBeGreaterThan(rounds(0, 10))
  })
})
