import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Schedule } from '../../../../src/base/crypto/schedule.js'
import { checkOf } from '../../../support/builders/signatures.js'

const check = (key: number, messageLength = 10) =>
  checkOf(new Uint8Array(messageLength), [new Uint8Array(33).fill(key)], [new Uint8Array(64)])

describe('Schedule', () => {
  it('finds the first failing check whatever the order of answers and deaths', () => {
    const scenario = fc.record({
      lanes: fc.integer({ min: 1, max: 4 }),
      checks: fc.array(fc.record({ key: fc.nat(255), bad: fc.boolean() }), { maxLength: 400 }),
      failures: fc.integer({ min: 0, max: 3 }),
      steps: fc.array(fc.record({ lane: fc.nat(3), action: fc.constantFrom('take', 'answer', 'die') }), {
        maxLength: 60,
      }),
    })
    fc.assert(
      fc.property(scenario, ({ lanes, checks, failures, steps }) => {
        const bad = checks.flatMap((item, index) => (item.bad ? [index] : [])).slice(-failures || checks.length)
        const schedule = new Schedule(
          checks.map(({ key }) => check(key)),
          lanes,
        )
        const held: number[][][] = Array.from({ length: lanes }, () => [])
        const verified = new Set<number>()
        const act = (lane: number, action: string) => {
          const batches = held[lane] as number[][]
          if (action === 'take') {
            const batch = schedule.take(lane, batches.length === 0)
            expect(batch).toEqual([...batch].sort((x, y) => x - y))
            if (batch.length > 0) batches.push(batch)
          } else if (action === 'answer') {
            const batch = batches.shift()
            if (batch === undefined) return
            const failing = batch.findIndex((index) => bad.includes(index))
            for (const index of failing < 0 ? batch : batch.slice(0, failing)) verified.add(index)
            schedule.settle(batch, failing)
          } else {
            for (const batch of batches.splice(0)) schedule.giveBack(lane, batch)
          }
        }
        for (const { lane, action } of steps) act(lane % lanes, action)
        for (let turn = 0; !schedule.done; turn++) {
          act(turn % lanes, 'take')
          act(turn % lanes, 'answer')
        }
        const expected = bad[0] ?? checks.length
        expect(schedule.firstFailing).toBe(expected)
        for (let index = 0; index < expected; index++) expect(verified.has(index)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  it('gives a key to the same lane every time', () => {
    const checks = Array.from({ length: 100 }, (_, index) => check(index))
    const dealt = () => {
      const schedule = new Schedule(checks, 2)
      return [schedule.take(0, false), schedule.take(1, false)]
    }
    const [left, right] = dealt() as [number[], number[]]
    expect(left).toHaveLength(50)
    expect(right).toHaveLength(50)
    expect(dealt()).toEqual([left, right])
  })

  it('lets an idle lane, and no other, take half of what another has left', () => {
    const schedule = new Schedule(
      Array.from({ length: 100 }, () => check(2)),
      2,
    )
    expect(schedule.take(1, false)).toEqual([])
    expect(schedule.take(1, true)).toHaveLength(50)
    expect(schedule.take(1, true)).toHaveLength(25)
    expect(schedule.take(0, false)).toHaveLength(25)
    expect(schedule.take(0, true)).toEqual([])
  })

  it('closes a batch at a number of signatures and at a number of bytes', () => {
    const many = new Schedule(
      Array.from({ length: 200 }, () => check(2)),
      1,
    )
    expect(many.take(0, true)).toHaveLength(64)
    const large = new Schedule(
      Array.from({ length: 20 }, () => check(2, 600_000)),
      1,
    )
    expect(large.take(0, true)).toHaveLength(2)
    const shared = check(2, 600_000)
    const oneMessage = new Schedule(
      Array.from({ length: 20 }, () => shared),
      1,
    )
    expect(oneMessage.take(0, true)).toHaveLength(20)
  })
})
