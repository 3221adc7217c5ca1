import { describe, expect, it } from 'vitest'
import { rounds } from '../support/process/thorough.js'
import { issuerChanges, replayedProofs } from './attacks.js'
import { runSeeds } from './run.js'

describe('random pools', () => {
  it('make templates that connect on a node which knows no signature', { timeout: 900_000 }, async () => {
    const seeds = rounds(8, 80)
    const { failures, tally } = await runSeeds(1, seeds)
    expect(failures.join('\n')).toBe('')
    // That every template connects says little unless there was something to leave out, and all kinds of turmoil.
    for (const [what, count] of Object.entries(tally)) expect(count, what).toBeGreaterThan(0)
    expect(tally.pools).toBe(4 * seeds)
    expect(tally.dropped).toBeGreaterThan(seeds / 4)
  })
})

describe('attacks on a pool, in a small size', () => {
  it('by replayed proofs take no place from what pays', { timeout: 120_000 }, async () => {
    expect(await replayedProofs({ blocks: 2, junk: 3, honest: 10 })).toContain('4 replays refused')
  })

  it('by changes of an issuer cause no work while keys stand', { timeout: 120_000 }, async () => {
    expect(await issuerChanges({ holders: 60, blocks: 3 })).toContain('60 evaluated')
  })
})
