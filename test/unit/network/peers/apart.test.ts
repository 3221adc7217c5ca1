import { describe, expect, it } from 'vitest'
import { Apart } from '../../../../src/network/peers/apart.js'
import { keyOf } from '../../../support/network/peers-world.js'

describe('a key that is kept apart', () => {
  const parted = () => {
    const clock = { time: 1_000_000 }
    const apart = new Apart(() => clock.time)
    apart.part(keyOf(1))
    return { apart, at: (time: number) => ((clock.time = 1_000_000 + time), apart.has(keyOf(1))) }
  }

  it('is refused for a minute, and not a millisecond longer', () => {
    const { apart, at } = parted()
    expect([at(0), at(59_999), at(60_000), at(60_001)]).toEqual([true, true, false, false])
    expect(apart.has(keyOf(2))).toBe(false)
  })

  it('is refused for a minute from the last time on', () => {
    const { apart, at } = parted()
    at(30_000)
    apart.part(keyOf(1))
    expect([at(89_999), at(90_000)]).toEqual([true, false])
  })

  it('is not refused for longer where the clock is set back', () => {
    const { at } = parted()
    expect(at(-1)).toBe(false)
  })
})
