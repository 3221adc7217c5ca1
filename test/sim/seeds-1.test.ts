import { describe, expect, it } from 'vitest'
import { rounds } from '../support/process/thorough.js'
import { runSeeds } from './run.js'

describe('simulated networks', () => {
  it('keep their promises, seeds from 1 on', async () => {
    const { failures, ...tally } = await runSeeds(1, rounds(6, 100))
    expect(failures.join('\n')).toBe('')
    // That nothing broke says little unless there was reason to.
    // Crashes while a validator is locked are rare: crash.test.ts has them.
    const frequent = Object.entries(tally).filter(([what]) => what !== 'crashesWhenLocked')
    for (const [what, count] of frequent) expect(count, what).toBeGreaterThan(0)
  })
})
