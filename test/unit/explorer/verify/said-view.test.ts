import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../../src/explorer/ask/refusal.js'
import { saidCredential, saidDid, saidVersion } from '../../../../src/explorer/verify/said-view.js'
import { otherThanProved, statusAt } from '../../../../src/explorer/verify/views.js'

const did = 'did:ledger:x'
const payloadOf = (document: object) => Buffer.from(JSON.stringify(document)).toString('base64url')
const operation = (name: string, payload: string) => ({
  header: { specification: 'ledger/did/1.0', operation: name },
  payload,
  proof: { verificationMethod: '#primary', signature: 's' },
})
const transaction = (number: number, name: string, payload = payloadOf({ id: did, note: number })) => ({
  txid: `tx${number}`,
  timestamp: `1970-01-01T00:00:0${number}Z`,
  operation: operation(name, payload),
})
const answer = {
  did,
  status: 2,
  transaction: [transaction(3, 'deactivate', did), transaction(2, 'update'), transaction(1, 'create')],
  total: 3,
  start: 0,
  count: 3,
  context: { height: 9, at: [{ height: 7 }, { height: 5 }, { height: 4 }] },
}

describe('what a node says of a DID', () => {
  it('is drawn as it was said', () => {
    expect(saidDid(did, answer, answer)).toEqual({
      did,
      status: 2,
      height: 9,
      count: 3,
      operations: [
        { number: 3, txid: 'tx3', name: 'deactivate', time: 3, height: 7, signer: '#primary' },
        { number: 2, txid: 'tx2', name: 'update', time: 2, height: 5, signer: '#primary' },
        { number: 1, txid: 'tx1', name: 'create', time: 1, height: 4, signer: '#primary' },
      ],
      document: { id: did, note: 2 },
      written: 2,
    })
    expect(saidVersion(did, answer)).toBeUndefined()
    expect(saidVersion(did, { ...answer, transaction: [transaction(1, 'create')] })).toEqual({ id: did, note: 1 })
    expect(saidDid(did, { did, status: 3 }, { did, status: 3 })).toMatchObject({ status: 3, operations: [], count: 0 })
  })

  it.each([
    ['another DID', { ...answer, did: 'did:ledger:y' }],
    ['no DID', { ...answer, did: undefined }],
    ['null', null],
    ['a list', [answer]],
    ['a status that there is not', { ...answer, status: 4 }],
    ['a status in text', { ...answer, status: '0' }],
    ['an operation without txid', { ...answer, transaction: [{ ...transaction(1, 'create'), txid: 7 }] }],
  ])('is refused where it is about %s', (_, other) => {
    expect(() => saidDid(did, other, answer)).toThrow(Refusal)
    expect(() => saidDid(did, answer, other)).toThrow(Refusal)
    expect(() => saidVersion(did, other)).toThrow(Refusal)
  })

  it('has no document where the one given is of another DID', () => {
    const other = { ...answer, transaction: [transaction(1, 'create', payloadOf({ id: 'did:ledger:y' }))] }
    expect(saidDid(did, answer, other).document).toBeUndefined()
    expect(saidVersion(did, other)).toBeUndefined()
  })

  it('ends in a drawing or a refusal, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(answer)), (value, member) => {
        const changed = { ...answer, [member]: value }
        for (const draw of [() => saidDid(did, changed, changed), () => saidVersion(did, changed)]) {
          try {
            draw()
          } catch (error) {
            expect(error).toBeInstanceOf(Refusal)
          }
        }
      }),
    )
  })
})

describe('what a node says of a credential', () => {
  const id = `${did}#degree`
  const said = { id, status: 0, transaction: [transaction(1, 'declare', payloadOf({ id, type: ['A'] }))] }

  it('is drawn where it is about the one asked for', () => {
    expect(saidCredential(id, said)).toMatchObject({ id, status: 0, content: { type: ['A'] } })
    expect(() => saidCredential(`${did}#other`, said)).toThrow(Refusal)
  })
})

describe('two drawings', () => {
  const view = saidDid(did, answer, answer)
  const names = (status: number) => ['valid', 'expired', 'deactivated', 'does not exist'][status] ?? ''

  it('differ by state, number of operations and document', () => {
    expect(otherThanProved(view, view, names)).toEqual([])
    const other = { ...view, status: 0 as const, count: 4, document: { id: did } }
    expect(otherThanProved(view, other, names)).toEqual([
      'it is valid',
      'it has 4 operations',
      'its document is another one',
    ])
    expect(otherThanProved(view, { ...view, status: 3 }, names)).toEqual(['it does not exist'])
  })

  it('a state expires at its date, and no other state changes by it', () => {
    expect([statusAt(0, 10, 9), statusAt(0, 10, 10), statusAt(0, undefined, 10)]).toEqual([0, 1, 0])
    expect([statusAt(2, 10, 20), statusAt(3, 10, 20)]).toEqual([2, 3])
  })
})
