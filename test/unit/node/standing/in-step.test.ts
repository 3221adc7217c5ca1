import { describe, expect, it } from 'vitest'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'
import { standingOf, type StepFacts, type StepPolicy } from '../../../../src/node/standing/in-step.js'
import { mostAhead, tipPatience } from '../../../../src/node/standing/pace.js'
import { trustOf } from '../../../../src/identity/proofs/make-trust.js'

const localnet = loadSpec('localnet')
const pow = loadSpec('pow')
/** Milliseconds. */
const now = 1_800_000_000_000
const noStale: StepPolicy = { staleAfter: 0, always: false }
const hour: StepPolicy = { staleAfter: 3_600_000, always: false }
const idle = { asking: false, arriving: false, met: true, behindByClock: false }

/** A node with a young tip, which knows of nothing better. */
function facts(changes: Partial<StepFacts> = {}): StepFacts {
  return {
    spec: localnet,
    tip: { height: 100, time: now / 1000 - 5 },
    seen: 0,
    signed: 0,
    ...{
      now,
      held: 5_000,
      beyond: idle,
      expectsPeers: true,
      asked: 0,
      alone: 0,
      stoodStill: undefined,
      before: false,
      everInStep: false,
    },
    ...changes,
  }
}

it('a node below what it saw of its chain with a state is behind, whatever the age of its tip and its peers', () => {
  expect(lacks({ seen: 101 })).toBe('behind')
  expect(lacks({ seen: 101, expectsPeers: false, alone: undefined })).toBe('behind')
  expect(lacks({ seen: 100 })).toBe('nothing')
})

it('a node whose key signed above the next block is behind the chain that it had, whatever else is right', () => {
  expect(lacks({ signed: 101 })).toBe('nothing')
  for (const expectsPeers of [true, false]) {
    const standing = judge({ signed: 102, expectsPeers, everInStep: true }, hour)
    expect(standing).toMatchObject({ inStep: false, reason: 'behind', answers: 'none' })
    expect(standing).toMatchObject({
      missing: expect.stringMatching(/signed at height 102, so the chain had at least 101 blocks/),
    })
  }
})

const tipOf = (age: number) => ({ height: 100, time: now / 1000 - age })
const judge = (changes: Partial<StepFacts>, policy = noStale) => standingOf(facts(changes), policy)
const lacks = (changes: Partial<StepFacts>, policy = noStale) => {
  const standing = judge(changes, policy)
  return standing.inStep ? 'nothing' : standing.reason
}

describe('the pace of a chain', () => {
  it.each([
    ['localnet', localnet, 75_000],
    ['pow', pow, 1_440_000],
  ] as const)('%s is what light resolvers go by', (_, spec, patience) => {
    expect(tipPatience(spec)).toBe(patience)
    expect(trustOf(spec)?.maxAge).toBe(patience / 1000)
  })
})

describe.each([
  ['validators', localnet, 75],
  ['miners', pow, 1_440],
] as const)('a tip of %s', (_, spec, patience) => {
  it.each([false, true])('may be as old as the pace allows, in step before: %s', (before) => {
    expect(lacks({ spec, tip: tipOf(patience), before })).toBe('nothing')
    expect(lacks({ spec, tip: tipOf(patience + 1), before })).toBe('old')
  })

  it('may have been the tip as long, whatever the clock says', () => {
    expect(lacks({ spec, held: patience * 1000 })).toBe('nothing')
    expect(lacks({ spec, held: patience * 1000 + 1 })).toBe('old')
    expect(lacks({ spec, held: patience * 1000 + 1, tip: tipOf(-patience), before: true })).toBe('old')
  })

  it.each([false, true])('may be ahead of the clock as far as a right clock sees it, in step before: %s', (before) => {
    const most = mostAhead(spec) / 1000
    expect(lacks({ spec, tip: tipOf(-most), before })).toBe('nothing')
    expect(lacks({ spec, tip: tipOf(-most - 1), before })).toBe('clock')
  })
})

it('the genesis block is never young, for it needs nothing of now', () => {
  expect(lacks({ tip: { ...tipOf(0), height: 1 } })).toBe('nothing')
  expect(lacks({ tip: { ...tipOf(0), height: 0 } })).toBe('old')
})

describe('blocks that are proved and not connected', () => {
  const better = (missing: number, milliseconds: number) => ({
    beyond: { ...idle, better: { height: 100 + missing, since: now - milliseconds } },
  })

  it('may be on their way for a moment, where the node was in step', () => {
    for (const missing of [0, 1, 2]) {
      expect(lacks({ ...better(missing, 2_000), before: true })).toBe('nothing')
      expect(lacks({ ...better(missing, 2_001), before: true })).toBe('behind')
    }
    expect(lacks({ ...better(3, 0), before: true })).toBe('behind')
  })

  it('keep a node that joins out of step, be it one', () => {
    expect(lacks(better(1, 0))).toBe('behind')
  })

  it('count whichever way the clock was set meanwhile', () => {
    expect(lacks({ ...better(1, -2_000), before: true })).toBe('nothing')
    expect(lacks({ ...better(1, -2_001), before: true })).toBe('behind')
  })
})

