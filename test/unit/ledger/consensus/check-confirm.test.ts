import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkConfirm, proposerAt } from '../../../../src/ledger/consensus/check-confirm.js'
import { holds } from '../../../../src/base/crypto/verify.js'
import { soloAuxPow } from '../../../../src/base/primitives/auxpow.js'
import { Block } from '../../../../src/base/primitives/block.js'
import type { Confirm } from '../../../../src/base/primitives/confirm.js'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Header } from '../../../../src/base/primitives/header.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { u32 } from '../../../support/builders/arbitraries.js'
import { craftConfirm } from '../../../support/builders/blocks.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { testPublicKey, testSpec } from '../../../support/builders/spec.js'

const hexKey = (person: number) => Buffer.from(testPublicKey(person)).toString('hex')
const specOf = (count: number) =>
  parseSpec(testSpec({ validators: Array.from({ length: count }, (_, person) => hexKey(person)) }))

function blockAt(height: number): Block {
  const fields = { version: 0, previous: zeroHash, merkleRoot: zeroHash, time: 1, bits: 0x207fffff, nonce: 0 }
  const header = new Header({ ...fields, height })
  return new Block(header, soloAuxPow(header.hash, 1), [])
}

describe('the sponsor', () => {
  it('takes turns with height and view', () => {
    const spec = specOf(4)
    fc.assert(
      fc.property(u32, u32, (height, view) => {
        const turn = Number((BigInt(height) + BigInt(view)) % 4n)
        expect(Buffer.from(proposerAt(spec, height, view))).toEqual(Buffer.from(testPublicKey(turn)))
      }),
    )
  })
})

describe('a confirm', () => {
  const persons = (count: number) => Array.from({ length: count }, (_, person) => person)

  it('needs two thirds and one more, of any validators and in any order, in any view', () => {
    for (const [count, quorum] of [
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 3],
      [5, 4],
      [7, 5],
    ] as const) {
      const spec = specOf(count)
      const block = blockAt(9)
      const check = (voters: readonly number[], view = 0) =>
        codeOf(() => checkConfirm(spec, block.header, craftConfirm(spec, block, { voters, view })))
      expect(check(persons(quorum))).toBe(undefined)
      expect(check(persons(count).slice(-quorum).reverse(), 5)).toBe(undefined)
      expect(check(persons(count))).toBe(undefined)
      expect(check(persons(quorum - 1))).toBe('confirm-quorum')
      expect(check([...persons(quorum - 1), count])).toBe('confirm-signer')
      if (quorum > 1) expect(check([...persons(quorum - 1), 0])).toBe('confirm-signer')
      expect(check([...persons(count), 0])).toBe('confirm-signer')
    }
  })

  it('has votes that accept its proposal, and no other', () => {
    const spec = specOf(4)
    const block = blockAt(3)
    const confirm = craftConfirm(spec, block, { voters: [0, 1, 2] })
    const [first, ...rest] = confirm.votes as [Confirm['votes'][number], ...Confirm['votes']]
    const check = (vote: Partial<typeof first>, proposal = {}) => {
      const changed = { proposal: { ...confirm.proposal, ...proposal }, votes: [...rest, { ...first, ...vote }] }
      return codeOf(() => checkConfirm(spec, block.header, changed))
    }
    expect(check({})).toBe(undefined)
    expect(check({ accept: false })).toBe('confirm-vote')
    expect(check({ proposalHash: new Uint8Array(32) })).toBe('confirm-vote')
    expect(check({}, { blockHash: new Uint8Array(32) })).toBe('confirm-block')
    expect(codeOf(() => checkConfirm(spec, block.header, craftConfirm(spec, block, { view: 1, sponsor: 3 })))).toBe(
      'confirm-sponsor',
    )
  })

  it('returns one check for the proposal and one for every vote, which hold', () => {
    const spec = specOf(4)
    const block = blockAt(3)
    const checks = checkConfirm(spec, block.header, craftConfirm(spec, block, { voters: [3, 1, 0] }))
    expect(checks).toHaveLength(4)
    expect(checks.every(holds)).toBe(true)
    expect(new Set(checks.map(({ code }) => code))).toEqual(new Set(['confirm-signature']))
  })

  it('is by the validators of its height', () => {
    const upgrades = [{ height: 5, name: 'one', parameters: { validators: [hexKey(2)] } }]
    const spec = parseSpec(testSpec({ upgrades }))
    const before = blockAt(4)
    const after = blockAt(5)
    expect(codeOf(() => checkConfirm(spec, before.header, craftConfirm(spec, before)))).toBe(undefined)
    const alone = craftConfirm(spec, after, { sponsor: 2, voters: [2] })
    expect(codeOf(() => checkConfirm(spec, after.header, alone))).toBe(undefined)
    const old = craftConfirm(spec, after, { sponsor: 2, voters: [0, 1, 2] })
    expect(codeOf(() => checkConfirm(spec, after.header, old))).toBe('confirm-signer')
    const sponsor = craftConfirm(spec, after, { sponsor: 1, voters: [2] })
    expect(codeOf(() => checkConfirm(spec, after.header, sponsor))).toBe('confirm-sponsor')
  })
})
