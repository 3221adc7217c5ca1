import { describe, expect, it } from 'vitest'
import { rounds, thorough } from '../support/process/thorough.js'
import { runSeeds } from './run.js'

describe('simulated networks', () => {
  // One seed in ten has a crash at a start; a usual run begins where there are some.
  const first = thorough ? 101 : 121
  it(`keep their promises, seeds from ${first} on`, async () => {
    const { failures, ...tally } = await runSeeds(first, rounds(6, 100))
    expect(failures.join('\n')).toBe('')
    // That nothing broke says little unless there was reason to. Crashes while a validator is locked are rare.
    const expected = Object.entries(tally).filter(([what]) => thorough || what !== 'crashesWhenLocked')
    for (const [what, count] of expected) expect(count, what).toBeGreaterThan(0)
  })
})
