import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, equalBytes, toHex } from '../../../../src/base/primitives/bytes.js'
import {
  type Confirm,
  confirmBytes,
  parseConfirm,
  proposalHash,
  proposalUnsigned,
  type Vote,
} from '../../../../src/base/primitives/confirm.js'
import { sha256d, zeroHash } from '../../../../src/base/primitives/hash.js'
import { confirm, mutated, mutation, proposal, runs } from '../../../support/builders/arbitraries.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { plainForm } from '../../../support/assert/plain-form.js'
import { rounds } from '../../../support/process/thorough.js'

const key = new Uint8Array(33).fill(2)
const signature = new Uint8Array(64)
const vote: Vote = { proposalHash: zeroHash, signer: key, accept: true, signature }
const withVotes = (count: number): Confirm => ({
  proposal: { sponsor: key, blockHash: zeroHash, viewOffset: 0, signature },
  votes: Array.from({ length: count }, () => vote),
})

describe('the confirm codec', () => {
  it('decodes what it encoded and refuses every truncation and anything after it', () => {
    fc.assert(
      fc.property(confirm, (value) => {
        const written = confirmBytes(value)
        expect(plainForm(parseConfirm(written))).toEqual(plainForm(value))
        expect(written).toHaveLength(135 + 8 + 132 * value.votes.length)
        for (let length = 0; length < written.length; length++) {
          if (codeOf(() => parseConfirm(written.subarray(0, length))) !== 'confirm-malformed') return false
        }
        return codeOf(() => parseConfirm(concat(written, Uint8Array.of(0)))) === 'confirm-malformed'
      }),
      runs,
    )
  })

  it('answers damage with confirm-malformed, or with a confirm of exactly those bytes', () => {
    fc.assert(
      fc.property(confirm, mutation, (value, changes) => {
        const bytes = mutated(confirmBytes(value), changes)
        let decoded: Confirm | undefined
        const code = codeOf(() => (decoded = parseConfirm(bytes)))
        return decoded === undefined ? code === 'confirm-malformed' : equalBytes(confirmBytes(decoded), bytes)
      }),
      { numRuns: rounds(300, 3000) },
    )
  })

  it('bounds the votes before it reads one', () => {
    expect(parseConfirm(confirmBytes(withVotes(100))).votes).toHaveLength(100)
    expect(codeOf(() => parseConfirm(confirmBytes(withVotes(101))))).toBe('confirm-malformed')
    const bytes = Uint8Array.from(confirmBytes(withVotes(0)))
    bytes.fill(0xff, 135, 143)
    expect(codeOf(() => parseConfirm(bytes))).toBe('confirm-malformed')
  })

  it('takes 0 and 1 for accept, and nothing else', () => {
    const bytes = Uint8Array.from(confirmBytes(withVotes(1)))
    const at = 135 + 8 + 32 + 34
    expect(bytes[at]).toBe(1)
    bytes[at] = 0
    expect(parseConfirm(bytes).votes[0]?.accept).toBe(false)
    bytes[at] = 2
    expect(codeOf(() => parseConfirm(bytes))).toBe('confirm-malformed')
  })
})

describe('proposal hashes', () => {
  it('cover the view and leave the signature out', () => {
    fc.assert(
      fc.property(proposal, (value) => {
        expect(toHex(proposalHash(value))).toBe(toHex(sha256d(proposalUnsigned(value))))
        expect(toHex(proposalHash({ ...value, signature: value.sponsor } as typeof value))).toBe(
          toHex(proposalHash(value)),
        )
        const later = { ...value, viewOffset: (value.viewOffset + 1) % 2 ** 32 }
        expect(toHex(proposalHash(later))).not.toBe(toHex(proposalHash(value)))
      }),
      runs,
    )
  })
})
