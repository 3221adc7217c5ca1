import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RateSummary, type Unshown } from '../../../../src/program/console/rate-summary.js'
import { systemTimers } from '../../../../src/base/runtime/process-env.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function summary(most: number) {
  const reports: Unshown[] = []
  return { reports, rate: new RateSummary(systemTimers, (unshown) => reports.push(unshown), most) }
}

it('lets few lines through, second after second, and reports nothing', () => {
  const { rate, reports } = summary(2)
  for (let second = 0; second < 3; second++) {
    expect([rate.admit(false), rate.admit(true)]).toEqual([true, true])
    vi.advanceTimersByTime(1000)
  }
  expect(reports).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

it('counts the rest of a second and reports it once, at its end', () => {
  const { rate, reports } = summary(2)
  const admitted = Array.from({ length: 5000 }, (_, i) => rate.admit(i % 100 === 0))
  expect(admitted.filter(Boolean)).toHaveLength(2)
  vi.advanceTimersByTime(999)
  expect(reports).toEqual([])
  vi.advanceTimersByTime(1)
  expect(reports).toEqual([{ more: 4998, failed: 49 }])
  expect(rate.admit(false)).toBe(true)
})

it('reports early when it is asked to, and then not again', () => {
  const { rate, reports } = summary(1)
  rate.admit(false)
  rate.admit(false)
  rate.flush()
  vi.advanceTimersByTime(5000)
  expect(reports).toEqual([{ more: 1, failed: 0 }])
})
