import { describe, expect, it } from 'vitest'
import {
  checkCommitment,
  checkDidRoot,
  commitmentAttribute,
  namesNextValidators,
} from '../../../../src/ledger/consensus/commitment.js'
import { concat, fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { validatorsHash } from '../../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { coinbaseInput } from '../../../../src/base/primitives/input.js'
import { attributeUsage, Transaction } from '../../../../src/base/primitives/transaction.js'
import type { Attribute } from '../../../../src/base/primitives/transaction-fields.js'
import { withoutValidators } from '../../../support/builders/chain.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { testPublicKey, testSpec } from '../../../support/builders/spec.js'

const root = new Uint8Array(32).fill(5)
// Commitments without a root of all DIDs: test/vectors/proofs.test.ts has those with one.
const work = parseSpec(testSpec({ ...withoutValidators, didRoot: undefined }))
const confirmed = parseSpec(testSpec({ didRoot: undefined }))

function coinbase(...attributes: Attribute[]): Transaction {
  const payload = { type: 0, data: new Uint8Array(0) } as const
  const fields = { version: 0, payloadVersion: 4, payload, outputs: [], lockTime: 1, programs: [] }
  return new Transaction({ ...fields, inputs: [coinbaseInput], attributes })
}

const memo = (...parts: Uint8Array[]): Attribute => ({ usage: attributeUsage.memo, data: concat(...parts) })
const magic = fromUtf8('LDG1')
const entry = (tag: number, hash: Uint8Array) => concat(Uint8Array.of(tag), hash)
const codeFor = (spec: typeof work, ...attributes: Attribute[]) =>
  codeOf(() => checkCommitment(spec, 1, coinbase(...attributes), root))
const names = (spec: typeof work, attribute: Attribute) => namesNextValidators(spec, 1, coinbase(attribute))

describe('the commitment of a coinbase', () => {
  it('is the witness root, and the validators of the next height where there are any', () => {
    expect(commitmentAttribute(work, 1, { witnessRoot: root })).toEqual(memo(magic, entry(1, root)))
    const keys = sha256(concat(...[0, 1, 2, 3].map(testPublicKey)))
    expect(commitmentAttribute(confirmed, 1, { witnessRoot: root })).toEqual(
      memo(magic, entry(1, root), entry(3, keys)),
    )
    expect(codeFor(work, commitmentAttribute(work, 1, { witnessRoot: root }))).toBe(undefined)
    expect(codeFor(confirmed, commitmentAttribute(confirmed, 1, { witnessRoot: root }))).toBe(undefined)
  })

  it('has the root of all DIDs where the rules of the height ask for one', () => {
    const asking = parseSpec(testSpec(withoutValidators))
    const other = new Uint8Array(32).fill(6)
    const code = (spec: typeof work, didRoot?: Uint8Array) => {
      const named = commitmentAttribute(asking, 1, { witnessRoot: root, didRoot })
      return codeOf(() => checkDidRoot(spec, 1, coinbase(named), other))
    }
    expect(code(asking, other)).toBe(undefined)
    expect(code(asking, root)).toBe('coinbase-did-root')
    expect(code(asking)).toBe('coinbase-did-root')
    expect(code(work)).toBe(undefined)
    expect(codeFor(asking, commitmentAttribute(work, 1, { witnessRoot: root }))).toBe('coinbase-commitment')
  })

  it('names the validators of the height after its own', () => {
    const keys = [1, 2, 3].map((person) => Buffer.from(testPublicKey(person)).toString('hex'))
    const changing = parseSpec(
      testSpec({ didRoot: undefined, upgrades: [{ height: 2, name: 'fewer', parameters: { validators: keys } }] }),
    )
    expect(names(changing, commitmentAttribute(changing, 1, { witnessRoot: root }))).toBe(true)
    expect(names(changing, commitmentAttribute(confirmed, 1, { witnessRoot: root }))).toBe(false)
    // The body is whole all the same.
    expect(codeFor(changing, commitmentAttribute(confirmed, 1, { witnessRoot: root }))).toBe(undefined)
    expect(names(work, commitmentAttribute(work, 1, { witnessRoot: root }))).toBe(true)
    expect(commitmentAttribute(changing, 0, { witnessRoot: root })).toEqual(
      commitmentAttribute(confirmed, 0, { witnessRoot: root }),
    )
  })

  it('stands there exactly once, among any others', () => {
    const own = commitmentAttribute(work, 1, { witnessRoot: root })
    expect(codeFor(work)).toBe('coinbase-commitment')
    expect(codeFor(work, own, own)).toBe('coinbase-commitment')
    const free = [memo(fromUtf8('hello')), memo(fromUtf8('LDG')), { usage: attributeUsage.nonce, data: magic }]
    expect(codeFor(work, ...free, own)).toBe(undefined)
    expect(codeFor(work, { ...own, usage: attributeUsage.description })).toBe('coinbase-commitment')
  })

  it('has exactly the entries that the spec asks, in ascending order, and nothing after them', () => {
    const witness = entry(1, root)
    for (const parts of [
      [],
      [entry(2, root)],
      [witness, entry(2, root)],
      [witness, entry(3, root)],
      [entry(0, root), witness],
      [witness, witness],
      [witness, Uint8Array.of(0)],
      [witness.subarray(0, 32)],
    ]) {
      expect(codeFor(work, memo(magic, ...parts))).toBe('coinbase-commitment')
    }
    const keys = sha256(concat(...[0, 1, 2, 3].map(testPublicKey)))
    expect(codeFor(confirmed, memo(magic, witness))).toBe('coinbase-commitment')
    expect(codeFor(confirmed, memo(magic, entry(3, keys), witness))).toBe('coinbase-commitment')
  })

  it('has the right hashes', () => {
    expect(codeFor(work, memo(magic, entry(1, new Uint8Array(32))))).toBe('coinbase-witness-root')
    expect(codeFor(confirmed, memo(magic, entry(1, new Uint8Array(32)), entry(3, root)))).toBe('coinbase-witness-root')
    expect(names(confirmed, memo(magic, entry(1, root), entry(3, root)))).toBe(false)
    expect(names(confirmed, memo(magic, entry(1, root), entry(1, validatorsHash(confirmed, 2))))).toBe(false)
  })
})
