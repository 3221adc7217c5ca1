import { afterEach, describe, expect, it, vi } from 'vitest'
import { Latencies } from '../../scripts/soak/latency.js'
import {
  judgeBans,
  judgeLatencies,
  judgeLoad,
  judgeOutcome,
  judgePeak,
  judgeReplays,
} from '../../scripts/soak/report.js'

const print = vi.spyOn(console, 'log').mockImplementation(() => {})
afterEach(() => print.mockClear())
const printed = () => print.mock.calls.flat().join('\n')

describe('the load of a soak', () => {
  const visits = { whole: 3, torn: 1, 'brief in vain (it is full)': 2 }
  const users = { transactions: 5, requests: 9 }
  const peers = { 'those that joined': 4 }
  it('is one where each kind succeeded', () => {
    expect(judgeLoad({ visits, users, peers })).toBe(0)
    expect(print).not.toHaveBeenCalled()
  })

  it.each([
    ['visits: not one of torn', { visits: { ...visits, torn: 0 }, users, peers }],
    ['users: not one of requests', { visits, users: { ...users, requests: 0 }, peers }],
    ['peers: not one of those that joined', { visits, users, peers: { 'those that joined': 0 } }],
    ['visits: nothing is known of them', { visits: {}, users, peers }],
  ])('is none with %s', (what, counts) => {
    expect(judgeLoad(counts)).toBe(1)
    expect(printed()).toContain(what)
  })
})

describe('a soak with attackers', () => {
  const good = { acknowledged: 3, mined: 1, waiting: 1, dropped: ['tx-expired'], lost: [] }

  it('loses no transaction: each is mined, waits, or has a reason', () => {
    expect(judgeOutcome(good)).toBe(0)
    expect(printed()).toContain('dropped: 1 as tx-expired')
    expect(judgeOutcome({ ...good, mined: 0, lost: ['ab'] })).toBe(1)
    expect(printed()).toContain('lost: ab')
    expect(judgeOutcome({ acknowledged: 0, mined: 0, waiting: 0, dropped: [], lost: [] })).toBe(1)
  })

  it('leaves honest replays of events at least half of their speed', () => {
    expect(judgeReplays([0.2, 0.5, 0.9])).toBe(0)
    expect(printed()).toContain('median 0.50, least 0.20')
    expect(judgeReplays([0.2, 0.49, 0.9])).toBe(1)
    expect(judgeReplays([])).toBe(1)
  })

  it('leaves honest nodes alone', () => {
    expect(judgeBans([])).toBe(0)
    expect(judgeBans(['02ab: did-signature'])).toBe(1)
  })

  it('takes no more memory than idle and 500 MB', () => {
    expect(judgePeak(200e6, 699e6)).toBe(0)
    expect(judgePeak(200e6, 701e6)).toBe(1)
  })

  it('keeps honest clients waiting no longer than they may', async () => {
    const latencies = new Latencies()
    expect(judgeLatencies(latencies.summary(), 250)).toBe(1)
    for (let i = 0; i < 199; i++) latencies.note('block/height', 10)
    latencies.note('block/height', 5000)
    expect(judgeLatencies(latencies.summary(), 250)).toBe(0)
    for (let i = 0; i < 4; i++) {
      await expect(latencies.of('block/height', Promise.reject(new Error('busy')))).rejects.toThrow('busy')
    }
    await latencies.of('resolvedid', Promise.resolve())
    expect(latencies.summary()).toMatchObject([{ count: 204 }, { kind: 'resolvedid', count: 1 }])
    expect(judgeLatencies(latencies.summary(), 250)).toBe(1)
  })

  it('takes no time of a stop on purpose for that of an answer, and hides no answer that never comes', async () => {
    const latencies = new Latencies()
    let resolve = () => {}
    const before = latencies.of('block/height', new Promise<void>((done) => (resolve = done)))
    const late = new Promise<void>((_, fail) => setTimeout(() => fail(new Error('late')), 150))
    const silent = expect(latencies.of('resolvedid', late)).rejects.toThrow('late')
    await latencies.aside(() => new Promise((done) => setTimeout(done, 2000)))
    resolve()
    await before
    await silent
    const [height, resolved] = ['block/height', 'resolvedid'].map((kind) =>
      latencies.summary().find((one) => one.kind === kind),
    )
    expect(height?.most).toBeLessThan(1900)
    expect(resolved?.most).toBeGreaterThan(1_000_000)
    latencies.clear()
    expect(latencies.summary()).toEqual([])
  })
})
