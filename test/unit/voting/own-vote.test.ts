import { describe, expect, it } from 'vitest'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { OwnVote, type OwnVoteDependencies } from '../../../src/voting/own-vote.js'
import type { SigningOutlook } from '../../../src/voting/signer.js'
import type { SigningState } from '../../../src/voting/signing-state.js'
import { testPublicKey, testSpec } from '../../support/builders/spec.js'

const now = 1_800_000_000_000

interface Plan {
  readonly validators?: number
  readonly genesisTime?: number
  readonly hasKey?: boolean
  readonly signing?: SigningState
  readonly alarm?: string
  readonly isBehind?: boolean
  readonly bestPeerHeight?: number
}

/** The decision of a node, whose signer says what the plan says. */
function ownVote(plan: Plan = {}) {
  const { validators = 4, genesisTime = now / 1000 - 1_000, hasKey = true, alarm, isBehind = false } = plan
  const keys = Array.from({ length: validators }, (_, i) => toHex(testPublicKey(i)))
  const warnings: unknown[] = []
  const outlooks: SigningOutlook[] = []
  const state = { signing: plan.signing ?? ({ kind: 'voting' } as SigningState) }
  const signing = (outlook: SigningOutlook) => (outlooks.push(outlook), state.signing)
  const nothing = () => {}
  const vote = new OwnVote({
    chain: { spec: parseSpec(testSpec({ validators: keys })), genesis: { header: { time: genesisTime } } },
    clock: { now: () => now },
    log: {
      ...{ debug: nothing, info: nothing, error: nothing },
      warn: ({ reason }: { reason?: unknown }) => void warnings.push(reason),
    },
    signer: hasKey ? { publicKey: testPublicKey(0), signing } : undefined,
    guard: { bestPeerHeight: plan.bestPeerHeight, isBehind },
    alarm: { text: alarm },
  } as unknown as OwnVoteDependencies)
  return { vote, warnings, outlooks, state }
}

const openAt = (time = 0, votes = true) => ({ height: 7, votes, parent: { header: { time } } }) as never

describe('the own vote', () => {
  it.each<[string, Plan, boolean, object]>([
    ['no key', { hasKey: false, alarm: 'x' }, false, { kind: 'no-key' }],
    ['a key of no validator', { alarm: 'x' }, false, { kind: 'not-validator' }],
    ['an alarm', { alarm: 'two blocks' }, true, { kind: 'alarm', text: 'two blocks' }],
    ['a lost state', { signing: { kind: 'sign-state-missing' }, isBehind: true }, true, { kind: 'sign-state-missing' }],
    ['peers ahead', { isBehind: true, bestPeerHeight: 9 }, true, { kind: 'catching-up', height: 9 }],
    ['nothing against it', { bestPeerHeight: 9 }, true, { kind: 'voting' }],
  ])('is decided with %s', (_, plan, votes, expected) => {
    expect(ownVote(plan).vote.state(openAt(0, votes))).toEqual(expected)
  })

  it('knows a block that was confirmed after the start by a time that no clock allowed before', () => {
    const { vote } = ownVote()
    // Twice the difference of clocks that the chain allows, 5 s.
    const after = now / 1000 + 10
    expect([after, after + 1].map((time) => vote.outlook(openAt(time)).fresh)).toEqual([false, true])
    const late = ownVote({ genesisTime: now / 1000 + 500 }).vote
    expect([500, 501].map((ahead) => late.outlook(openAt(now / 1000 + ahead)).fresh)).toEqual([false, true])
  })

  it('looks out with what the peers say, and whether there are other validators', () => {
    const plan = { isBehind: true, bestPeerHeight: 9 }
    expect(ownVote(plan).vote.outlook(openAt())).toEqual({ height: 7, alone: false, fresh: false, ...plan })
    expect([1, 2].map((validators) => ownVote({ validators }).vote.outlook(openAt()).alone)).toEqual([true, false])
  })

  it('that is missing is told of once, where only a person can help', () => {
    const { vote, warnings, state } = ownVote()
    const told = (signing: SigningState, votes = true) => {
      state.signing = signing
      for (let i = 0; i < 2; i++) vote.logState(openAt(0, votes))
      return warnings.length
    }
    expect(told({ kind: 'voting' })).toBe(0)
    expect(told({ kind: 'sign-state-missing' })).toBe(1)
    expect(told({ kind: 'waits-for-peer' })).toBe(1)
    expect(told({ kind: 'voting' }, false)).toBe(2)
    expect(told({ kind: 'sign-state-missing' })).toBe(3)
    expect(new Set(warnings).size).toBe(2)
    expect(told({ kind: 'signed-above', height: 50 })).toBe(4)
    expect(warnings.at(-1)).toMatch(/signed at height 50/)
  })
})
