import { expect, it } from 'vitest'
import { Alarm } from '../../../../src/ledger/shipping/alarm.js'
import { ManualTimers } from '../../../support/fakes/manual-timers.js'

it('an alarm rings a while after it was set last, until it is set again or stopped', () => {
  const timers = new ManualTimers()
  let rings = 0
  const alarm = new Alarm(timers, 100, () => rings++)
  alarm.set()
  alarm.set()
  expect([alarm.isRinging, rings, timers.pending]).toEqual([false, 0, [100]])
  timers.fire()
  expect([alarm.isRinging, rings]).toEqual([true, 1])
  alarm.set()
  expect(alarm.isRinging).toBe(false)
  alarm.stop()
  timers.fire()
  expect([alarm.isRinging, rings, timers.pending]).toEqual([false, 1, []])
})
