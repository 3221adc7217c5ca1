import { describe, expect, it } from 'vitest'
import { blockPatience } from '../../../../src/node/standing/pace.js'
import { type ChainFacts, stallOf, type VoteFacts } from '../../../../src/node/standing/stall.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { type SpecOverrides, testSpec } from '../../../support/builders/spec.js'
import { fakeKeys } from '../../../support/builders/votes.js'

const specOf = (overrides: SpecOverrides = {}) => parseSpec(testSpec(overrides))
const spec = specOf()
const mined = specOf({ validators: [], producer: 'miners' })
const tip = { height: 7, time: 1_800_000_000 }

/** A vote of `count` validators, of which those at the places have sent a prevote or a precommit of the present view. */
function vote(
  { count = 4, prevotes = [], precommits = [], own }: Votes,
  { view = 0, step = 'prevote', stepAge = 10_000 }: Partial<VoteFacts> = {},
): VoteFacts {
  const votes = fakeKeys(count).map((publicKey, place) => {
    const [prevote, precommit] = [prevotes.includes(place), precommits.includes(place)]
    return { publicKey, own: place === own, heard: prevote || precommit, prevote, precommit }
  })
  return { view, step, stepAge, votes }
}
interface Votes {
  readonly count?: number
  readonly prevotes?: readonly number[]
  readonly precommits?: readonly number[]
  readonly own?: number
}

const facts = (changes: Partial<ChainFacts>): ChainFacts => ({
  spec,
  tip,
  tipAge: 15_000,
  peers: 3,
  behindByClock: false,
  ...changes,
})
const keyText = (place: number, count = 4) => toHex(fakeKeys(count)[place] as Uint8Array).slice(0, 12)

describe('a chain is well', () => {
  const idle = { step: 'propose', stepAge: 60_000 } as const
  it.each<[string, Partial<ChainFacts>]>([
    ['before the vote begins', { vote: vote({}, idle) }],
    ['while a quorum votes', { vote: vote({ prevotes: [0, 1, 2] }, { stepAge: 60_000 }) }],
    ['while votes are missing for less than a view', { vote: vote({ prevotes: [0, 1] }, { stepAge: 9_999 }) }],
    [
      'while precommits come, whatever became of prevotes',
      { vote: vote({ precommits: [0, 1, 3] }, { step: 'precommit' }) },
    ],
    ['in a late view, whose timers are longer', { vote: vote({ prevotes: [0] }, { view: 100, stepAge: 158_999 }) }],
    [
      'with the vote of the only validator',
      { vote: vote({ count: 1, prevotes: [0] }, { stepAge: 1e9 }), tipAge: 37_999 },
    ],
    ['until the block is overdue', { vote: vote({ prevotes: [0, 1, 2] }), tipAge: blockPatience(spec, 4) - 1 }],
    ['until its miners are overdue', { spec: mined, tipAge: 3_599_999 }],
  ])('%s', (_, changes) => {
    expect(stallOf(facts(changes))).toBeUndefined()
  })
})

describe('a chain is stalled', () => {
  it.each<[string, Partial<ChainFacts>, string]>([
    ['without prevotes of a quorum for a view', { vote: vote({ prevotes: [0, 1] }) }, 'no-quorum'],
    ['without any vote', { vote: vote({}) }, 'no-quorum'],
    ['without the vote of its only validator', { vote: vote({ count: 1 }) }, 'no-quorum'],
    [
      'without precommits of a quorum, though it prevoted',
      { vote: vote({ prevotes: [0, 1, 2], precommits: [0, 1] }, { step: 'precommit' }) },
      'no-quorum',
    ],
    [
      'in a late view, after its timers',
      { vote: vote({ prevotes: [0] }, { view: 100, stepAge: 159_000 }) },
      'no-quorum',
    ],
    ['with a quorum and no block', { vote: vote({ prevotes: [0, 1, 2] }), tipAge: blockPatience(spec, 4) }, 'tip-old'],
    ['without a proposal', { vote: vote({}, { step: 'propose' }), tipAge: blockPatience(spec, 4) }, 'tip-old'],
    ['without its miners', { spec: mined, tipAge: 3_600_000 }, 'tip-old'],
  ])('%s', (_, changes, reason) => {
    expect(stallOf(facts(changes))).toMatchObject({ reason, detail: expect.any(String) })
  })
})

describe('the sentence for people', () => {
  it('names the validators that are missing, by place and key', () => {
    expect(stallOf(facts({ vote: vote({ prevotes: [0, 2], own: 3 }) }))?.detail).toBe(
      'votes of 2 of 4 validators have arrived (prevote of view 0 at height 8), and a block needs 3; missing: ' +
        `validator 2 (${keyText(1)}…), validator 4 (${keyText(3)}…, this node)`,
    )
  })

  it('is short, however many are missing', () => {
    const detail = stallOf(facts({ vote: vote({ count: 100, prevotes: [0] }) }))?.detail ?? ''
    expect(detail).toContain(`validator 11 (${keyText(10, 100)}…), 89 more`)
    expect(detail.length).toBeLessThan(600)
  })

  it('says that the node is alone', () => {
    const alone = 'this node is connected to no other'
    expect(stallOf(facts({ vote: vote({}), peers: 0 }))?.detail).toContain(alone)
    expect(stallOf(facts({ spec: mined, tipAge: 3_600_000, peers: 0 }))?.detail).toContain(alone)
    expect(stallOf(facts({ vote: vote({}), peers: undefined }))?.detail).not.toContain(alone)
  })

  it('says which block is the last, and what the chain aims at', () => {
    const late = 'no block has followed block 7 of 2027-01-15T08:00:00Z for more than'
    expect(stallOf(facts({ spec: mined, tipAge: 4_000_000 }))?.detail).toBe(
      `${late} 3600 s, 30 times the 120 s between blocks that this chain aims at: do its miners work?`,
    )
    expect(stallOf(facts({ vote: vote({ prevotes: [0, 1, 3] }), tipAge: 100_000 }))?.detail).toBe(
      `${late} 59 s; votes of 3 of 4 validators have arrived, and a block needs 3`,
    )
  })
})

describe('once reported', () => {
  it('a stall ends with the next block alone: a quorum that is back changes the sentence', () => {
    const back = vote({ prevotes: [0, 1, 2] }, { view: 1, stepAge: 0 })
    expect(stallOf(facts({ vote: back }), 'no-quorum')).toEqual({
      reason: 'no-quorum',
      detail: 'no block has followed height 7 yet; votes of 3 of 4 validators have arrived, and a block needs 3',
    })
  })

  it('names those missing now', () => {
    const less = vote({ prevotes: [0] }, { view: 1, stepAge: 0 })
    expect(stallOf(facts({ vote: less }), 'no-quorum')?.detail).toContain(`validator 2 (${keyText(1)}…)`)
  })

  it('does not take each new step for a missing quorum when the block is what is missing', () => {
    const begun = vote({}, { view: 9, stepAge: 0 })
    expect(stallOf(facts({ vote: begun, tipAge: 100_000 }), 'tip-old')?.reason).toBe('tip-old')
    const waits = vote({}, { view: 9, stepAge: 100_000 })
    expect(stallOf(facts({ vote: waits, tipAge: 100_000 }), 'tip-old')?.reason).toBe('no-quorum')
  })
})
