import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildCreate, buildDocument } from '../../../../../src/identity/did/build.js'
import { knownDocument } from '../../../../../src/identity/did/known-document.js'
import { DocumentReader, KnownDocuments } from '../../../../../src/ledger/storage/write/known-documents.js'
import { authenticationKey, holder, specification, txid } from '../../../../support/builders/did.js'
import { quickSigner } from '../../../../support/builders/signatures.js'

const unsigned = () => new Uint8Array(64)
const owner = holder()
const documents = [0, 1, 5].map((more) => {
  const keys = Array.from({ length: more }, (_, i) => authenticationKey(`k${i}`, quickSigner()))
  const credentials = Array.from({ length: more }, (_, i) => owner.issue(owner.did, { id: `#c${i}` }))
  return buildDocument({ ...owner.plan, keys: [...owner.plan.keys, ...keys], credentials }, unsigned)
})
const payloads = documents.map(
  (document) => buildCreate(document, { specification, verificationMethod: '#primary' }, unsigned).payload,
)

/** One question about a document: whose reader asks, for which document, and what of it. */
const question = fc.record({
  reader: fc.nat(2),
  which: fc.nat(documents.length - 1),
  part: fc.constantFrom('size', 'keys', 'credentials'),
})

describe('what is known of documents', () => {
  it('is what a fresh look tells, each part read once by a reader, within the bound', () => {
    fc.assert(
      fc.property(fc.array(question, { maxLength: 40 }), fc.nat(20_000), (questions, capacity) => {
        const shared = new KnownDocuments(capacity)
        const readers = [0, 1, 2].map(() => new DocumentReader(shared))
        const reads = new Map<string, number>()
        for (const { reader, which, part } of questions) {
          const head = { status: 'valid', operationCount: 1, lastTxid: txid(9), documentTxid: txid(which) } as const
          const state = (readers[reader] as DocumentReader).state(head, () => {
            const name = `${reader} ${which} ${part}`
            reads.set(name, (reads.get(name) ?? 0) + 1)
            return payloads[which] as string
          })
          const expected = knownDocument(documents[which] as (typeof documents)[number])
          if (part === 'size') {
            expect(state.documentPayloadSize).toBe(Buffer.from(payloads[which] as string, 'base64url').length)
          } else if (part === 'keys') {
            const { id, expiresAt, authentication, authorization, control } = state.document
            const { credentials } = expected
            expect({ id, expiresAt, authentication, authorization, control, credentials }).toEqual(expected)
          } else expect(state.document.credentials).toEqual(expected.credentials)
          expect(shared.bytes).toBeLessThanOrEqual(capacity)
        }
        expect([...reads.values()].every((count) => count === 1)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('is what an operation brought, as if it had been read', () => {
    const shared = new KnownDocuments()
    const reads = new KnownDocuments()
    for (const [i, document] of documents.entries()) {
      const head = { status: 'valid', operationCount: 1, lastTxid: txid(i), documentTxid: txid(i) } as const
      const payload = payloads[i] as string
      const documentPayloadSize = Buffer.from(payload, 'base64url').length
      shared.learn({ ...head, documentPayloadSize, document: knownDocument(document) })
      const told = new DocumentReader(shared).state(head, () => expect.unreachable('it is known'))
      const read = new DocumentReader(reads).state(head, () => payload)
      expect(told.documentPayloadSize).toBe(read.documentPayloadSize)
      for (const part of ['id', 'expiresAt', 'control', 'authentication', 'authorization', 'credentials'] as const) {
        expect(told.document[part]).toEqual(read.document[part])
      }
    }
    expect(shared.bytes).toBe(reads.bytes)
  })

  it('is read once by all readers while there is room', () => {
    const shared = new KnownDocuments()
    let reads = 0
    for (let i = 0; i < 5; i++) {
      const head = { status: 'valid', operationCount: i, lastTxid: txid(i), documentTxid: txid(1) } as const
      const state = new DocumentReader(shared).state(head, () => {
        reads++
        return payloads[2] as string
      })
      expect(state.document.authentication.size).toBe(7)
      expect(state).toMatchObject({ operationCount: i })
    }
    expect(reads).toBe(1)
  })

  it('has the tokens of the last documents with few', () => {
    const tokens = (count: number) => new Map(Array.from({ length: count }, (_, i) => [`token ${i}`, [0]]))
    const often = (times: number) => new Map([['token', Array.from({ length: times }, (_, i) => i)]])
    const shared = new KnownDocuments(undefined, 2)
    expect(shared.tokens(txid(1))).toBeUndefined()
    for (const usual of [tokens(0), tokens(32), often(8)]) {
      shared.keepTokens(txid(1), usual)
      expect(shared.tokens(txid(1))).toEqual(usual)
    }
    for (const unusual of [tokens(33), often(9)]) {
      shared.keepTokens(txid(2), unusual)
      expect(shared.tokens(txid(2))).toBeUndefined()
    }
    for (const number of [3, 4]) shared.keepTokens(txid(number), tokens(number))
    expect([1, 3, 4].map((number) => shared.tokens(txid(number))?.size)).toEqual([undefined, 3, 4])
  })

  it('has the issuer of a declared credential, read once by all readers, and by one reader without room', () => {
    for (const [capacity, expected] of [
      [undefined, 1],
      [0, 5],
    ] as const) {
      const shared = new KnownDocuments(capacity)
      let reads = 0
      for (const reader of Array.from({ length: 5 }, () => new DocumentReader(shared))) {
        for (let i = 0; i < 2; i++) {
          const issuer = reader.issuer(txid(1), () => {
            reads++
            return owner.did
          })
          expect(issuer).toBe(owner.did)
        }
      }
      expect(reads).toBe(expected)
      expect(shared.bytes).toBeLessThanOrEqual(capacity ?? Infinity)
    }
  })
})
