import { describe, expect, it } from 'vitest'
import { runSeeds } from './run.js'

describe('simulated networks', () => {
  it('keep their promises, seeds 101 to 200', async () => {
    const { failures, ...tally } = await runSeeds(101, 100)
    expect(failures.join('\n')).toBe('')
    // That nothing broke says little unless there was reason to.
    for (const [what, count] of Object.entries(tally)) expect(count, what).toBeGreaterThan(0)
  })
})
