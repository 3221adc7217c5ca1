import { describe, expect, it } from 'vitest'
import { rounds } from '../support/process/thorough.js'
import { runSeeds } from './run.js'

describe('random pools', () => {
  it('make templates that connect on a node which knows no signature', { timeout: 900_000 }, async () => {
    const seeds = rounds(15, 80)
    const { failures, tally } = await runSeeds(1, seeds)
    expect(failures.join('\n')).toBe('')
    // That every template connects says little unless there was something to leave out, and all kinds of turmoil.
    for (const [what, count] of Object.entries(tally)) expect(count, what).toBeGreaterThan(0)
    expect(tally.pools).toBe(4 * seeds)
    expect(tally.dropped).toBeGreaterThan(seeds / 4)
  })
})
