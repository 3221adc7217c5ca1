import { describe, expect, it } from 'vitest'
import { BlockInterval, type BlockIntervalOptions } from '../../../src/voting/block-interval.js'
import { CatchUpGuard } from '../../../src/voting/catch-up-guard.js'

/** Time that passes when it is told to. */
class Time {
  now = 0
  readonly #timers = new Set<{ at: number; callback: () => void }>()

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.now + milliseconds, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get waiting(): number {
    return this.#timers.size
  }

  to(moment: number): void {
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= moment).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers.delete(next)
      this.now = next.at
      next.callback()
    }
    this.now = moment
  }
}

function pace(changes: Partial<BlockIntervalOptions> = {}) {
  const time = new Time()
  const begun: number[] = []
  const state = { reason: false }
  const clock = { now: () => time.now }
  const options = { timers: time, clock, minInterval: 1000, emptyInterval: 10_000, ...changes }
  const made = new BlockInterval({ ...options, reason: () => state.reason, begin: () => begun.push(time.now) })
  return { time, begun, state, pace: made }
}

describe('the pace', () => {
  it('begins after minInterval where there is a reason', () => {
    const { time, begun, state } = pace()
    state.reason = true
    time.to(999)
    expect(begun).toEqual([])
    time.to(20_000)
    expect(begun).toEqual([1000])
    expect(time.waiting).toBe(0)
  })

  it('begins when a reason comes later', () => {
    const { time, begun, state, pace: made } = pace()
    time.to(5_000)
    made.look()
    expect(begun).toEqual([])
    state.reason = true
    made.look()
    made.look()
    expect(begun).toEqual([5_000])
    expect(made.begun).toBe(true)
  })

  it('says how long it is until an empty block, and nothing once a block is begun', () => {
    const { time, state, pace: made } = pace()
    expect(made.untilEmpty).toBe(10_000)
    time.to(9_999)
    expect(made.untilEmpty).toBe(1)
    time.to(10_000)
    expect(made.untilEmpty).toBeUndefined()
    const busy = pace()
    busy.state.reason = true
    busy.time.to(1000)
    expect(busy.pace.untilEmpty).toBeUndefined()
    const options = { timers: time, clock: { now: () => 0 }, minInterval: 1000, reason: () => state.reason }
    expect(new BlockInterval({ ...options, begin: () => {} }).untilEmpty).toBeUndefined()
    // A clock that was set forward meanwhile.
    let now = 0
    const shifted = new BlockInterval({ ...options, emptyInterval: 10_000, clock: { now: () => now }, begin: () => {} })
    now = 20_000
    expect(shifted.untilEmpty).toBe(0)
  })

  it('does not begin before minInterval, whatever is looked at', () => {
    const { time, begun, state, pace: made } = pace()
    state.reason = true
    time.to(500)
    made.look()
    expect(begun).toEqual([])
  })

  it('begins without a reason after emptyInterval, or never', () => {
    const empty = pace()
    empty.time.to(60_000)
    expect(empty.begun).toEqual([10_000])
    const mined = pace()
    mined.pace.close()
    mined.time.to(60_000)
    expect(mined.begun).toEqual([])
    const time = new Time()
    new BlockInterval({
      timers: time,
      clock: { now: () => 0 },
      minInterval: 1000,
      reason: () => false,
      begin: () => expect.unreachable(),
    })
    time.to(1_000_000)
  })
})

describe('the lag', () => {
  it('is what peers report above the tip, for a while', () => {
    const time = new Time()
    let doubts = 0
    const lag = new CatchUpGuard(time, 5, () => doubts++)
    expect([lag.isBehind, lag.bestPeerHeight]).toEqual([false, undefined])
    lag.setBestPeerHeight(5)
    expect([lag.isBehind, lag.bestPeerHeight]).toEqual([false, 5])
    lag.setBestPeerHeight(7)
    expect(lag.isBehind).toBe(true)
    time.to(9_999)
    expect(lag.isBehind).toBe(true)
    time.to(10_000)
    expect(lag.isBehind).toBe(false)
    expect(doubts).toBe(1)
  })

  it('is believed anew when several blocks come at once, not for every block: a lie works once', () => {
    const time = new Time()
    const lag = new CatchUpGuard(time, 5, () => {})
    lag.setBestPeerHeight(9)
    time.to(20_000)
    lag.moved(6, false)
    expect(lag.isBehind).toBe(false)
    lag.setBestPeerHeight(6)
    lag.setBestPeerHeight(9)
    expect(lag.isBehind).toBe(false)
    lag.moved(7, true)
    expect(lag.isBehind).toBe(true)
    time.to(25_000)
    lag.moved(8, false)
    time.to(29_000)
    expect(lag.isBehind).toBe(true)
    lag.moved(9, false)
    expect(lag.isBehind).toBe(false)
    lag.stop()
    expect(time.waiting).toBe(0)
  })

  it('is doubted in time though a block comes now and then', () => {
    const time = new Time()
    const lag = new CatchUpGuard(time, 0, () => {})
    lag.setBestPeerHeight(2 ** 32 - 1)
    time.to(9_000)
    lag.moved(1, false)
    expect(lag.isBehind).toBe(true)
    time.to(10_000)
    expect(lag.isBehind).toBe(false)
    for (let tip = 2; tip < 20; tip++) {
      time.to(9_000 * tip)
      lag.moved(tip, false)
      lag.setBestPeerHeight(2 ** 32 - 1 - tip)
      expect(lag.isBehind).toBe(false)
    }
  })

  it('ends when nobody reports more', () => {
    const time = new Time()
    const lag = new CatchUpGuard(time, 5, () => {})
    lag.setBestPeerHeight(9)
    lag.setBestPeerHeight(undefined)
    expect([lag.isBehind, time.waiting]).toEqual([false, 0])
  })
})
