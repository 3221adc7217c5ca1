import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatDate } from '../../../../src/identity/did/date.js'
import type { ResolveOptions, ResolveResult } from '../../../../src/identity/did/resolution.js'
import { Resolver } from '../../../../src/answers/resolver/resolver.js'
import { TestChain } from '../../../support/builders/chain.js'
import { expires, type Holder, holder } from '../../../support/builders/did.js'
import { inStep } from '../../../support/fakes/standing.js'

/** An operation of the DID, with the block that has it. */
interface Published {
  readonly txid: string
  readonly height: number
  readonly time: number
  readonly hash: string
}

const updates = 40
const operations: Published[] = []
let node: TestChain
let resolver: Resolver
let person: Holder
/** An operation of another DID. */
let other = ''
/** Rows read so far. */
let reads = 0

async function publish(operation: Parameters<TestChain['publish']>[0]): Promise<string> {
  const txid = await node.publish(operation, person.did)
  const { height, time, id } = node.chain.tip.header
  operations.push({ txid, height, time, hash: id })
  return txid
}

beforeAll(async () => {
  node = await TestChain.open()
  person = holder()
  await node.mine(3)
  let last = await publish(person.create({ expires: '2028-01-01T00:00:00Z' }))
  for (let i = 0; i < updates; i++) {
    if (i % 3 === 0) await node.mine(1)
    last = await publish(person.update(last))
  }
  const stranger = holder()
  other = await node.publish(stranger.create(), stranger.did)
  await node.mine(2)
  const { database } = node
  const real = database.get.bind(database)
  database.get = (key) => (reads++, real(key))
  resolver = newResolver()
})

afterAll(() => node.close())

function newResolver(): Resolver {
  return new Resolver({
    database: node.database,
    prover: node.prover,
    clock: node.clock,
    tip: () => node.chain.tip.header,
    standing: () => inStep(),
    cacheBytes: 0,
  })
}

const ask = (options: ResolveOptions) => resolver.resolve(person.did, options)
const txidsOf = ({ transaction }: ResolveResult) => transaction?.map(({ txid }) => txid)
const momentOf = ({ txid, time }: Published) => ({ txid, timestamp: formatDate(time) })
const at = (index: number) => operations.at(index) as Published
const blockOf = ({ height, hash }: Published) => ({
  height,
  blockHash: hash,
  confirmations: node.chain.tip.header.height - height + 1,
})

describe('a version of a DID', () => {
  test('is found by its transaction, by time and by height', async () => {
    for (const [i, { txid, height, time }] of operations.entries()) {
      const until = (operations[i + 1]?.height ?? height + 2) - 1
      const requests = [{ versionId: txid }, { versionHeight: height }, { versionHeight: until }]
      for (const request of requests) {
        const found = await ask(request)
        expect([request, txidsOf(found), found.status]).toEqual([request, [txid], 0])
        expect(found.context).toBeUndefined()
      }
      // Several blocks may have one time.
      for (const seconds of [time, time + 1]) {
        const last = operations.findLast((other) => other.time <= seconds)
        expect(txidsOf(await ask({ versionTime: formatDate(seconds) }))).toEqual([last?.txid])
      }
    }
    expect(txidsOf(await ask({ versionHeight: 0xffffffff }))).toEqual([at(-1).txid])
    expect(txidsOf(await ask({ versionTime: '9999-12-31T23:59:59Z' }))).toEqual([at(-1).txid])
  })

  test('that does not exist is an empty list, with the status of the DID', async () => {
    const before = at(0)
    for (const request of [
      { versionId: '00'.repeat(32) },
      { versionId: other },
      { versionTime: formatDate(before.time - 1) },
      { versionHeight: before.height - 1 },
      { versionHeight: 0 },
    ]) {
      expect([request, await ask(request)]).toEqual([request, { did: person.did, status: 0, transaction: [] }])
      const { context } = await ask({ ...request, context: true })
      expect(context).toMatchObject({ created: momentOf(before), expires, at: [], count: updates + 1 })
      expect(context).not.toHaveProperty('updated')
      expect(context).not.toHaveProperty('next')
    }
  })

  test('of an unknown DID is unknown, without context', async () => {
    const { did } = holder()
    for (const request of [{ versionHeight: 5 }, { context: true }, { all: true, context: true, skip: 1 }]) {
      expect(await resolver.resolve(did, request)).toEqual({ did, status: 3 })
    }
  })

  test('costs a binary search over the operations', async () => {
    const costOf = async (request: ResolveOptions) => {
      reads = 0
      await ask(request)
      return reads
    }
    const last = await costOf({})
    const steps = Math.ceil(Math.log2(operations.length + 1))
    const middle = at(17)
    expect(await costOf({ versionId: middle.txid })).toBeLessThanOrEqual(last + steps + 5)
    expect(await costOf({ versionHeight: middle.height })).toBeLessThanOrEqual(last + steps + 5)
    expect(await costOf({ versionTime: formatDate(middle.time) })).toBeLessThanOrEqual(last + 3 * steps + 5)
  })
})

