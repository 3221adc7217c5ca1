import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { TendermintMachine } from '../../../../src/voting/tendermint/machine.js'
import { maxView, steps, type VotingMessage } from '../../../../src/voting/tendermint/message.js'
import { encodeSummary, parseSummary, type Summary } from '../../../../src/voting/tendermint/summary.js'
import { bytes, mutated, mutation, u32 } from '../../../support/builders/arbitraries.js'
import { plainForm } from '../../../support/assert/plain-form.js'
import { fakeHeader, Voters } from '../../../support/builders/votes.js'

const view = fc.integer({ min: 0, max: maxView })
const summary: fc.Arbitrary<Summary> = fc.record({
  height: u32,
  view,
  step: fc.constantFrom(...steps),
  validView: fc.integer({ min: -1, max: maxView }),
  views: fc
    .uniqueArray(fc.record({ view, proposal: fc.boolean(), prevotes: bytes(0, 13), precommits: bytes(0, 13) }), {
      selector: (entry) => entry.view,
      maxLength: 101,
    })
    .map((views) => views.sort((a, b) => a.view - b.view)),
})

const parsed = (encoded: Uint8Array): string => {
  try {
    return toHex(encodeSummary(parseSummary(encoded)))
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

describe('the bytes of a summary', () => {
  it('come back as the same summary, and no others', () => {
    fc.assert(
      fc.property(summary, mutation, fc.nat(), (original, changes, cut) => {
        const encoded = encodeSummary(original)
        expect(plainForm(parseSummary(encoded))).toEqual(plainForm(original))
        expect(parsed(encoded.subarray(0, cut % encoded.length))).toBe('vote-malformed')
        expect(parsed(Uint8Array.of(...encoded, 0))).toBe('vote-malformed')
        const changed = mutated(encoded, changes)
        expect([toHex(changed), 'vote-malformed']).toContain(parsed(changed))
      }),
      { numRuns: 1000 },
    )
  })

  it('have at most 101 views, which ascend, and bitmaps of at most 13 bytes', () => {
    const of = (views: readonly number[], bitmap = 0): Summary => ({
      height: 1,
      view: 0,
      step: 'propose',
      validView: -1,
      views: views.map((one) => ({
        view: one,
        proposal: false,
        prevotes: new Uint8Array(bitmap),
        precommits: new Uint8Array(0),
      })),
    })
    const ascending = (count: number) => Array.from({ length: count }, (_, one) => one)
    for (const good of [of([]), of(ascending(101)), of([0], 13)])
      expect(parsed(encodeSummary(good))).not.toMatch(/vote/)
    for (const bad of [of(ascending(102)), of([1, 1]), of([2, 1]), of([maxView + 1]), of([0], 14)]) {
      expect(parsed(encodeSummary(bad))).toBe('vote-malformed')
    }
  })
})

describe('what a node lacks', () => {
  const voters = new Voters(4, 4)
  const block = fakeHeader(4, 'a')
  const quorum = (at: number) => [0, 1, 2].map((place) => voters.prevote(place, at, block.hash))
  const machine = (...messages: readonly VotingMessage[]) => {
    const made = new TendermintMachine({ height: 4, validators: voters.keys })
    made.handle({ type: 'start' })
    for (const message of messages) made.handle({ type: 'message', message })
    return made
  }
  const missing = (from: TendermintMachine, to: TendermintMachine) =>
    from.missing(parseSummary(encodeSummary(to.summary())))
  const kinds = (messages: readonly VotingMessage[]) => messages.map(({ kind }) => kind).sort()
  /** Two signers of a view, who make others follow. */
  const there = (at: number) => [voters.nilPrecommit(0, at), voters.nilPrecommit(1, at)]

  it('is proposal and votes of its view, each once', () => {
    const full = machine(voters.proposal(0, block), voters.prevote(0, 0, block.hash), voters.precommit(1, 0, block))
    const empty = machine()
    expect(kinds(missing(full, empty))).toEqual(['precommit', 'prevote', 'proposal'])
    expect(missing(empty, full)).toEqual([])
    for (const message of missing(full, empty)) empty.handle({ type: 'message', message })
    expect(missing(full, empty)).toEqual([])
  })

  it('is what makes it follow to a higher view', () => {
    const ahead = machine(...there(3), voters.proposal(3, block))
    const behind = machine()
    for (const message of missing(ahead, behind)) behind.handle({ type: 'message', message })
    expect(behind.view).toBe(3)
    expect(missing(ahead, behind)).toEqual([])
  })

  it('is, of lower views, precommits for a block, where it has room for them', () => {
    const old = [voters.prevote(2, 0, block.hash), voters.precommit(2, 0, block), voters.nilPrecommit(3, 0)]
    const holder = machine(...old)
    expect(kinds(missing(holder, machine(...there(2))))).toEqual(['precommit'])
    expect(missing(holder, machine(...there(2), voters.prevote(2, 1, undefined)))).toEqual([])
  })

  it('is the quorum behind a block, when it knows of none or of an earlier one', () => {
    const proof = (at: number): VotingMessage => ({
      kind: 'proof',
      height: 4,
      view: at,
      header: block,
      prevotes: quorum(at),
    })
    const holder = machine(proof(2), ...there(5))
    const later = machine(...there(5))
    expect(kinds(missing(holder, later))).toEqual(['proof'])
    for (const message of missing(holder, later)) later.handle({ type: 'message', message })
    expect(later.summary().validView).toBe(2)
    expect(missing(holder, later)).toEqual([])
    expect(kinds(missing(holder, machine(proof(1), ...there(5))))).toEqual(['proof'])
    expect(missing(holder, machine(proof(3), ...there(5)))).toEqual([])
  })

  it.each([4, 7, 8, 9, 16, 17])('is told by a bit for each of %i validators', (count) => {
    const many = new Voters(count, 4)
    for (const voted of [[0], [count - 1], [0, count - 1], [...many.keys.keys()]]) {
      const made = new TendermintMachine({ height: 4, validators: many.keys })
      for (const place of voted) made.handle({ type: 'message', message: many.prevote(place, 0, undefined) })
      const [entry] = made.summary().views
      const bits = new Uint8Array(Math.ceil(count / 8))
      for (const place of voted) bits[Math.floor(place / 8)]! += 2 ** (place % 8)
      expect([entry?.prevotes, entry?.precommits]).toEqual([bits, new Uint8Array(bits.length)])
    }
  })

  it('of a view that is over is what each validator sent in no later one', () => {
    const proposed = voters.proposal(1, block)
    const of = (...messages: readonly VotingMessage[]) => kinds(missing(holder, machine(...there(5), ...messages)))
    const holder = machine(...[0, 1, 2, 3].map((place) => voters.precommit(place, 0, block)))
    expect(of()).toHaveLength(4)
    // A proposal is of one validator: the others have sent nothing in its view.
    expect(of(proposed)).toHaveLength(3)
  })

  it('is nothing at another height', () => {
    const other = new TendermintMachine({ height: 5, validators: voters.keys })
    expect(machine(voters.proposal(0, block)).missing(other.summary())).toEqual([])
  })

  it('of one validator is kept for its present view and the highest other, whatever it sends', () => {
    const made = machine()
    for (let at = 0; at < 5000; at++) made.handle({ type: 'message', message: voters.prevote(3, at, undefined) })
    expect(made.summary().views.map((entry) => entry.view)).toEqual([0, 4999])
    made.handle({ type: 'message', message: voters.prevote(3, 17, undefined) })
    expect(made.summary().views).toHaveLength(2)
  })
})
