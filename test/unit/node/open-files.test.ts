import { describe, expect, it } from 'vitest'
import { watchOpenFiles } from '../../../src/node/open-files.js'
import { quietLog } from '../../support/builders/chain.js'
import { ManualTimers } from '../../support/fakes/manual-timers.js'

function watched(probe?: Parameters<typeof watchOpenFiles>[1]) {
  const timers = new ManualTimers()
  const said: string[] = []
  const log = { ...quietLog(), warn: (_: object, message: string) => void said.push(message) }
  const end = watchOpenFiles({ timers, log }, probe)
  const pass = (looks: number) => {
    for (let i = 0; i < looks; i++) timers.fire()
  }
  return { timers, said, end, pass }
}

describe('the watch of open files', () => {
  it('warns at once, and every ten minutes at most', () => {
    let left = true
    const { said, pass } = watched((found) => found(left))
    pass(10)
    expect(said).toEqual([])
    left = false
    pass(1)
    expect(said).toEqual([expect.stringContaining('no file descriptor is left')])
    pass(100)
    left = true
    pass(10)
    left = false
    pass(10)
    expect(said).toHaveLength(1)
    pass(1)
    expect(said).toHaveLength(2)
  })

  it('opens a file of the system, and ends', async () => {
    const { timers, said, end } = watched()
    timers.fire()
    expect(timers.pending).toEqual([])
    while (timers.pending.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(said).toEqual([])
    timers.fire()
    end()
    expect(timers.pending).toEqual([])
  })
})
