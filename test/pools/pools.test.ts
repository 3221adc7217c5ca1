import { describe, expect, it } from 'vitest'
import { runSeeds } from './run.js'

describe('random pools', () => {
  it(
    'make templates that connect on a node which knows no signature, seeds 1 to 80',
    { timeout: 900_000 },
    async () => {
      const { failures, tally } = await runSeeds(1, 80)
      expect(failures.join('\n')).toBe('')
      // That every template connects says little unless there was something to leave out, and all kinds of turmoil.
      for (const [what, count] of Object.entries(tally)) expect(count, what).toBeGreaterThan(0)
      expect(tally.pools).toBe(320)
      expect(tally.dropped).toBeGreaterThan(20)
    },
  )
})
