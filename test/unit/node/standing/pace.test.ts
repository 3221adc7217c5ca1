import { describe, expect, it } from 'vitest'
import { blockPatience, clockBounds, votePatience } from '../../../../src/node/standing/pace.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'
import { type SpecOverrides, testSpec } from '../../../support/builders/spec.js'

const specOf = (overrides: SpecOverrides = {}) => parseSpec(testSpec(overrides))
const localnet = loadSpec('localnet')
const timing = { minInterval: 0, emptyInterval: 0, maxDrift: 0, propose: 1, delta: 0 }

describe('votes', () => {
  it('may be missing for a view with all of its timers, which grow', () => {
    expect([0, 1, 100].map((view) => votePatience(specOf(), view))).toEqual([10_000, 10_500, 159_000])
    expect(votePatience(specOf(), 1000)).toBe(180_000)
  })

  it('may be missing for some seconds on the quickest of chains', () => {
    expect(votePatience(specOf({ timing, maxViewTimeout: 1 }), 0)).toBe(10_000)
  })
})

describe('a block', () => {
  it('may be missing for twice the interval and the views of all that may fail', () => {
    expect(blockPatience(localnet, 4)).toBe(2 * (10_000 + 9_000 + 10_500))
    // One of one: nothing may fail.
    expect(blockPatience(specOf(), 1)).toBe(2 * (10_000 + 9_000))
    // 33 of 100.
    const views = Array.from({ length: 34 }, (_, view) => 3 * (3_000 + 500 * view))
    expect(blockPatience(specOf(), 100)).toBe(2 * (10_000 + views.reduce((sum, length) => sum + length)))
  })

  it('may be missing for half a minute on the quickest of chains', () => {
    expect(blockPatience(specOf({ timing, maxViewTimeout: 1 }), 4)).toBe(30_000)
  })

  it('may be missing for thirty spacings where miners make it', () => {
    const mined = specOf({ validators: [], producer: 'miners' })
    expect(blockPatience(mined, 0)).toBe(3_600_000)
    expect(blockPatience(specOf({ producer: 'miners' }), 4)).toBe(3_600_000 + 2 * (1_000 + 9_000 + 10_500))
    const quick = specOf({ validators: [], producer: 'miners', retarget: { interval: 720, spacing: 1 } })
    expect(blockPatience(quick, 0)).toBe(30_000)
  })
})

describe('clocks', () => {
  it('may differ by the drift that validators accept, and the others be behind by a view more', () => {
    expect(clockBounds(localnet)).toEqual({ behind: 15_000, ahead: 24_000 })
    expect(clockBounds(specOf({ timing, maxViewTimeout: 1 }))).toEqual({ behind: 10_000, ahead: 10_003 })
  })

  it('may differ by more where miners set the times', () => {
    expect(clockBounds(specOf({ producer: 'miners' }))).toEqual({ behind: 10_000, ahead: 1_210_000 })
    const mined = specOf({ validators: [], producer: 'miners' })
    expect(clockBounds(mined)).toEqual({ behind: 120_000, ahead: 1_320_000 })
  })
})
