import { describe, expect, it } from 'vitest'
import { type GatewayFacts, gatewayStanding, standingOf } from '../../../../src/node/gateway/gateway-standing.js'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'

/** Milliseconds. */
const now = 1_800_000_000_000
const policy = { staleAfter: 0, always: false }

/** A gateway with a young tip over fresh rows, whose nodes do not answer. */
const facts = (changes: Partial<GatewayFacts> = {}): GatewayFacts => ({
  spec: loadSpec('localnet'),
  tip: { height: 100, time: now / 1000 - 5 },
  now,
  rows: { age: 1, fault: undefined },
  best: undefined,
  ...changes,
})

describe('a gateway', () => {
  it.each([
    ['no height', undefined, true],
    ['a lower height', 90, true],
    ['three blocks more', 103, true],
    ['four blocks more', 104, false],
  ])('whose nodes have %s', (_, best, inStep) => {
    expect(gatewayStanding(facts({ best }), policy).inStep).toBe(inStep)
  })

  it('that is behind says nothing by the age of its tip, unless its owner wants all', () => {
    const behind = facts({ best: 104 })
    const hour = 3_600_000
    expect(gatewayStanding(behind, { ...policy, staleAfter: hour })).toMatchObject({
      reason: 'behind',
      answers: 'none',
    })
    expect(gatewayStanding(behind, { ...policy, always: true })).toMatchObject({ reason: 'behind', answers: 'all' })
  })

  it.each([
    ['60 s', 60, true],
    ['61 s', 61, false],
  ])('whose shards no node has been at for %s', (_, age, inStep) => {
    expect(gatewayStanding(facts({ rows: { age, fault: undefined } }), policy).inStep).toBe(inStep)
  })
})

it('is decided anew where a fact is another one, and not before', () => {
  const base = facts()
  let known = base
  const standing = standingOf(policy, () => known)
  const rows = { age: 1, fault: 'shard 1 does not answer' }
  for (const change of [{ rows }, { best: 109 }, { now: now + 1000 }, { tip: { ...base.tip, height: 101 } }]) {
    known = base
    const before = standing()
    known = { ...base, now: now + 999 }
    expect(standing()).toBe(before)
    known = { ...base, ...change }
    expect(standing()).toEqual(gatewayStanding(known, policy))
    expect(standing()).not.toBe(before)
  }
})
