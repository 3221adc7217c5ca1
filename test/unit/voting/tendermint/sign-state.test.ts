import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, toHex } from '../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import type { ProvenBlock } from '../../../../src/voting/tendermint/machine-events.js'
import {
  encodeMessage,
  type SignedMessage,
  type Step,
  steps,
  viewOf,
} from '../../../../src/voting/tendermint/message.js'
import {
  encodeSignState,
  freshSignState,
  parseSignState,
  restoredAt,
  signRuling,
  type SignState,
  SignStateError,
  withSigned,
} from '../../../../src/voting/tendermint/sign-state.js'
import { mutated, mutation } from '../../../support/builders/arbitraries.js'
import { plainForm } from '../../../support/assert/plain-form.js'
import { fakeHeader, Voters } from '../../../support/builders/votes.js'

const height = 9
const voters = new Voters(4, height)
const owner = { genesis: fakeHeader(0, 'genesis').hash, publicKey: voters.key(0) }
const block = fakeHeader(height, 'a')
const none = { locked: undefined, valid: undefined }

const proven: fc.Arbitrary<ProvenBlock | undefined> = fc.option(
  fc.tuple(fc.nat({ max: 50 }), fc.nat({ max: 4 })).map(([view, count]) => ({
    header: block,
    view,
    prevotes: [...voters.keys.keys()].slice(0, count).map((place) => voters.prevote(place, view, block.hash)),
  })),
  { nil: undefined },
)

const message: fc.Arbitrary<SignedMessage> = fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 50 })).map(([kind, view]) => {
  if (kind === 0) return voters.proposal(view, block, view > 0 ? [voters.prevote(1, view - 1, block.hash)] : [])
  if (kind === 1) return voters.prevote(0, view, block.hash)
  return kind === 2 ? voters.precommit(0, view, block) : voters.nilPrecommit(0, view)
})

const state: fc.Arbitrary<SignState> = fc.record({
  height: fc.nat({ max: 0xffffffff }),
  view: fc.integer({ min: -1, max: 0x7fffffff }),
  step: fc.constantFrom(...steps),
  locked: proven,
  valid: proven,
  messages: fc.array(message, { maxLength: 5 }),
})

describe('the bytes of a sign state', () => {
  it('come back as the same state', () => {
    fc.assert(
      fc.property(state, (original) => {
        expect(plainForm(parseSignState(encodeSignState(original, owner), owner))).toEqual(plainForm(original))
      }),
      { numRuns: 1000 },
    )
  })

  it('are refused when anything about them is changed', () => {
    fc.assert(
      fc.property(state, mutation, (original, changes) => {
        const bytes = encodeSignState(original, owner)
        const changed = mutated(bytes, changes)
        fc.pre(toHex(changed) !== toHex(bytes))
        expect(() => parseSignState(changed, owner)).toThrow(SignStateError)
      }),
      { numRuns: 1000 },
    )
  })

  it('are refused at every other length, also with a checksum that fits', () => {
    const bytes = encodeSignState(withSigned(freshSignState(height), voters.precommit(0, 1, block), none), owner)
    const body = bytes.subarray(0, -32)
    expect(parseSignState(concat(body, sha256(body)), owner).view).toBe(1)
    for (let length = 0; length < body.length; length++) {
      const short = body.subarray(0, length)
      expect(() => parseSignState(bytes.subarray(0, length), owner)).toThrow(SignStateError)
      expect(() => parseSignState(concat(short, sha256(short)), owner)).toThrow(SignStateError)
    }
    const long = concat(body, Uint8Array.of(0))
    expect(() => parseSignState(concat(long, sha256(long)), owner)).toThrow('1 bytes follow the end')
  })

  it('belong to one key of one chain', () => {
    const bytes = encodeSignState(freshSignState(height), owner)
    expect(() => parseSignState(bytes, { ...owner, publicKey: voters.key(1) })).toThrow('another key')
    expect(() => parseSignState(bytes, { ...owner, genesis: block.hash })).toThrow('another chain')
  })
})

