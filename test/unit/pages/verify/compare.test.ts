import { describe, expect, it } from 'vitest'
import type { LightCredential, LightResult } from '../../../../src/light/proved.js'
import type { CredentialState, DidTransaction, Resolution } from '../../../../src/pages/ask/shapes.js'
import { compareCredential, compareDid } from '../../../../src/pages/verify/compare.js'

const transaction = (number: number, changes: { timestamp?: string; payload?: string } = {}): DidTransaction => ({
  txid: `tx${number}`,
  timestamp: changes.timestamp ?? `2026-01-0${number}T00:00:00Z`,
  operation: {
    header: { specification: 'ledger/did/1.0', operation: number === 1 ? 'create' : 'update' },
    payload: changes.payload ?? `document ${number}`,
    proof: { verificationMethod: '#primary', signature: '' },
  },
})

/** Three operations at heights 1 to 3, of which `proved` were proved. */
function proved(count: number, changes: Partial<LightResult> = {}): LightResult {
  const numbers = Array.from({ length: count }, (_, i) => i + 1)
  const entries = numbers.map((number) => ({ txid: `tx${number}`, height: number, time: number }))
  return {
    did: 'did:ledger:x',
    status: 0,
    transaction: numbers.reverse().map((number) => transaction(number)),
    proved: { height: count, hash: '', time: 0, age: 0, servers: [], history: { count, entries } },
    ...changes,
  }
}

/** The operations from `start` on, newest first, as a page shows them. */
function shown(start = 0, changes: Partial<Resolution> = {}): Resolution {
  const numbers = [3, 2, 1].slice(start)
  const at = numbers.map((height) => ({ height, hash: '', confirmations: 1 }))
  const context = { height: 3, time: 0, at }
  const rows = numbers.map((number) => transaction(number))
  return { did: 'did:ledger:x', status: 0, transaction: rows, total: 3, start, context, ...changes }
}

describe('what is shown of a DID', () => {
  it('agrees where it is what was proved, in parts too', () => {
    expect(compareDid(shown(3, { total: 5, start: 5 }), proved(3))).toMatchObject({ pending: 2 })
    for (const start of [0, 1, 3])
      expect(compareDid(shown(start), proved(3))).toEqual({ agrees: true, pending: 0, newer: 0 })
  })

  it('is pending where it is above the proved block, and the state is then open', () => {
    expect(compareDid(shown(0, { status: 1 }), proved(2))).toEqual({ agrees: true, pending: 1, newer: 0 })
  })

  it('is out of date where the proof is newer', () => {
    const { context: { at = [] } = {}, ...rest } = shown(1, { total: 2, start: 0, status: 1 })
    const earlier = { ...rest, context: { height: 2, time: 0, at } }
    expect(compareDid(earlier, proved(3))).toEqual({ agrees: true, pending: 0, newer: 1 })
  })

  it.each<[string, Resolution, string]>([
    ['another transaction', shown(0, { transaction: [transaction(3), transaction(3), transaction(1)] }), 'operation 2'],
    [
      'another document',
      shown(0, { transaction: [transaction(3, { payload: 'other' }), transaction(2), transaction(1)] }),
      'operation 3',
    ],
    [
      'another time',
      shown(0, { transaction: [transaction(3), transaction(2), transaction(1, { timestamp: '' })] }),
      'operation 1',
    ],
    ['an operation withheld', shown(1, { total: 2, start: 0 }), 'the number of operations, 3,'],
    ['an operation too many', shown(0, { total: 4 }), 'operation 4'],
    ['another state', shown(0, { status: 2 }), 'the state'],
  ])('differs with %s', (_, page, unlike) => {
    expect(compareDid(page, proved(3))).toEqual({ agrees: false, unlike })
  })

  it('agrees that nothing is there, and differs where something is', () => {
    const nothing: Resolution = { did: 'did:ledger:x', status: 3 }
    const { transaction: _, ...absent } = proved(0, { status: 3 })
    expect(compareDid(nothing, absent)).toEqual({ agrees: true, pending: 0, newer: 0 })
    expect(compareDid(shown(), absent)).toMatchObject({ pending: 3 })
    expect(compareDid(nothing, proved(3))).toMatchObject({ agrees: false })
  })
})

describe('what is shown of a credential', () => {
  const state = (changes: Partial<CredentialState> = {}): CredentialState => ({
    id: 'x',
    status: 0,
    transaction: [transaction(1)],
    ...changes,
  })
  const result = state() as unknown as LightCredential

  it('agrees, is pending or differs', () => {
    expect(compareCredential(state(), result)).toEqual({ agrees: true, pending: 0, newer: 0 })
    const more = { transaction: [transaction(2), transaction(1)], status: 2 as const }
    expect(compareCredential(state(more), result)).toEqual({ agrees: true, pending: 1, newer: 0 })
    expect(compareCredential(state({ status: 2 }), result)).toEqual({ agrees: false, unlike: 'the state' })
    const other = state({ transaction: [transaction(1, { payload: 'other' })] })
    expect(compareCredential(other, result)).toEqual({ agrees: false, unlike: 'the create' })
  })
})
