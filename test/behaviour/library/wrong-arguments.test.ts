import { describe, expect, it } from 'vitest'
import { Block, didFromPublicKey, RuleError, Transaction, verifyDocument, verifyOperation } from '../../../src/index.js'
import { testPublicKey } from '../../support/builders/spec.js'

/** What callers without a type checker hand over. */
const nothings = [undefined, ...JSON.parse('[null, 5, {}, []]')]

describe('the library with arguments of the wrong type', () => {
  it.each(nothings)('throws a rule, not an accident, for bytes: %j', (argument) => {
    expect(() => Transaction.fromHex(argument)).toThrow(RuleError)
    expect(() => Block.fromHex(argument)).toThrow(RuleError)
  })

  it.each(nothings)('answers with a reason of its own for operations and documents: %j', (argument) => {
    for (const verdict of [
      verifyOperation(argument, undefined, { method: 'ledger' }),
      verifyDocument(argument, { method: 'ledger' }),
    ]) {
      expect(verdict.valid).toBe(false)
      expect(verdict.reason).not.toMatch(/Cannot read|undefined \(/)
    }
  })

  it('refuses a method that no DID can have', () => {
    expect(() => didFromPublicKey(testPublicKey(0), { method: 'a b' })).toThrow('method')
    expect(didFromPublicKey(testPublicKey(0), { method: 'ledger' })).toMatch(/^did:ledger:i/)
  })
})
