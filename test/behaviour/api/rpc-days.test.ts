import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatAmount } from '../../../src/base/primitives/amount.js'
import { meta, tables } from '../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { testAddress } from '../../support/builders/spec.js'
import { contextOf } from '../../support/client/api.js'
import { RpcClient } from '../../support/client/rpc.js'

const nothing = { transactions: 0, creations: 0, updates: 0, deactivations: 0, credentials: 0, fees: '0.00000000' }

describe('listdays', () => {
  let node: TestChain
  let rpc: RpcClient
  /** Of the last day. */
  let fees: string
  const days = (params: object) => rpc.call<{ height: number; days: { day: string }[] }>('listdays', params)
  const namesOf = async (params: object) => (await days(params)).days.map(({ day }) => day)
  const at = (date: string) => (node.clock.time = Date.parse(date))

  beforeAll(async () => {
    node = await TestChain.open({ ...withoutValidators, time: Date.parse('2026-02-27T12:00:00Z') / 1000 })
    rpc = new RpcClient(contextOf(node))
    expect(await days({})).toEqual({ height: 0, days: [] })
    at('2026-02-27T23:59:59Z')
    await node.mine()
    at('2026-02-28T00:00:00Z')
    await node.mine()
    at('2026-02-28T10:00:00Z')
    const ada = holder()
    const created = await node.publish(ada.create(), ada.did)
    await node.publish(ada.update(created), ada.did)
    await node.send(await node.transfer(testAddress(30), 5000n))
    fees = formatAmount([...node.mempool.entries()].reduce((sum, { fee }) => sum + fee, 0n))
    at('2026-03-02T00:00:00Z')
    await node.mine()
  })
  afterAll(() => node.close())

  it('sums up the blocks of each day that has some, with fees as amounts', async () => {
    const { height, days: listed } = await days({})
    expect(height).toBe(5)
    expect(listed).toEqual([
      { ...nothing, day: '2026-02-27', blocks: 1, intervals: 0, seconds: 0 },
      {
        ...nothing,
        day: '2026-02-28',
        blocks: 3,
        transactions: 2,
        creations: 1,
        updates: 1,
        fees: expect.stringMatching(/^0\.0000[1-9]/),
        intervals: 3,
        seconds: 36_001,
      },
      {
        ...nothing,
        day: '2026-03-02',
        blocks: 1,
        transactions: 1,
        fees,
        intervals: 1,
        seconds: 38 * 3600,
      },
    ])
  })

  it.each([
    [{ from: '2026-02-28' }, ['2026-02-28', '2026-03-02']],
    [{ to: '2026-02-28' }, ['2026-02-27', '2026-02-28']],
    [{ from: '2026-02-28', to: '2026-03-01' }, ['2026-02-28']],
    [{ from: '2026-03-02', to: '2026-03-02' }, ['2026-03-02']],
    [{ from: '2026-03-03' }, []],
    [{ from: '9999-12-31' }, []],
    [{ to: '1970-01-01' }, []],
    [{ from: '1998-10-16' }, ['2026-02-27', '2026-02-28', '2026-03-02']],
    [{ from: '1998-10-15' }, ['2026-02-27', '2026-02-28']],
  ])('takes a range, both ends included, of the days that a page has: %j', async (range, names) => {
    expect(await namesOf(range)).toEqual(names)
  })

  it('refuses a range from its end, and days that do not exist', async () => {
    expect(await rpc.refusal('listdays', { from: '2026-03-02', to: '2026-03-01' })).toMatchObject({
      code: -32602,
      data: expect.stringContaining('from: 2026-03-02 is above to, 2026-03-01'),
    })
    for (const from of ['2026-02-29', '2026-13-01', '2026-2-1', '1969-12-31', '', '20260301', '2026-03-01T00:00:00Z']) {
      expect(await rpc.refusal('listdays', { from })).toMatchObject({
        code: -32602,
        data: expect.stringContaining('from: a day that exists is needed, as YYYY-MM-DD'),
      })
      expect(await rpc.refusal('listdays', { to: from })).toMatchObject({ code: -32602 })
    }
  })

  it('leaves fees out up to the day from which on all are known', async () => {
    const change = async (stage: (overlay: Overlay) => void) => {
      const overlay = new Overlay(node.database)
      stage(overlay)
      const { hash, height } = node.chain.tip.header
      await overlay.commit({ kind: 'pool', hash, height }, { sync: false })
    }
    await change((overlay) => meta.days.put(overlay, 2))
    const { days: listed } = await days({})
    expect(listed.map((day) => 'fees' in day)).toEqual([false, false, true])
    await change((overlay) => meta.days.put(overlay, 0))
  })

  it('has 10,000 days in one answer', async () => {
    const overlay = new Overlay(node.database)
    const last = Date.parse('2026-03-02T00:00:00Z') / 86_400_000
    const row = node.database.get(tables.day.key(last)) as Buffer
    for (let day = last - 10_000; day < last; day++) overlay.put(tables.day.key(day), row)
    const { hash, height } = node.chain.tip.header
    await overlay.commit({ kind: 'pool', hash, height }, { sync: false })
    const names = await namesOf({})
    expect(names).toHaveLength(10_000)
    expect([names[0], names.at(-1)]).toEqual(['1998-10-16', '2026-03-02'])
    expect(new Set(names).size).toBe(10_000)
  })
})
