import { describe, expect, it } from 'vitest'
import { Merits } from '../../../../src/network/peers/merits.js'
import { keyOf } from '../../../support/network/peers-world.js'

const hour = 60 * 60 * 1000

describe('first deliveries', () => {
  it.each([
    ['block', true],
    ['vote', true],
    ['transaction', false],
  ] as const)('of a %s count for an hour: %s', (delivery, counts) => {
    let now = 5
    const merits = new Merits(() => now)
    expect([merits.lately(keyOf(1)), merits.latest(keyOf(1), delivery)]).toEqual([false, -Infinity])
    merits.note(keyOf(1), delivery)
    expect([merits.lately(keyOf(1)), merits.latest(keyOf(1), delivery)]).toEqual([counts, 5])
    now += hour - 1
    expect(merits.lately(keyOf(1))).toBe(counts)
    now += 1
    expect(merits.lately(keyOf(1))).toBe(false)
  })

  it('are kept by their kind, of those who delivered last', () => {
    let now = 0
    const merits = new Merits(() => now)
    merits.note(keyOf(0), 'block')
    for (let i = 1; i < 1024; i++) merits.note(keyOf(i), 'vote')
    now = 7
    merits.note(keyOf(0), 'vote')
    merits.note(keyOf(1024), 'vote')
    const times = [merits.latest(keyOf(0), 'block'), ...[0, 1, 2, 1024].map((i) => merits.latest(keyOf(i), 'vote'))]
    expect(times).toEqual([0, 7, -Infinity, 0, 7])
  })
})
