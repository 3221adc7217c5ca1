import { expect, it } from 'vitest'
import { isWaiting } from '../../../../src/base/runtime/wait.js'

it('a wait lasts until its end, and is over where the clock was set back', () => {
  const [begun, longest] = [1_000_000, 60_000]
  const waiting = (now: number) => isWaiting(begun + longest, now, longest)
  expect([begun, begun + 59_999, begun + 60_000, begun + 90_000].map(waiting)).toEqual([true, true, false, false])
  expect([begun - 1, begun - 3_600_000].map(waiting)).toEqual([false, false])
  expect([0, begun].map((now) => isWaiting(0, now, longest))).toEqual([false, false])
})
