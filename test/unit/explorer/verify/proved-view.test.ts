import { describe, expect, it } from 'vitest'
import type { LightCredential, LightResult, ProvedEntry } from '../../../../src/clients/light/proved-answer.js'
import { provedCredential, provedDid, versionIn } from '../../../../src/explorer/verify/proved-view.js'

const did = 'did:ledger:iX'
const payloadOf = (document: object) => Buffer.from(JSON.stringify(document)).toString('base64url')
const transaction = (number: number, name: string, payload = payloadOf({ id: did, note: number })) => ({
  txid: `tx${number}`,
  timestamp: `1970-01-01T00:00:0${number}Z`,
  operation: {
    header: { specification: 'forged', operation: name },
    payload,
    proof: { verificationMethod: '#forged', signature: 'forged' },
  },
})
const entry = (number: number, signedBy?: string): ProvedEntry => ({
  txid: `tx${number}`,
  height: 10 * number,
  time: number,
  ...(signedBy !== undefined && { signedBy }),
})
const proved = (count: number, entries: readonly ProvedEntry[]) => ({
  height: 99,
  hash: 'ff',
  time: 100,
  age: 1,
  servers: [],
  history: { count, entries },
})
const whole = { skip: 0, rows: 20 }

describe('a proved DID', () => {
  const result: LightResult = {
    did: 'did:ledger:other',
    status: 2,
    transaction: [transaction(3, 'deactivate', did), transaction(2, 'update'), transaction(1, 'create')],
    proved: proved(3, [entry(1, '#primary'), entry(2), entry(3, '#spare')]),
  }

  it('is drawn from its entries and its last document, under the DID that was asked for', () => {
    expect(provedDid(did, result, whole)).toEqual({
      did,
      status: 2,
      height: 99,
      count: 3,
      operations: [
        { number: 3, txid: 'tx3', name: 'deactivate', time: 3, height: 30, signer: '#spare' },
        { number: 2, txid: 'tx2', name: 'update', time: 2, height: 20, signer: undefined },
        { number: 1, txid: 'tx1', name: 'create', time: 1, height: 10, signer: '#primary' },
      ],
      document: { id: did, note: 2 },
      written: 2,
    })
  })

  it('is drawn in parts', () => {
    const numbers = (skip: number, rows: number) =>
      provedDid(did, result, { skip, rows }).operations.map(({ number }) => number)
    expect([numbers(0, 2), numbers(2, 2), numbers(3, 2)]).toEqual([[3, 2], [1], []])
  })

  it('has only the operations whose entries were proved, each at its place', () => {
    const last = { ...result, proved: proved(7, [entry(6), entry(7)]) }
    const { operations, count } = provedDid(did, last, whole)
    expect(count).toBe(7)
    expect(operations.map(({ number, name }) => [number, name])).toEqual([
      [7, 'deactivate'],
      [6, 'update'],
    ])
  })

  it('that does not exist has nothing', () => {
    const none: LightResult = { did, status: 3, proved: proved(0, []) }
    expect(provedDid(did, none, whole)).toMatchObject({ status: 3, count: 0, operations: [], document: undefined })
  })

  it('has versions among the transactions that are proved alone', () => {
    expect(versionIn(result.transaction ?? [], 'tx1')).toEqual({ id: did, note: 1 })
    expect(versionIn(result.transaction ?? [], 'tx3')).toBeUndefined()
    expect(versionIn(result.transaction ?? [], 'tx9')).toBeUndefined()
  })
})

describe('a proved credential', () => {
  const id = `${did}#degree`
  const transactions = [transaction(2, 'revoke', id), transaction(1, 'declare', payloadOf({ id, type: ['A'] }))]
  const result = (history?: ReturnType<typeof proved>['history']): LightCredential => {
    const { history: _, ...rest } = proved(0, [])
    return { id: 'other', status: 2, transaction: transactions, proved: { ...rest, ...(history && { history }) } }
  }

  it('is drawn under the id that was asked for, with signers that were checked alone', () => {
    expect(provedCredential(id, result())).toEqual({
      id,
      status: 2,
      operations: [
        { number: undefined, txid: 'tx2', name: 'revoke', time: 2, height: undefined, signer: undefined },
        { number: undefined, txid: 'tx1', name: 'declare', time: 1, height: undefined, signer: undefined },
      ],
      content: { id, type: ['A'] },
    })
    const [revoke, declare] = provedCredential(id, result({ count: 2, entries: [entry(1, '#primary')] })).operations
    expect([revoke?.signer, declare?.signer]).toEqual([undefined, '#primary'])
  })
})
