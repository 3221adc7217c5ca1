import { describe, expect, it } from 'vitest'
import { ageWarning, requireJoinable, takenText } from '../../../src/node/taken-state.js'

const time = Date.UTC(2030, 0, 1) / 1000
const state = { height: 42, committing: { height: 330, id: 'ab', time }, work: 5000n }

describe('a state that was taken', () => {
  it('is told with what stands behind it', () => {
    expect(takenText({ hasValidators: true }, 'state.dls', state)).toBe(
      "state of height 42 taken from state.dls and checked against the validators' confirm of block 330 of " +
        '2030-01-01T00:00:00.000Z, which commits to it',
    )
    expect(takenText({ hasValidators: false }, 'peers', state)).toBe(
      'state of height 42 taken from peers and checked against block 330 of 2030-01-01T00:00:00.000Z, which commits to it; ' +
        'work of 5000 hashes alone stands behind that',
    )
  })

  it('is warned of from the 30th day on, where there are validators', () => {
    const after = (days: number, hasValidators = true) =>
      ageWarning({ hasValidators }, state, { now: () => (time + days * 86_400) * 1000 })
    expect(after(-1)).toBeUndefined()
    expect(after(30 - 1e-5)).toBeUndefined()
    expect(after(30)).toMatch(/^block 330 is 30 days old: validators who left/)
    expect(after(1000, false)).toBeUndefined()
  })
})

it('a devnet begins with no state', () => {
  expect(() => requireJoinable({ devnet: false })).not.toThrow()
  expect(() => requireJoinable({ devnet: true })).toThrow(/a devnet begins with no state of others/)
})
