import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Assignment, Assignments } from '../../../../src/network/fetch/assignments.js'
import { ManualTime } from '../../../support/fakes/manual-time.js'

function assignments(canMove: () => boolean = () => true) {
  const time = new ManualTime()
  const overdue: string[] = []
  const given = new Assignments<string, number>(time, { canMove, onOverdue: ({ peer }) => overdue.push(peer) })
  return { time, overdue, given }
}

describe('items that peers are asked for', () => {
  it('are out until the request is released', () => {
    const { given, time } = assignments()
    const first = given.give('a', [1, 2], 1_000, 300)
    expect([1, 2, 3].map((item) => given.isOut(item))).toEqual([true, true, false])
    expect([...given.open].map(({ peer, bytes }) => [peer, bytes])).toEqual([['a', 300]])
    first.release()
    expect([given.isOut(1), given.open.size, time.pending]).toEqual([false, 0, 0])
  })

  it('are free when the answer is overdue, and then belong to the next peer', async () => {
    const { given, time, overdue } = assignments()
    const late = given.give('a', [1, 2], 1_000)
    await time.advance(1_000)
    expect([overdue, late.overdue, given.isOut(1), given.open.size]).toEqual([['a'], true, false, 1])
    given.give('b', [1], 1_000)
    late.release()
    expect([given.isOut(1), given.isOut(2), given.open.size]).toEqual([true, false, 1])
  })

  it('stay with a late peer while there is no other', async () => {
    let other = false
    const { given, time, overdue } = assignments(() => other)
    given.give('a', [1], 1_000)
    await time.advance(3_500)
    expect([overdue, given.isOut(1)]).toEqual([[], true])
    other = true
    await time.advance(500)
    expect([overdue, given.isOut(1)]).toEqual([['a'], false])
  })

  it('are not overdue once the answer came', async () => {
    const { given, time, overdue } = assignments()
    const request = given.give('a', [1], 1_000)
    request.answered()
    await time.advance(5_000)
    expect([overdue, given.isOut(1)]).toEqual([[], true])
  })

  it('leave no timer behind when all is closed', () => {
    const { given, time } = assignments()
    for (const peer of ['a', 'b']) given.give(peer, [1], 1_000)
    given.close()
    expect(time.pending).toBe(0)
  })

  it('are held by one request at most, whatever happens in which order', async () => {
    const step = fc.oneof(
      fc.record({ give: fc.uniqueArray(fc.nat(5), { minLength: 1 }) }),
      fc.record({ release: fc.nat(9) }),
      fc.record({ advance: fc.integer({ min: 1, max: 3_000 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { given, time } = assignments()
        const open: Assignment<string, number>[] = []
        for (const next of steps) {
          if ('give' in next) {
            const free = next.give.filter((item) => !given.isOut(item))
            if (free.length > 0) open.push(given.give(`peer ${open.length}`, free, 1_000))
          } else if ('release' in next) open.splice(next.release, 1)[0]?.release()
          else await time.advance(next.advance)
          const held = open.filter(({ overdue }) => !overdue).flatMap(({ items }) => items)
          expect(new Set(held).size).toBe(held.length)
          expect([0, 1, 2, 3, 4, 5].filter((item) => given.isOut(item))).toEqual([...held].sort((a, b) => a - b))
        }
      }),
      { numRuns: 50 },
    )
  })
})
