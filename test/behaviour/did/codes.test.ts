import { describe, expect, it } from 'vitest'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { codes } from '../../../src/node/library/codes.js'
import { didRules } from '../../rules/did.js'

describe('the rules of the DID layer', () => {
  it.each(didRules.map((row) => [row.code, row] as const))('%s: accepted and refused', async (code, row) => {
    await row.accepts()
    const refusal: unknown = await Promise.resolve()
      .then(() => row.refuses())
      .then(
        () => undefined,
        (error: unknown) => error,
      )
    expect(refusal).toBeInstanceOf(RuleError)
    expect((refusal as RuleError).code).toBe(code)
    expect((refusal as RuleError).message).not.toBe('')
  })

  it('have a row for every code', () => {
    const ofThisLayer = Object.keys(codes).filter((code) => /^(json|did|document|credential)-/.test(code))
    expect([...new Set(didRules.map((row) => row.code))].sort()).toEqual(ofThisLayer.sort())
  })
})
