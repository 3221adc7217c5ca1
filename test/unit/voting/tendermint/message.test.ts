import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { proposalTopic, voteTopic } from '../../../../src/network/wire/votes-message.js'
import { compareBytes, toHex } from '../../../../src/base/primitives/bytes.js'
import { sha256d, zeroHash } from '../../../../src/base/primitives/hash.js'
import { quorum } from '../../../../src/base/primitives/spec.js'
import {
  confirmOf,
  encodeMessage,
  maxView,
  parseMessage,
  preimage,
  type PrevoteMessage,
  sameValue,
  type VotingMessage,
} from '../../../../src/voting/tendermint/message.js'
import { maxMessageSize } from '../../../../src/voting/tendermint/sign-state.js'
import {
  bytes,
  hash,
  header,
  mutated,
  mutation,
  proposal as anyProposal,
  u32,
} from '../../../support/builders/arbitraries.js'
import { plainForm } from '../../../support/assert/plain-form.js'
import { fakeHeader, Voters } from '../../../support/builders/votes.js'

const view = fc.integer({ min: 0, max: maxView })
const author = { signer: bytes(33), signature: bytes(64) }
const proposal = fc.tuple(anyProposal, view).map(([one, viewOffset]) => ({ ...one, viewOffset }))

/** Prevotes of a view for a block, as a proposal and a proof carry them. */
const behind = fc.tuple(header, view, fc.array(fc.record(author), { maxLength: 100 })).map(([of, at, authors]) => ({
  header: of,
  height: of.height,
  view: at,
  prevotes: authors.map((one): PrevoteMessage => ({
    kind: 'prevote',
    height: of.height,
    view: at,
    blockHash: of.hash,
    ...one,
  })),
}))

const message: fc.Arbitrary<VotingMessage> = fc.oneof(
  fc.tuple(behind, proposal, bytes(64), fc.boolean()).map(([of, one, signature, fresh]) => {
    const { header: block, height, prevotes } = of
    return {
      kind: 'proposal' as const,
      height,
      validView: fresh ? -1 : of.view,
      header: block,
      proposal: one,
      signature,
      prevotes: fresh ? [] : prevotes,
    }
  }),
  fc.record({
    kind: fc.constant('prevote' as const),
    height: u32,
    view,
    blockHash: fc.option(hash, { nil: undefined }),
    ...author,
  }),
  fc
    .tuple(header, proposal, fc.record(author))
    .map(([of, one, by]) => ({ kind: 'precommit' as const, height: of.height, header: of, proposal: one, ...by })),
  fc.record({ kind: fc.constant('precommit-nil' as const), height: u32, view, ...author }),
  behind.map((of) => ({ kind: 'proof' as const, ...of })),
)

