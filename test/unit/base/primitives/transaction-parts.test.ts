import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import {
  operationPayloadOf,
  outputValueOf,
  payloadOf,
  typeIn,
} from '../../../../src/base/primitives/transaction-parts.js'
import { mutated, mutation, runs, transaction } from '../../../support/builders/arbitraries.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { plainForm } from '../../../support/assert/plain-form.js'

describe('parts of a transaction', () => {
  it('are those of the whole', () => {
    fc.assert(
      fc.property(transaction, (decoded) => {
        expect(plainForm(payloadOf(decoded.bytes))).toEqual(plainForm(decoded.payload))
        const { payload } = decoded
        expect(typeIn(decoded.bytes)).toBe(payload.type)
        if (payload.type !== 10) expect(codeOf(() => operationPayloadOf(decoded.bytes))).toBe('tx-malformed')
        else expect(Buffer.from(operationPayloadOf(decoded.bytes)).toString()).toBe(payload.operation.payload)
        if (decoded.outputs.some(({ extra }) => extra !== undefined && extra.payload.length > 0)) return
        decoded.outputs.forEach(({ value }, index) => expect(outputValueOf(decoded.bytes, index)).toBe(value))
        expect(outputValueOf(decoded.bytes, decoded.outputs.length)).toBe(undefined)
      }),
      runs,
    )
  })

  it('of any bytes are read or malformed', () => {
    fc.assert(
      fc.property(transaction, mutation, fc.nat(20), ({ bytes }, changes, index) => {
        const other = mutated(bytes, changes)
        expect([undefined, 'tx-malformed']).toContain(codeOf(() => outputValueOf(other, index)))
        expect([undefined, 'tx-malformed']).toContain(codeOf(() => operationPayloadOf(other)))
        const code = codeOf(() => payloadOf(other))
        expect([undefined, 'tx-malformed']).toContain(code)
        if (codeOf(() => Transaction.fromBytes(other)) === undefined) expect(code).toBe(undefined)
      }),
      runs,
    )
  })
})
