import { describe, expect, it } from 'vitest'
import { Block, didFromPublicKey, RuleError, Transaction } from '../../../src/index.js'
import {
  canonicalCredential,
  canonicalDocument,
  type MethodOptions,
  verifyCredential,
  verifyDocument,
  verifyOperation,
} from '../../../src/node/library/verify-documents.js'
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

  it.each<[unknown, string]>([
    [undefined, 'the verification needs an object with method, '],
    [{}, 'method of the verification: a text is needed'],
    [{ method: 'ledger', controler: [] }, 'controler is no option of the verification; there are method, controllers'],
    [{ method: 'ledger', controllers: '{}' }, 'controllers of the verification: a list is needed'],
  ])('answers with the option that is wrong: %j', (options, words) => {
    const wrong = options as MethodOptions
    for (const { valid, reason } of [verifyDocument('{}', wrong), verifyCredential('{}', '{}', wrong)]) {
      expect({ valid, reason }).toEqual({ valid: false, reason: expect.stringContaining(words) as string })
    }
    expect(() => canonicalDocument('{}', wrong)).toThrow(words)
    expect(() => canonicalCredential('{}', wrong)).toThrow(words)
  })

  it('knows the old form of operations alone', () => {
    const options = { method: 'ledger', legacy: true }
    expect(verifyDocument('{}', options).reason).toContain('legacy is no option')
    expect(verifyOperation('{}', undefined, options).reason).not.toContain('legacy')
    expect(verifyOperation('{}', undefined, { ...options, legacy: 1 } as never).reason).toContain('true or false')
  })

  it('refuses a method that no DID can have', () => {
    expect(() => didFromPublicKey(testPublicKey(0), { method: 'a b' })).toThrow('method')
    expect(didFromPublicKey(testPublicKey(0), { method: 'ledger' })).toMatch(/^did:ledger:i/)
  })
})
