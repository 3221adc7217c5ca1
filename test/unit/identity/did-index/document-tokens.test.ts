import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { tokensOf } from '../../../support/builders/tokens.js'
import { isCounted, kindOf, tokenKind } from '../../../../src/identity/did-index/token.js'
import type { Members } from '../../../../src/identity/did-query/member-path.js'
import { claiming, credential, document, service } from '../../../support/builders/query-documents.js'

const own = document()['id'] as string

/** A posting by its definition. */
function posting(kind: number, text: string, element = 0, bytes = 16): string {
  const digest = createHash('sha256').update(Buffer.of(kind)).update(text).digest()
  return Buffer.concat([Buffer.of(kind), digest.subarray(0, bytes), Buffer.of(element)]).toString('hex')
}

const pairs = (members: Members) =>
  [...tokensOf(JSON.stringify(members))].flatMap(([token, elements]) => elements.map((element) => ({ token, element })))
const ofDocument = (members: Members) =>
  pairs(members).map(({ token, element }) =>
    Buffer.from(token + String.fromCharCode(element), 'latin1').toString('hex'),
  )
const ofKind = (members: Members, kind: number) => pairs(members).filter(({ token }) => kindOf(token) === kind)
const always = [
  posting(0, ''),
  posting(8, '2030-01'),
  posting(6, 'jSmJejYNtBjWasdUoDMj', 0, 10),
  posting(6, 'xLiqm2MS6uq8KSC9b1Xg', 1, 10),
]

describe('the postings of a document', () => {
  it('are those of its keys and of its expiry', () => {
    expect(ofDocument(document()).sort()).toEqual([...always].sort())
  })

  it('are those of its services by type', () => {
    const found = ofDocument(document({ service: [service('Hub'), service('Mail'), service('Hub')] }))
    const types = [posting(1, 'Hub'), posting(1, 'Mail', 1), posting(1, 'Hub', 2)]
    expect(found.sort()).toEqual([...always, ...types].sort())
  })

  it('are those of its credentials: types, issuers other than itself, claims', () => {
    const other = 'did:ledger:other'
    const claims = { name: 'Ada', age: 36, tags: ['x', true, null, 'x', ['y'], { z: 1 }], address: { city: 'X' } }
    const verifiableCredential = [credential(['A', 'B'], claims), credential(['A'], {}, { issuer: other })]
    const found = ofDocument(document({ verifiableCredential }))
    const expected = [
      posting(2, 'A'),
      posting(2, 'B'),
      posting(2, 'A', 1),
      posting(3, other, 1),
      ...['name', 'age', 'tags', 'address'].map((name) => posting(4, name)),
      ...['name\0"Ada"', 'age\x0036', 'tags\0"x"', 'tags\0true', 'tags\0null'].map((text) => posting(5, text, 0, 10)),
    ]
    expect(found.sort()).toEqual([...always, ...expected].sort())
  })

  it('are those of keys of other controllers', () => {
    const key = { id: `${own}#d`, controller: 'did:ledger:other', publicKeyBase58: 'k' }
    const found = ofDocument(document({ publicKey: [key] }))
    const expected = [posting(0, ''), posting(8, '2030-01'), posting(6, 'k', 0, 10), posting(7, 'did:ledger:other')]
    expect(found.sort()).toEqual(expected.sort())
  })

  it('leave out texts of more than 256 bytes', () => {
    expect(ofKind(claiming({ a: 'x'.repeat(256), b: 'ä'.repeat(128) }), tokenKind.claimValue)).toHaveLength(2)
    expect(ofKind(claiming({ a: 'x'.repeat(257), b: `${'ä'.repeat(128)}x` }), tokenKind.claimValue)).toHaveLength(0)
    expect(ofKind(claiming({ a: 'x'.repeat(257) }), tokenKind.claimName)).toHaveLength(1)
  })

  it.each([
    [
      'names',
      tokenKind.claimName,
      1024,
      (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, {}])),
    ],
    ['values', tokenKind.claimValue, 256, (count: number) => ({ n: Array.from({ length: count }, (_, i) => i) })],
  ])('end at a number of %s, and say so', (_, kind, most, claims) => {
    const overflow = (count: number) => ofKind(claiming(claims(count)), tokenKind.overflow)
    expect(ofKind(claiming(claims(most)), kind)).toHaveLength(most)
    expect(overflow(most)).toHaveLength(0)
    expect(ofKind(claiming(claims(most + 1)), kind)).toHaveLength(most)
    expect(overflow(most + 1).map(({ element }) => element)).toEqual([kind])
    expect(overflow(most + 100)).toHaveLength(1)
  })

  it('end at a number of types of credentials, and say so', () => {
    const withTypes = (count: number) =>
      document({
        verifiableCredential: [
          credential(
            Array.from({ length: count }, (_, i) => `T${i}`),
            {},
          ),
        ],
      })
    const overflow = (count: number) => ofKind(withTypes(count), tokenKind.overflow)
    expect([1024, 1025].map((count) => ofKind(withTypes(count), tokenKind.credentialType).length)).toEqual([1024, 1024])
    expect(overflow(1024)).toHaveLength(0)
    expect(overflow(2000).map(({ element }) => element)).toEqual([tokenKind.credentialType])
  })

  it('take no time for values that a list repeats', () => {
    const [many, text] = [Array.from({ length: 50_000 }, () => 1), (a: unknown) => JSON.stringify(claiming({ a }))]
    expect(tokensOf(text(many))).toEqual(tokensOf(text([1])))
    const fastest = (work: () => unknown) =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const began = performance.now()
          work()
          return performance.now() - began
        }),
      )
    // Hashing each took 70 times as long as writing and reading them.
    expect(fastest(() => tokensOf(text(many)))).toBeLessThan(15 * fastest(() => JSON.parse(text(many))))
  })

  it('are counted by token, but for kinds that nearly every document has of its own', () => {
    const kinds = [...tokensOf(JSON.stringify(claiming({ a: 1 }))).keys()]
      .filter((token) => !isCounted(token))
      .map(kindOf)
    expect(new Set(kinds)).toEqual(new Set([tokenKind.claimValue, tokenKind.publicKey, tokenKind.expiryMonth]))
  })
})
