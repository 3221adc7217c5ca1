import { describe, expect, it } from 'vitest'
import { concat, joined, toHex } from '../../../../src/base/primitives/bytes.js'
import { attributeUsage } from '../../../../src/base/primitives/transaction-fields.js'
import { coinbaseAttributes, commitmentsIn } from '../../../../src/identity/proofs/anchor-coinbase.js'
import { encodeCommitments } from '../../../../src/identity/proofs/commitment.js'
import { failureOf } from '../../../support/builders/light-world.js'

const height = 7
const hashes = new Map([1, 2, 3].map((tag) => [tag, new Uint8Array(32).fill(tag)]))
const data = encodeCommitments(hashes)
const memo = { usage: attributeUsage.memo, data }
const outcome = (check: () => unknown) => failureOf(Promise.resolve().then(check))

/** The unsigned part of a coinbase of version 0 or 9 with two outputs, in parts. */
const partsOf = (isTyped: boolean): [string, Uint8Array][] => {
  const output: [string, Uint8Array][] = [
    ['output', new Uint8Array(65)],
    ...(isTyped ? [['output type', Uint8Array.of(0)] as [string, Uint8Array]] : []),
  ]
  return [
    ...(isTyped ? [['version', Uint8Array.of(9)] as [string, Uint8Array]] : []),
    ['type', Uint8Array.of(0)],
    ['payload version', Uint8Array.of(4)],
    ['payload', Uint8Array.of(2, 1, 1)],
    ['attributes', concat(Uint8Array.of(1, memo.usage, data.length), data)],
    ['number of inputs', Uint8Array.of(1)],
    ['spent output', new Uint8Array(32)],
    ['index', Uint8Array.of(0xff, 0xff)],
    ['sequence', joined(0xffffffff)],
    ['number of outputs', Uint8Array.of(2)],
    ...output,
    ...output,
    ['lockTime', joined(height)],
  ]
}

const read = (parts: readonly [string, Uint8Array][], at = height) =>
  outcome(() => coinbaseAttributes(concat(...parts.map(([, bytes]) => bytes)), at))

describe.each([
  ['0', partsOf(false)],
  ['9', partsOf(true)],
])('a coinbase of version %s', (_, parts) => {
  it('is read by its attributes', async () => {
    expect(await read(parts)).toEqual([memo])
    expect(await read(parts, height + 1)).toBe('anchor-coinbase')
  })

  it('is refused with another byte in any part that has one value', async () => {
    const fixed = parts.filter(([name]) => !['payload', 'attributes', 'output'].includes(name))
    for (const part of fixed) {
      for (let at = 0; at < part[1].length; at++) {
        const changed = part[1].map((byte, i) => (i === at ? byte ^ 1 : byte))
        const others = parts.map((one): [string, Uint8Array] => (one === part ? [one[0], changed] : one))
        expect(await read(others), part[0]).toBe('anchor-coinbase')
      }
    }
  })
})

describe('the commitments of a coinbase', () => {
  const given = [...hashes].map(([tag, hash]) => `${tag} ${toHex(hash)}`)
  const of = (...all: readonly Uint8Array[]) => at(288, ...all)
  const at = (height: number, ...all: readonly Uint8Array[]) =>
    outcome(() => {
      const attributes = all.map((one) => ({ ...memo, data: one }))
      return [...commitmentsIn(attributes, { hasValidators: true, height })].map(
        ([tag, hash]) => `${tag} ${toHex(hash)}`,
      )
    })

  it('are all that is asked', async () => {
    expect(await of(data)).toEqual(given)
    expect(await of(Uint8Array.of(1), data)).toEqual(given)
  })

  it('may have coins of 288 blocks before', async () => {
    const coins = new Uint8Array(32)
    const committing = encodeCommitments(new Map([...hashes, [4, coins]]))
    expect(await at(288, committing)).toEqual([...given, `4 ${toHex(coins)}`])
    expect(await at(287, committing)).toBe('anchor-commitment')
  })

  it.each<[string, readonly Uint8Array[]]>([
    ['none', [Uint8Array.of(1)]],
    ['two', [data, data]],
    ['a byte more', [concat(data, Uint8Array.of(0))]],
    ['a tag twice', [concat(data, data.subarray(-33))]],
    ['a tag more', [encodeCommitments(new Map([...hashes, [5, new Uint8Array(32)]]))]],
    ['a tag less', [encodeCommitments(new Map([...hashes].slice(0, 2)))]],
  ])('are refused where there are %s', async (_, all) => {
    expect(await of(...all)).toBe('anchor-commitment')
  })
})