const code = (call: () => unknown): string => {
  try {
    call()
    return 'accepted'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

describe('the bytes of a message', () => {
  it('come back as the same message', () => {
    fc.assert(
      fc.property(message, (original) => {
        const encoded = encodeMessage(original)
        const parsed = parseMessage(encoded)
        expect(plainForm(parsed)).toEqual(plainForm(original))
        expect(toHex(encodeMessage(parsed))).toBe(toHex(encoded))
      }),
      { numRuns: 1000 },
    )
  })

  it('are refused when they end too early or too late', () => {
    fc.assert(
      fc.property(message, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (original, part) => {
        const encoded = encodeMessage(original)
        expect(code(() => parseMessage(encoded.subarray(0, Math.floor(part * encoded.length))))).toBe('vote-malformed')
        expect(code(() => parseMessage(Uint8Array.of(...encoded, 0)))).toBe('vote-malformed')
      }),
      { numRuns: 1000 },
    )
  })

  it('are refused at every length but the right one', () => {
    const voters = new Voters(4, 7)
    const block = fakeHeader(7, 'a')
    const quorum = [0, 1, 2].map((place) => voters.prevote(place, 2, block.hash))
    const proof = { kind: 'proof', height: 7, view: 2, header: block, prevotes: quorum } as const
    const all = [voters.proposal(3, block, quorum), quorum[0], voters.precommit(0, 1, block), voters.nilPrecommit(0, 1)]
    for (const one of [...all, proof] as VotingMessage[]) {
      const encoded = encodeMessage(one)
      for (let length = 0; length < encoded.length; length++) {
        expect(code(() => parseMessage(encoded.subarray(0, length)))).toBe('vote-malformed')
      }
    }
  })

  it('with errors in them are refused or mean another message, of which they are the bytes', () => {
    fc.assert(
      fc.property(message, mutation, (original, changes) => {
        const changed = mutated(encodeMessage(original), changes)
        const result = code(() => expect(toHex(encodeMessage(parseMessage(changed)))).toBe(toHex(changed)))
        expect(['accepted', 'vote-malformed']).toContain(result)
      }),
      { numRuns: 1000 },
    )
  })

  it('fit their topics and the sign state with a hundred validators', () => {
    const voters = new Voters(100, 7)
    const block = fakeHeader(7, 'a')
    const prevotes = (count: number) =>
      [...voters.keys.keys()].slice(0, count).map((place) => voters.prevote(place, 0, block.hash))
    const proposalSize = (count: number) => encodeMessage(voters.proposal(1, block, prevotes(count))).length
    // A quorum, as an honest sponsor sends it, and all of them.
    expect([proposalSize(quorum(100)), proposalSize(100)]).toEqual([6_788, 9_989])
    expect(proposalSize(100)).toBeLessThan(Math.min(proposalTopic.topic.size, maxMessageSize))
    const votes = [voters.precommit(0, 0, block), voters.prevote(0, 0, block.hash), voters.nilPrecommit(0, 0)]
    expect(votes.map((vote) => encodeMessage(vote).length)).toEqual([317, 138, 106])
    expect(voteTopic.topic.size).toBeGreaterThanOrEqual(317)
  })

  it('have a view below 2^31, a known kind and at most 100 prevotes', () => {
    const voters = new Voters(101, 7)
    const block = fakeHeader(7, 'a')
    const prevotes = [...voters.keys.keys()].map((place) => voters.prevote(place, 0, block.hash))
    const proof = (count: number) =>
      encodeMessage({ kind: 'proof', height: 7, view: 0, header: block, prevotes: prevotes.slice(0, count) })
    expect(code(() => parseMessage(proof(100)))).toBe('accepted')
    expect(code(() => parseMessage(proof(101)))).toBe('vote-malformed')
    for (const at of [maxView, maxView + 1]) {
      const expected = at === maxView ? 'accepted' : 'vote-malformed'
      for (const one of [
        voters.prevote(0, at, undefined),
        voters.nilPrecommit(0, at),
        voters.precommit(0, at, block),
        voters.proposal(at, block),
      ]) {
        expect(code(() => parseMessage(encodeMessage(one)))).toBe(expected)
      }
    }
    const prevote = encodeMessage(voters.prevote(0, 0, undefined))
    for (const kind of [0, 6, 255])
      expect(code(() => parseMessage(Uint8Array.of(kind, ...prevote.subarray(1))))).toBe('vote-malformed')
    const proposed = encodeMessage(voters.proposal(0, block))
    expect(code(() => parseMessage(Uint8Array.of(1, 0xfe, 0xff, 0xff, 0xff, ...proposed.subarray(5))))).toBe(
      'vote-malformed',
    )
  })

  it('of a vote are as long as the page says', () => {
    const voters = new Voters(4, 7)
    const block = fakeHeader(7, 'a')
    expect(encodeMessage(voters.prevote(0, 0, block.hash))).toHaveLength(138)
    expect(encodeMessage(voters.precommit(0, 0, block))).toHaveLength(317)
    expect(encodeMessage(voters.nilPrecommit(0, 0))).toHaveLength(106)
    expect(encodeMessage(voters.proposal(0, block))).toHaveLength(289)
    const prevotes = [0, 1, 2].map((place) => voters.prevote(place, 0, block.hash))
    expect(encodeMessage(voters.proposal(1, block, prevotes))).toHaveLength(289 + 3 * 97)
    expect(encodeMessage({ kind: 'proof', height: 7, view: 0, header: block, prevotes })).toHaveLength(90 + 3 * 97)
  })
})

describe('what an author signs', () => {
  const voters = new Voters(4, 0x01020304)
  const block = fakeHeader(0x01020304, 'a')
  const genesis = fakeHeader(0, 'genesis').hash
  const key = (place: number) => toHex(voters.key(place))
  const tag = (text: string) => `${Buffer.from(text, 'ascii').toString('hex')}00${toHex(genesis)}04030201`

  it('is, of a proposal, tag, genesis, height, view, block, validView and sponsor', () => {
    const sponsor = key(voters.sponsorOf(5))
    const start = `${tag('didledger/proposal/1')}05000000${toHex(block.hash)}`
    expect(toHex(preimage(voters.proposal(5, block), genesis))).toBe(`${start}ffffffff${sponsor}`)
    const prevotes = [voters.prevote(0, 3, block.hash)]
    expect(toHex(preimage(voters.proposal(5, block, prevotes), genesis))).toBe(`${start}03000000${sponsor}`)
  })

  it('is, of a prevote, tag, genesis, height, view, block or zeros, and signer', () => {
    const start = `${tag('didledger/prevote/1')}07000000`
    expect(toHex(preimage(voters.prevote(2, 7, block.hash), genesis))).toBe(`${start}${toHex(block.hash)}${key(2)}`)
    expect(toHex(preimage(voters.prevote(2, 7, undefined), genesis))).toBe(`${start}${'00'.repeat(32)}${key(2)}`)
  })

  it('is, of a precommit for none, tag, genesis, height, view and signer', () => {
    expect(toHex(preimage(voters.nilPrecommit(1, 9), genesis))).toBe(
      `${tag('didledger/precommit-nil/1')}09000000${key(1)}`,
    )
  })

  it('is, of a precommit for a block, the vote of the family that accepts', () => {
    const { proposal: named } = voters.proposal(2, block)
    const unsigned = `21${toHex(named.sponsor)}${toHex(block.hash)}02000000`
    const expected = `${toHex(sha256d(Buffer.from(unsigned, 'hex')))}21${key(3)}01`
    expect(toHex(preimage(voters.precommit(3, 2, block), genesis))).toBe(expected)
  })
})

describe('two messages of one signer, view and step', () => {
  const voters = new Voters(4, 7)
  const [a, b] = [fakeHeader(7, 'a'), fakeHeader(7, 'b')]

  it('say the same when block and validView are equal, whatever their signatures', () => {
    expect(sameValue({ ...voters.prevote(0, 0, a.hash), signature: zeroHash }, voters.prevote(0, 0, a.hash))).toBe(true)
    expect(sameValue(voters.prevote(0, 0, a.hash), voters.prevote(0, 0, b.hash))).toBe(false)
    expect(sameValue(voters.prevote(0, 0, a.hash), voters.prevote(0, 0, undefined))).toBe(false)
    expect(sameValue(voters.precommit(0, 0, a), voters.nilPrecommit(0, 0))).toBe(false)
    expect(sameValue(voters.nilPrecommit(0, 0), voters.nilPrecommit(0, 0))).toBe(true)
    expect(sameValue(voters.proposal(2, a), voters.proposal(2, a))).toBe(true)
    expect(sameValue(voters.proposal(2, a), voters.proposal(2, a, [voters.prevote(0, 1, a.hash)]))).toBe(false)
  })
})

describe('a confirm', () => {
  it('has its votes in the order of their keys, however they came', () => {
    const voters = new Voters(4, 7)
    const precommits = [0, 1, 2, 3].map((place) => voters.precommit(place, 0, fakeHeader(7, 'a')))
    const ascending = voters.keys.toSorted(compareBytes).map(toHex)
    for (const order of [precommits, precommits.toReversed()]) {
      expect(confirmOf(order).votes.map(({ signer }) => toHex(signer))).toEqual(ascending)
    }
  })
})