describe('what may be signed', () => {
  const steppers: Readonly<Record<Step, (view: number) => SignedMessage>> = {
    propose: (view) => voters.proposal(view, block),
    prevote: (view) => voters.prevote(0, view, undefined),
    precommit: (view) => voters.nilPrecommit(0, view),
  }

  it('is a later place than all before; the same one is answered with what was signed there', () => {
    const places = [0, 1, 2].flatMap((view) => steps.map((step) => ({ view, step })))
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...places), { maxLength: 12 }), (asked) => {
        let held = freshSignState(height)
        let last = -1
        for (const place of asked) {
          const order = places.indexOf(place)
          const wanted = steppers[place.step](place.view)
          const ruling = signRuling(held, wanted)
          if (order > last) {
            expect(ruling).toEqual({ ruling: 'sign' })
            held = parseSignState(encodeSignState(withSigned(held, wanted, none), owner), owner)
            last = order
          } else if (ruling.ruling === 'stored') {
            expect(toHex(encodeMessage(ruling.message))).toBe(toHex(encodeMessage(wanted)))
          } else {
            expect(ruling.ruling).toBe('refused')
            expect(order).toBeLessThan(last)
          }
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('is answered with the stored bytes even when something else is asked for', () => {
    const held = withSigned(freshSignState(height), voters.prevote(0, 2, undefined), none)
    const ruling = signRuling(held, voters.prevote(0, 2, block.hash))
    expect(ruling.ruling === 'stored' && ruling.message.kind === 'prevote' && ruling.message.blockHash).toBe(undefined)
    expect(signRuling(held, voters.prevote(0, 1, block.hash))).toMatchObject({ ruling: 'refused' })
    expect(signRuling(held, voters.precommit(0, 2, block))).toEqual({ ruling: 'sign' })
  })

  it('is nothing of a lower height, and anything of a higher one', () => {
    const held = withSigned(freshSignState(height), voters.prevote(0, 2, undefined), none)
    for (const view of [0, 2, 5]) {
      const lower = new Voters(4, height - 1).prevote(0, view, undefined)
      expect(signRuling(held, lower)).toMatchObject({ ruling: 'refused' })
    }
    const next = new Voters(4, height + 1).prevote(0, 0, undefined)
    expect(signRuling(held, next)).toEqual({ ruling: 'sign' })
    const after = withSigned(held, next, none)
    expect([after.height, after.view, after.messages.length]).toEqual([height + 1, 0, 1])
    expect(signRuling(freshSignState(height + 1), steppers.precommit(50))).toMatchObject({ ruling: 'refused' })
  })

  it('is remembered with the lock, up to 512 messages', () => {
    const lock = { header: block, view: 0, prevotes: [0, 1, 2].map((place) => voters.prevote(place, 0, block.hash)) }
    let held = freshSignState(height)
    for (let view = 0; view < 600; view++) {
      held = withSigned(held, voters.prevote(0, view, undefined), { locked: lock, valid: lock })
    }
    const back = restoredAt(parseSignState(encodeSignState(held, owner), owner), height)
    expect(back).toMatchObject({ view: 599, step: 'prevote' })
    expect(back?.locked?.prevotes).toHaveLength(3)
    expect(back?.messages).toHaveLength(512)
    expect(back?.messages.map(viewOf).at(0)).toBe(88)
    expect(signRuling(held, voters.prevote(0, 3, undefined))).toMatchObject({ ruling: 'refused' })
  })

  it('begins anew at another height, and where nothing was signed', () => {
    expect(restoredAt(freshSignState(height), height)).toBeUndefined()
    const held = withSigned(freshSignState(height), voters.prevote(0, 2, undefined), none)
    expect(restoredAt(held, height + 1)).toBeUndefined()
    expect(restoredAt(held, height)).toBe(held)
  })
})
