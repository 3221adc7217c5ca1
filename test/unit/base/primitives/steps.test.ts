import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Block } from '../../../../src/base/primitives/block.js'
import { toHex, utf8 } from '../../../../src/base/primitives/bytes.js'
import { utf8Steps } from '../../../../src/base/primitives/codec-steps.js'
import { prefixHashSteps, sha256d } from '../../../../src/base/primitives/hash.js'
import { finish } from '../../../../src/base/primitives/steps.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { runCooperatively } from '../../../../src/base/runtime/cooperative.js'
import { block, mutated, mutation, transaction } from '../../../support/builders/arbitraries.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { rounds } from '../../../support/process/thorough.js'

/** What decoding comes to: the bytes again, or the code of the refusal. */
async function outcome(decode: () => Promise<{ toHex(): string }> | { toHex(): string }): Promise<string> {
  try {
    return (await decode()).toHex()
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('what is done in steps', () => {
  it('decodes transactions and blocks as if done at once, whatever the bytes', async () => {
    const bytes = fc.oneof(transaction, block).chain((whole) => {
      return mutation.map((changes) => (changes.length % 3 === 0 ? whole.bytes : mutated(whole.bytes, changes)))
    })
    await fc.assert(
      fc.asyncProperty(bytes, async (any) => {
        for (const kind of [Transaction, Block]) {
          const atOnce = await outcome(() => kind.fromBytes(any))
          expect(await outcome(() => runCooperatively<Transaction | Block>(kind.fromBytesSteps(any)))).toBe(atOnce)
        }
        expect(codeOf(() => finish(Transaction.keptSteps(any)))).toBe(codeOf(() => Transaction.fromBytes(any)))
      }),
      { numRuns: rounds(150, 500) },
    )
  })

  it('hashes a transaction as if done at once', () => {
    const sizes = fc.integer({ min: 0, max: 3 * 1024 * 1024 })
    fc.assert(
      fc.property(sizes, fc.nat(1000), fc.nat(255), (size, part, seed) => {
        const data = Buffer.alloc(size, Buffer.of(seed, 7, 1))
        const length = Math.floor((size * part) / 1000)
        const { prefix, whole } = finish(prefixHashSteps(data, length))
        expect([toHex(prefix), toHex(whole)]).toEqual(
          [data.subarray(0, length), data].map((each) => toHex(sha256d(each))),
        )
      }),
      { numRuns: rounds(50, 50) },
    )
    fc.assert(
      fc.property(transaction, (tx) => {
        const decoded = Transaction.fromBytes(tx.bytes)
        finish(decoded.hashSteps())
        expect([toHex(decoded.hash), toHex(decoded.digest)]).toEqual(
          [tx.unsigned, tx.bytes].map((b) => toHex(sha256d(b))),
        )
      }),
      { numRuns: rounds(300, 300) },
    )
  })

  it('reads long text as if read at once, valid or not', () => {
    const piece = 256 * 1024
    const text = fc.array(fc.constantFrom('a', 'é', '語', '😀', '\ufeff'), { minLength: 1, maxLength: 8 })
    const broken = fc.option(fc.record({ at: fc.integer({ min: -5, max: 5 }), byte: fc.nat(255) }), { nil: undefined })
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 12 }), broken, (letters, shift, change) => {
        const repeated =
          'x'.repeat(shift) + letters.join('').repeat(Math.ceil((2.1 * piece) / letters.join('').length / 2))
        const bytes = Buffer.from(repeated)
        if (change !== undefined) bytes[piece + change.at] = change.byte
        expect(finish(utf8Steps(bytes)) === utf8(bytes)).toBe(true)
      }),
      { numRuns: rounds(200, 200) },
    )
  })
})