describe('a late clock', () => {
  it('is seen by proved blocks of its future before the node is in step, so that one miner takes no node out of it', () => {
    const beyond = { ...idle, aheadOfClock: 101 }
    expect(lacks({ beyond })).toBe('clock')
    expect(lacks({ beyond, before: true })).toBe('nothing')
  })

  it('is seen by what most peers have', () => {
    for (const before of [false, true]) {
      expect(lacks({ beyond: { ...idle, behindByClock: true, aheadOfClock: 101 }, before })).toBe('clock')
      // Blocks of the future on a chain with less work cost strangers nothing.
      expect(lacks({ beyond: { ...idle, behindByClock: true }, before })).toBe('nothing')
    }
  })
})

describe('peers', () => {
  it('that are expected have to have shown their chain, and not long ago', () => {
    expect(lacks({ alone: undefined })).toBe('alone')
    expect(lacks({ alone: 30_000 })).toBe('nothing')
    expect(lacks({ alone: 30_001, before: true })).toBe('alone')
  })

  it('that are not expected are not missed', () => {
    for (const alone of [undefined, 10 ** 6]) expect(lacks({ alone, expectsPeers: false })).toBe('nothing')
  })

  it('that say they have more are asked first; what they say takes no node out of step', () => {
    expect(lacks({ beyond: { ...idle, asking: true } })).toBe('behind')
    expect(lacks({ beyond: { ...idle, asking: true }, before: true })).toBe('nothing')
    expect(lacks({ beyond: { ...idle, asking: true }, asked: 10_000 })).toBe('behind')
    expect(lacks({ beyond: { ...idle, asking: true }, asked: 10_001 })).toBe('nothing')
    expect(lacks({ beyond: { ...idle, asking: true, arriving: true }, asked: 10_001 })).toBe('behind')
  })

  it('that say they have nothing better make no old tip young', () => {
    expect(lacks({ tip: tipOf(76) })).toBe('old')
  })
})

describe('answers out of step', () => {
  const old = (age: number) => ({ tip: tipOf(age), everInStep: true, before: false })
  const answers = (changes: Partial<StepFacts>, policy: StepPolicy) => {
    const standing = judge(changes, policy)
    return standing.inStep ? 'in step' : standing.answers
  }

  it('are given of a chain that pauses until the bound of its owner', () => {
    expect(answers(old(3_600), hour)).toBe('found')
    expect(answers(old(3_601), hour)).toBe('none')
    expect(answers(old(76), noStale)).toBe('none')
    expect(answers({ ...old(80), held: 3_600_001 }, hour)).toBe('none')
  })

  it('are given by a node that lost its peers, as long', () => {
    const alone = { alone: 30_001 }
    expect(answers({ ...old(10), ...alone }, hour)).toBe('found')
    expect(answers({ ...old(3_600), ...alone }, hour)).toBe('found')
    expect(answers({ ...old(3_601), ...alone }, hour)).toBe('none')
    expect(answers({ ...old(10), ...alone, everInStep: false }, hour)).toBe('none')
  })

  it.each<[string, Partial<StepFacts>]>([
    ['was never in step in this run', { everInStep: false }],
    ['knows of better blocks', { beyond: { ...idle, better: { height: 105, since: now } } }],
    ['has a late clock', { beyond: { ...idle, behindByClock: true, aheadOfClock: 101 } }],
    ['has seen blocks of its future', { beyond: { ...idle, aheadOfClock: 101 } }],
    ['is asking for better ones', { beyond: { ...idle, asking: true } }],
  ])('are not given by a node that %s', (_, changes) => {
    expect(answers({ ...old(100), ...changes }, hour)).toBe('none')
    expect(answers({ ...old(100), ...changes }, { ...hour, always: true })).toBe('all')
  })

  it('name the height, the age and what is missed', () => {
    expect(judge({ tip: tipOf(100) })).toEqual({
      ...{ inStep: false, height: 100, age: 100, reason: 'old', answers: 'none' },
      missing: 'a chain that goes on has a block of the last 75 s',
    })
    expect(judge({ tip: tipOf(-3) })).toEqual({ inStep: true, height: 100, age: 0 })
  })
})

describe('a follower', () => {
  const word = { height: 90, target: 90, inStep: false, catchingUp: false }
  const doubting = (doubted: number, changes = {}, before = false) =>
    judge({ followed: { word: { ...word, ...changes }, doubted }, before, everInStep: before }, hour)

  it('is out of step as long as the node that it follows says so of itself', () => {
    expect(doubting(1_000)).toMatchObject({
      reason: 'alone',
      answers: 'none',
      missing: expect.stringMatching(/follows/),
    })
    expect(doubting(1_000, { catchingUp: true, target: 290 })).toMatchObject({
      reason: 'behind',
      missing: 'the node that it follows is catching up, at height 90 of 290',
    })
    expect(doubting(0, { inStep: true })).toMatchObject({ inStep: true })
  })

  it('says that it is in a ring, while that keeps it out of step', () => {
    const inRing = (changes: object) =>
      judge({ followed: { word: { ...word, ...changes }, doubted: 1_000, isRing: true }, before: false }, hour)
    expect(inRing({ catchingUp: true, target: 290 })).toMatchObject({
      reason: 'alone',
      missing: 'the node that it follows takes its blocks from this one',
    })
    expect(inRing({ inStep: true })).toMatchObject({ inStep: true })
  })

  it('that was in step leaves that one the time to start again, and answers what is there after it', () => {
    expect(doubting(15_000, {}, true)).toMatchObject({ inStep: true })
    expect(doubting(15_001, {}, true)).toMatchObject({ inStep: false, reason: 'alone', answers: 'found' })
  })
})
