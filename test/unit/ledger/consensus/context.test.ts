import { describe, expect, it } from 'vitest'
import {
  type Ancestry,
  checkClock,
  checkHeaderContext,
  earliestTime,
} from '../../../../src/ledger/consensus/context.js'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Header, type HeaderFields } from '../../../../src/base/primitives/header.js'
import type { Spec } from '../../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { withoutValidators } from '../../../support/builders/chain.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { type SpecOverrides, testSpec } from '../../../support/builders/spec.js'

const spec = (overrides: SpecOverrides = {}) => parseSpec(testSpec(overrides))
const work = spec(withoutValidators)
const confirmed = spec()

function header(changes: Partial<HeaderFields>): Header {
  const fields = { version: 0, previous: zeroHash, merkleRoot: zeroHash, time: 0, bits: 0, nonce: 0, height: 0 }
  return new Header({ ...fields, ...changes })
}

/** A chain of headers with these times and bits; the last one is the parent. */
function ancestry(times: readonly number[], bits: (height: number) => number = () => 0x207fffff): Ancestry {
  const at = (height: number) => header({ height, time: times[height] as number, bits: bits(height) })
  return { parent: at(times.length - 1), at }
}

describe('the time of a block', () => {
  const times = [100, 110, 105]

  it('without validators comes after the median and not before the parent', () => {
    expect(earliestTime(work, ancestry(times))).toBe(106)
    expect(earliestTime(work, ancestry([100, 200]))).toBe(201)
    expect(earliestTime(work, ancestry([100, 101, 102, 300]))).toBe(300)
  })

  it('with validators may be that of the parent', () => {
    expect(earliestTime(confirmed, ancestry([100, 200]))).toBe(200)
    expect(earliestTime(confirmed, ancestry(times))).toBe(105)
  })

  const checked = (chain: Spec, fields: Partial<HeaderFields>) =>
    codeOf(() =>
      checkHeaderContext(chain, header({ height: 3, time: 200, bits: 0x207fffff, ...fields }), ancestry(times)),
    )

  it('is checked with height and bits', () => {
    expect(checked(work, { time: 106 })).toBe(undefined)
    expect(checked(work, { time: 105 })).toBe('block-time-early')
    expect(checked(confirmed, { time: 105 })).toBe(undefined)
    expect(checked(confirmed, { time: 104 })).toBe('block-time-early')
    expect(checked(work, { height: 4 })).toBe('block-height')
    expect(checked(work, { height: 2 })).toBe('block-height')
    expect(checked(work, { bits: 0x207ffffe })).toBe('block-bits')
  })

  it('is at most two hours ahead of the clock, where no validators vouch for it', () => {
    const now = 1_700_000_000_999
    const latest = 1_700_000_000 + 7200
    expect(codeOf(() => checkClock(work, header({ time: latest }), now))).toBe(undefined)
    expect(codeOf(() => checkClock(work, header({ time: latest + 1 }), now))).toBe('block-time-future')
    expect(codeOf(() => checkClock(confirmed, header({ time: latest + 1 }), now))).toBe(undefined)
  })

  it('is refused in dates', () => {
    const now = 1_700_000_000_999
    expect(() => checkClock(work, header({ time: 0xffffffff }), now)).toThrow(
      'time 2106-02-07T06:28:15Z, at most 2023-11-15T00:13:20Z now',
    )
    expect(() => checkHeaderContext(work, header({ height: 3, time: 105 }), ancestry(times))).toThrow(
      'time 1970-01-01T00:01:45Z, not before 1970-01-01T00:01:46Z',
    )
  })
})
