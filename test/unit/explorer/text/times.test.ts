import { expect, it } from 'vitest'
import { age, countdown, duration, moment, secondsOf } from '../../../../src/explorer/text/times.js'

it.each([
  [0, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [61, '1 min 1 s'],
  [3600, '1 h'],
  [3661, '1 h 1 min'],
  [86_400 * 400 + 5, '1 y 35 d'],
  [86_400 * 365, '1 y'],
  [-90, '1 min 30 s'],
])('%i seconds are %s', (seconds, text) => expect(duration(seconds)).toBe(text))

it('ages are in one unit', () => {
  expect([age(100, 100), age(100, 190), age(100, 100 + 3 * 86_400 + 7), age(200, 100)]).toEqual([
    'now',
    '1 min ago',
    '3 d ago',
    'in 1 min',
  ])
})

it('a countdown goes over the moment', () => {
  expect([countdown(100, 40), countdown(100, 100), countdown(100, 160)]).toEqual([
    'expires in 1 min',
    'expires in 0 s',
    'expired 1 min ago',
  ])
})

it('dates are read in one form, and shown', () => {
  expect(secondsOf('2027-01-15T08:00:01Z')).toBe(1_800_000_001)
  expect(moment(1_800_000_001)).toBe('2027-01-15 08:00:01 UTC')
  for (const wrong of ['2027-01-15', '2027-13-15T08:00:01Z', 'now', 7, undefined])
    expect(secondsOf(wrong)).toBeUndefined()
  expect(moment(Infinity)).toBe('?')
})
