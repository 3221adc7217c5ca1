import { describe, expect, it } from 'vitest'
import { repeat } from '../../../../src/base/runtime/repeat.js'
import { ManualTimers } from '../../../support/fakes/manual-timers.js'

describe('a repeated call', () => {
  it('comes again and again until it is ended', () => {
    const timers = new ManualTimers()
    let calls = 0
    const end = repeat({ timers }, 1000, () => calls++)
    expect(calls).toBe(0)
    for (let i = 0; i < 3; i++) timers.fire()
    expect(calls).toBe(3)
    end()
    timers.fire()
    expect(calls).toBe(3)
  })

  it('may end itself', () => {
    const timers = new ManualTimers()
    let calls = 0
    const end = repeat({ timers }, 1000, () => {
      calls++
      if (calls === 2) end()
    })
    for (let i = 0; i < 5; i++) timers.fire()
    expect(calls).toBe(2)
  })
})
