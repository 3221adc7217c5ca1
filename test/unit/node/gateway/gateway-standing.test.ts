import { describe, expect, it } from 'vitest'
import type { NodesWord } from '../../../../src/node/gateway/asked-nodes.js'
import {
  type GatewayFacts,
  gatewayStanding,
  progressOf,
  standingOf,
} from '../../../../src/node/gateway/gateway-standing.js'
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
  nodes: undefined,
  ...changes,
})

/** The word of nodes of which one is in step. */
const inStep = (height: number): NodesWord => ({ height, target: height, inStep: true, catchingUp: false })
const outOfStep = (height: number, changes: Partial<NodesWord> = {}): NodesWord => ({
  ...inStep(height),
  inStep: false,
  ...changes,
})
const hour = 3_600_000

describe('a gateway', () => {
  it.each([
    ['do not answer', undefined, true],
    ['have a lower height', inStep(90), true],
    ['have three blocks more', inStep(103), true],
    ['have four blocks more', inStep(104), false],
    ['are out of step at its height', outOfStep(100), false],
    ['are out of step below it', outOfStep(90), false],
    ['catch up', outOfStep(100, { target: 1000, catchingUp: true }), false],
  ])('whose nodes %s', (_, nodes, isInStep) => {
    expect(gatewayStanding(facts({ nodes }), policy).inStep).toBe(isInStep)
  })

  it('at the genesis block is in step by the word of a node alone', () => {
    const tip = { height: 0, time: now / 1000 - 5 }
    expect(gatewayStanding(facts({ tip }), policy)).toMatchObject({ inStep: false, reason: 'old' })
    expect(gatewayStanding(facts({ tip, nodes: outOfStep(0) }), policy)).toMatchObject({ inStep: false })
    expect(gatewayStanding(facts({ tip, nodes: inStep(0) }), policy)).toMatchObject({ inStep: true })
    expect(gatewayStanding(facts({ tip, spec: loadSpec('devnet') }), policy)).toMatchObject({ inStep: true })
  })

  it.each([
    ['a minute', 60, true],
    ['more than a right clock allows', 76, false],
  ])('whose clock is %s behind its tip', (_, seconds, isInStep) => {
    const tip = { height: 100, time: now / 1000 + seconds }
    const late = facts({ tip, nodes: inStep(100) })
    expect(gatewayStanding(late, { ...policy, staleAfter: hour })).toMatchObject(
      isInStep ? { inStep: true } : { inStep: false, reason: 'clock', answers: 'none' },
    )
    expect(gatewayStanding({ ...late, spec: loadSpec('devnet') }, policy)).toMatchObject({ inStep: true })
  })

  it('whose nodes are out of step, and lack no block that they know of, says what is there', () => {
    const alone = facts({ nodes: outOfStep(100) })
    const lasting = { ...policy, staleAfter: hour }
    expect(gatewayStanding(alone, lasting)).toMatchObject({ reason: 'alone', answers: 'found' })
    const catching = facts({ nodes: outOfStep(100, { target: 1000, catchingUp: true }) })
    expect(gatewayStanding(catching, lasting)).toMatchObject({
      ...{ reason: 'behind', answers: 'none' },
      missing: expect.stringContaining('at height 100 of 1000') as string,
    })
  })

  it('tells how far the chain goes as far as a node knows', () => {
    expect(progressOf(100, undefined)).toBeUndefined()
    expect(progressOf(100, inStep(103))).toEqual({ catchingUp: false, height: 100, target: 103 })
    expect(progressOf(100, inStep(104))).toEqual({ catchingUp: true, height: 100, target: 104 })
    expect(progressOf(100, inStep(90))).toEqual({ catchingUp: false, height: 100, target: 100 })
    const nodes = outOfStep(100, { target: 1000, catchingUp: true })
    expect(progressOf(100, nodes)).toEqual({ catchingUp: true, height: 100, target: 1000 })
  })

  it('that is behind says nothing by the age of its tip, unless its owner wants all', () => {
    const behind = facts({ nodes: inStep(104) })
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
  for (const change of [{ rows }, { nodes: inStep(109) }, { now: now + 1000 }, { tip: { ...base.tip, height: 101 } }]) {
    known = base
    const before = standing()
    known = { ...base, now: now + 999 }
    expect(standing()).toBe(before)
    known = { ...base, ...change }
    expect(standing()).toEqual(gatewayStanding(known, policy))
    expect(standing()).not.toBe(before)
  }
})
