import { describe, expect, it } from 'vitest'
import { askPeers, type HedgePolicy } from '../../../../src/network/fetch/ask-peers.js'
import { Timeouts, TimeoutsClosed } from '../../../../src/network/fetch/timeouts.js'
import { ManualTime, rest } from '../../../support/fakes/manual-time.js'

/** A request over peers named by letters, whose answers the test gives one by one. */
function request(names: string, policy: Partial<HedgePolicy<string>> = {}) {
  const time = new ManualTime()
  const timeouts = new Timeouts(time)
  const left = [...names]
  const asked: string[] = []
  const overdue: string[] = []
  const answers = new Map<string, { resolve(answer: number | undefined): void; reject(error: Error): void }>()
  const ask = (peer: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      asked.push(peer)
      answers.set(peer, { resolve, reject })
    })
  const whole: HedgePolicy<string> = {
    parallel: 3,
    next: () => left.shift(),
    patience: () => 1_000,
    onOverdue: (peer) => overdue.push(peer),
    ...policy,
  }
  const result = askPeers(ask, whole, timeouts)
  const answer = async (peer: string, value?: number) => {
    answers.get(peer)?.resolve(value)
    await rest()
  }
  return { time, timeouts, left, asked, overdue, answers, result, answer }
}

describe('a hedged request', () => {
  it('asks one peer, and has its answer', async () => {
    const { asked, answer, result, time, overdue } = request('abc')
    await answer('a', 7)
    expect(await result).toBe(7)
    expect([asked, overdue, time.pending]).toEqual([['a'], [], 0])
  })

  it('asks the next peer at once after a miss', async () => {
    const { asked, answer, result, overdue } = request('ab')
    await answer('a')
    expect(asked).toEqual(['a', 'b'])
    await answer('b', 8)
    expect([await result, overdue]).toEqual([8, []])
  })

  it('asks the next one beside an overdue peer, whose late answer counts', async () => {
    const { asked, answer, result, overdue, time } = request('ab')
    await time.advance(999)
    expect(asked).toEqual(['a'])
    await time.advance(1)
    expect([asked, overdue]).toEqual([['a', 'b'], ['a']])
    await answer('a', 1)
    expect(await result).toBe(1)
  })

  it('has no peer overdue while there is no other to ask, and asks one that comes later', async () => {
    const { asked, answer, result, overdue, left, time } = request('a')
    await time.advance(5_500)
    expect([asked, overdue]).toEqual([['a'], []])
    left.push('b')
    await time.advance(500)
    expect([asked, overdue]).toEqual([['a', 'b'], ['a']])
    await answer('b', 2)
    expect(await result).toBe(2)
  })

  it('has no more requests open than the policy allows', async () => {
    const { asked, answer, result, time } = request('abcdef', { parallel: 2 })
    await time.advance(10_000)
    expect(asked).toEqual(['a', 'b'])
    await answer('a')
    expect(asked).toEqual(['a', 'b', 'c'])
    await answer('c', 3)
    expect(await result).toBe(3)
  })

  it('ends without an answer when the last peer has none', async () => {
    const { answer, result, time } = request('abc')
    await time.advance(1_000)
    for (const peer of 'abc') await answer(peer)
    expect(await result).toBeUndefined()
    expect(time.pending).toBe(0)
  })

  it('ends at its limit, and asks no peer after it', async () => {
    const { asked, result, time, answer } = request('abcdef', { limit: 1_500 })
    await time.advance(1_500)
    expect(await result).toBeUndefined()
    await answer('a')
    await time.advance(10_000)
    expect(asked).toEqual(['a', 'b'])
    expect(time.pending).toBe(0)
  })

  it('ends when the answer is of no use any more', async () => {
    let needed = true
    const { asked, result, time } = request('abc', { needed: () => needed })
    needed = false
    await time.advance(1_000)
    expect(await result).toBeUndefined()
    expect(asked).toEqual(['a'])
  })

  it('rejects as a request does, and when the timeouts close', async () => {
    const failing = request('ab')
    failing.answers.get('a')?.reject(new TypeError('a fault'))
    await expect(failing.result).rejects.toThrow('a fault')
    const closed = request('ab', { limit: 5_000 })
    closed.timeouts.close()
    await expect(closed.result).rejects.toThrow(TimeoutsClosed)
    expect(closed.time.pending).toBe(0)
  })
})