describe('the context of an answer', () => {
  const tip = () => {
    const { height, id, time } = node.chain.tip.header
    return { height, blockHash: id, time, count: operations.length }
  }

  test('says of the last version where it stands', async () => {
    const answer = await ask({ context: true })
    expect(answer.context).toEqual({
      ...tip(),
      created: momentOf(at(0)),
      updated: momentOf(at(-1)),
      expires,
      at: [blockOf(at(-1))],
    })
    expect(Object.keys(answer)).toEqual(['did', 'status', 'transaction', 'context'])
    reads = 0
    await ask({ context: true })
    expect(reads).toBeLessThanOrEqual(16)
  })

  test('says of an earlier one what came next, and when it expires', async () => {
    const first = await ask({ versionHeight: at(0).height, context: true })
    expect(first.context).toEqual({
      ...tip(),
      created: momentOf(at(0)),
      next: momentOf(at(1)),
      expires: '2028-01-01T00:00:00Z',
      at: [blockOf(at(0))],
    })
    const third = await ask({ versionId: at(2).txid, context: true })
    expect(third.context).toEqual({
      ...tip(),
      created: momentOf(at(0)),
      updated: momentOf(at(2)),
      next: momentOf(at(3)),
      expires,
      at: [blockOf(at(2))],
    })
  })

  test('of a history has the block of each transaction', async () => {
    const whole = await ask({ all: true, context: true })
    expect(whole.context).toEqual({
      ...tip(),
      created: momentOf(at(0)),
      updated: momentOf(at(-1)),
      expires,
      at: [...operations].reverse().map(blockOf),
    })
    const part = await ask({ all: true, skip: operations.length - 2, limit: 5, context: true })
    expect(part).toMatchObject({ total: operations.length, start: operations.length - 2, count: 2 })
    expect(txidsOf(part)).toEqual([at(1).txid, at(0).txid])
    expect(part.context).toEqual({
      ...tip(),
      created: momentOf(at(0)),
      updated: momentOf(at(1)),
      next: momentOf(at(2)),
      expires,
      at: [blockOf(at(1)), blockOf(at(0))],
    })
    const beyond = await ask({ all: true, skip: 1000, context: true })
    expect(beyond).toMatchObject({ total: operations.length, start: 1000, count: 0, transaction: [] })
    expect(beyond.context?.at).toEqual([])
    expect(await ask({ all: true, limit: 0 })).toMatchObject({ transaction: [], total: operations.length, start: 0 })
  })
})

describe('a DID that was deactivated', () => {
  test('still has its versions, whose status is that of now, and costs two transactions', async () => {
    const gone = await TestChain.open()
    try {
      const ada = holder()
      const create = await gone.publish(ada.create(), ada.did)
      const update = await gone.publish(ada.update(create, { expires: '2029-01-01T00:00:00Z' }), ada.did)
      const end = await gone.publish(ada.deactivate(), ada.did)
      const { database, prover, clock } = gone
      const of = new Resolver({ database, prover, clock, tip: () => gone.chain.tip.header, standing: () => inStep() })
      const last = await of.resolve(ada.did, { context: true })
      expect([last.status, txidsOf(last)]).toEqual([2, [end]])
      expect(last.context).toMatchObject({ count: 3, created: { txid: create }, updated: { txid: update } })
      expect(last.context?.expires).toBe('2029-01-01T00:00:00Z')
      expect(last.context).not.toHaveProperty('next')
      const earlier = await of.resolve(ada.did, { versionId: create, context: true })
      expect([earlier.status, txidsOf(earlier), earlier.context?.next?.txid]).toEqual([2, [create], update])
      expect(earlier.context?.expires).toBe(expires)
      const all = await of.resolve(ada.did, { all: true, context: true })
      expect(all.context).toMatchObject({ expires: '2029-01-01T00:00:00Z', updated: { txid: update } })

      const real = gone.database.getMany.bind(gone.database)
      let transactions = 0
      gone.database.getMany = (wanted) => ((transactions += wanted.length), real(wanted))
      expect(txidsOf(await of.resolve(ada.did, { all: true, limit: 2 }))).toEqual([end, update])
      expect(transactions).toBe(2)
      expect(txidsOf(await of.resolve(ada.did, {}, { withDocument: true }))).toEqual([end, update])
      expect(transactions).toBe(4)
      expect(txidsOf(await of.resolve(ada.did))).toEqual([end])
      expect(txidsOf(await of.resolve(ada.did, {}, { withDocument: true }))).toEqual([end, update])
      expect(transactions).toBe(4)
    } finally {
      await gone.close()
    }
  })
})
