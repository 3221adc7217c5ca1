import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  canFollow,
  effectOf,
  formOfNumber,
  isAboutCredential,
  type OperationForm,
  operationForm,
  operationForms,
} from '../../../../src/base/primitives/did-operation.js'
import { stateAfter } from '../../../../src/identity/proofs/history.js'
import { credentialOrder, didOrder } from '../../../../src/identity/proofs/history-order.js'
import { ProofError, type ProofFailure } from '../../../../src/identity/proofs/proof-failure.js'

const forms: readonly OperationForm[] = Object.values(operationForms)

describe('the rows of operations', () => {
  it('have numbers of one byte, each of its own', () => {
    const numbers = forms.map(({ number }) => number)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(numbers.filter((number) => number < 1 || number > 255)).toEqual([])
    expect(forms.map(({ number }) => formOfNumber(number))).toEqual(forms)
    expect(formOfNumber(0)).toBe(undefined)
    expect(formOfNumber(Math.max(...numbers) + 1)).toBe(undefined)
  })

  it('follow each other: each can stand in a history, and nothing follows an end', () => {
    for (const form of forms) {
      const befores = [undefined, ...forms.filter(({ subject }) => subject === form.subject)]
      expect(befores.some((before) => canFollow(form, before))).toBe(true)
      expect(befores.filter((before) => before?.effect === 'end' && canFollow(form, before))).toEqual([])
    }
  })

  it('name the operation before only where there always is one', () => {
    const first = forms.filter((form) => canFollow(form, undefined))
    expect(first.filter(({ previousTxid }) => previousTxid)).toEqual([])
  })

  it('have names of their own: those of objects are none', () => {
    for (const operation of ['toString', '__proto__', '', 'Create']) {
      expect(operationForm({ operation })).toBe(undefined)
      expect(effectOf({ operation })).toBe(undefined)
      expect(isAboutCredential({ operation })).toBe(false)
    }
  })
})

function failureOf(run: () => void): ProofFailure | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof ProofError) return error.failure
    throw error
  }
}

/** Order of the operations of a DID, in other words: numbers by position. */
function isDidHistory(operations: readonly number[], count: number, state: number): boolean {
  const first = count - operations.length
  const ends = state === 2
  return operations.every((number, i) => {
    if (first + i === 0) return number === 1 && !(ends && i === operations.length - 1)
    return number === (ends && i === operations.length - 1 ? 3 : 2)
  })
}

test('operations of a DID stand in one order: created, updated, and perhaps deactivated at the end', () => {
  const number = fc.oneof({ weight: 3, arbitrary: fc.constant(2) }, fc.integer({ min: 0, max: 5 }))
  const history = fc.array(number, { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(history, fc.boolean(), fc.nat({ max: 2 }), (tail, created, left) => {
      const operations = created ? [1, ...tail] : tail
      const count = operations.length + (created ? 0 : left)
      const last = formOfNumber(operations.at(-1) ?? 0)
      const state = last === undefined ? 1 : stateAfter(last.number as Parameters<typeof stateAfter>[0])
      const failure = failureOf(() => didOrder({ state, count, operations }))
      expect(failure).toBe(isDidHistory(operations, count, state) ? undefined : 'history-order')
    }),
    { numRuns: 500 },
  )
})

test.each([
  [[4], 1, true],
  [[4, 5], 2, true],
  [[5], 1, true],
  [[], 0, false],
  [[5], 2, false],
  [[4, 4], 2, false],
  [[5, 4], 2, false],
  [[4, 5, 5], 3, false],
  [[1], 1, false],
  [[4, 2], 2, false],
  [[9], 1, false],
])('a DID said of a credential %j, of %d operations', (operations, count, holds) => {
  expect(failureOf(() => credentialOrder({ state: 1, count, operations }))).toBe(holds ? undefined : 'history-order')
})
