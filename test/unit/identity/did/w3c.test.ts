import { readFileSync } from 'node:fs'
import bs58 from 'bs58'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { payloadText } from '../../../support/builders/payload-text.js'
import { parseLibraryDocument } from '../../../../src/identity/did/library-document.js'
import { isDerivedIdentifier } from '../../../../src/identity/did/identifier.js'
import type { DidDocument } from '../../../../src/identity/did/model.js'
import { fromPlain } from '../../../../src/identity/did/plain-json.js'
import { isKeyIdentifier, w3cDocument } from '../../../../src/identity/did/w3c.js'
import { addressOf } from '../../../../src/base/primitives/address.js'
import { canonicalJson } from '../../../../src/base/primitives/strict-json.js'
import { authenticationKey, authorizationKey, holder } from '../../../support/builders/did.js'
import { quickSigner } from '../../../support/builders/signatures.js'
import { rounds } from '../../../support/process/thorough.js'

/** What the mapping has to be, said over the strict reader's form. */
function expected(document: DidDocument) {
  return {
    '@context': [
      ...new Set(['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1', ...document.context]),
    ],
    id: document.id,
    ...(document.controllers.length > 0 && {
      controller: document.controllers.length === 1 ? document.controllers[0] : document.controllers,
    }),
    verificationMethod: document.keys
      .filter(({ id }) => document.authentication.has(id))
      .map(({ id, controller, publicKey }) => ({
        id,
        type: 'Multikey',
        controller,
        publicKeyMultibase: `z${bs58.encode(Buffer.concat([Buffer.of(0x80, 0x24), publicKey]))}`,
      })),
    authentication: [...document.authentication.keys()],
    assertionMethod: [...document.authentication.keys()],
    ...(document.services.length === 0
      ? {}
      : {
          service: document.services.map(({ id, type, serviceEndpoint, properties }) => ({
            id,
            type,
            serviceEndpoint,
            ...(JSON.parse(canonicalJson(properties)) as object),
          })),
        }),
  }
}

interface Vector {
  readonly file: string
  readonly document: object
}

describe('w3cDocument', () => {
  const ada = holder()
  const guardian = holder()
  const other = quickSigner()

  it('writes keys as Multikeys, keeps services, and leaves out powers, credentials and proof', () => {
    const document = ada.document({
      keys: [...ada.plan.keys, authorizationKey('guardian', other, guardian.did)],
      services: [{ id: '#home', type: 'LinkedDomains', serviceEndpoint: 'https://example.org', since: [2026] }],
      credentials: [guardian.issue(ada.did)],
    })
    const mapped = w3cDocument(payloadText(document, 'compact'))
    expect(mapped).toEqual({ document: expected(document), expires: document.expires })
    expect(Object.keys(mapped.document)).toEqual([
      '@context',
      'id',
      'verificationMethod',
      'authentication',
      'assertionMethod',
      'service',
    ])
    expect(mapped.document.authentication).toEqual([`${ada.did}#primary`, `${ada.did}#recovery`])
    expect(mapped.document.verificationMethod.map(({ id, controller }) => [id, controller])).toEqual([
      [`${ada.did}#primary`, ada.did],
      [`${ada.did}#recovery`, ada.did],
    ])
    // The prefix that P-256 keys have in did:key.
    expect(mapped.document.verificationMethod[0]?.publicKeyMultibase).toMatch(/^zDna/)
  })

  it('lists no key that does not authenticate: delegates, referenced or embedded, and keys of publicKey alone', () => {
    const { authentication: _, ...rest } = JSON.parse(payloadText(ada.document(), 'compact')) as Record<string, unknown>
    const keys = rest['publicKey'] as { id: string }[]
    const key = { controller: guardian.did, publicKeyBase58: bs58.encode(other.publicKey) }
    for (const [authentication, authorization, found] of [
      [['#primary'], [], ['#primary']],
      [['#primary', '#recovery'], ['#ward'], ['#primary', '#recovery']],
      [['#primary'], [{ ...key, id: '#embedded' }], ['#primary']],
      [['#recovery'], ['#ward', { ...key, id: '#embedded' }], ['#primary', '#recovery']],
      [[{ id: '#third', publicKeyBase58: bs58.encode(other.publicKey) }], [], ['#primary', '#third']],
      // What no chain accepts is no method of the DID either.
      [['#primary', '#ward'], ['#ward'], ['#primary']],
    ] as const) {
      const text = JSON.stringify({
        ...rest,
        publicKey: [...keys, { ...key, id: '#ward' }],
        authentication,
        authorization,
      })
      const { document } = w3cDocument(text)
      const ids = found.map((id) => ada.did + id)
      expect(document.verificationMethod.map(({ id, controller }) => [id, controller])).toEqual(
        ids.map((id) => [id, ada.did]),
      )
      expect([document.authentication, document.assertionMethod]).toEqual([ids, ids])
    }
  })

  it('writes the same keys as JsonWebKeys where that is asked for', async () => {
    const text = payloadText(ada.document())
    const { document } = w3cDocument(text, { keys: 'JsonWebKey' })
    expect(document['@context']).toEqual(['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/jwk/v1'])
    expect(document.verificationMethod.map(({ id }) => id)).toEqual(document.authentication)
    const [first] = document.verificationMethod
    expect(Object.keys(first ?? {})).toEqual(['id', 'type', 'controller', 'publicKeyJwk'])
    expect(Object.keys(first?.publicKeyJwk ?? {})).toEqual(['kty', 'crv', 'x', 'y'])
    const use = { name: 'ECDSA', namedCurve: 'P-256' }
    const key = await crypto.subtle.importKey('jwk', first?.publicKeyJwk ?? {}, use, true, ['verify'])
    const signature = Uint8Array.from(ada.primary.sign(Buffer.from('text')))
    const holds = await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, Buffer.from('text'))
    expect(holds).toBe(true)
    const others = { ...document, '@context': [], verificationMethod: [] }
    expect(others).toEqual({ ...w3cDocument(text).document, '@context': [], verificationMethod: [] })
  })

  it('counts the key behind the DID among those that authenticate, listed or not', () => {
    const { authentication: _, ...rest } = JSON.parse(payloadText(ada.document())) as Record<string, unknown>
    expect(w3cDocument(JSON.stringify(rest)).document.authentication).toEqual([`${ada.did}#primary`])
  })

  it('reads the published documents as the strict reader does', () => {
    const file = new URL('../../../vectors/did-documents.json', import.meta.url)
    const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }
    expect(vectors.length).toBeGreaterThan(5)
    for (const { file: name, document } of vectors) {
      const parsed = parseLibraryDocument(fromPlain(document), { method: 'elastos', chain: false })
      expect({ name, ...w3cDocument(JSON.stringify(document)) }).toEqual({
        name,
        document: expected(parsed),
        expires: parsed.expires,
      })
    }
  })

  it('is the same for every form of a document', () => {
    const signers = Array.from({ length: 3 }, () => quickSigner())
    const change = fc.record({
      keys: fc.subarray(signers.map((signer, i) => authenticationKey(`k${i}`, signer))),
      context: fc.subarray(['https://www.w3.org/ns/did/v1', 'https://example.org/terms']),
      services: fc.uniqueArray(
        fc.record({
          id: fc.stringMatching(/^#s[a-z0-9]{0,7}$/),
          type: fc.constantFrom('A', 'B'),
          serviceEndpoint: fc.webUrl(),
          extra: fc.oneof(fc.integer(), fc.constant({ a: [true, null] })),
        }),
        { selector: ({ id }) => id, maxLength: 3 },
      ),
    })
    fc.assert(
      fc.property(change, fc.boolean(), ({ keys, context, services }, embed) => {
        const document = ada.document({ context, services, keys: [...ada.plan.keys, ...keys] })
        const plain = JSON.parse(payloadText(document, 'compact')) as {
          publicKey: { id: string }[]
          authentication: unknown[]
        }
        if (embed) {
          plain.authentication = plain.authentication.map((id) => plain.publicKey.find((key) => key.id === id) ?? id)
          plain.publicKey = []
        }
        const mapped = expected(document)
        expect(w3cDocument(payloadText(document)).document).toEqual(mapped)
        expect(w3cDocument(JSON.stringify(plain)).document).toEqual(mapped)
      }),
      { numRuns: rounds(200, 1000) },
    )
  })
})

describe('isKeyIdentifier', () => {
  it('says what the chain says of identifiers', () => {
    const bytes = fc.uint8Array({ minLength: 21, maxLength: 21 })
    fc.assert(
      fc.property(bytes, fc.boolean(), fc.nat(33), fc.string({ maxLength: 40 }), (hash, right, at, noise) => {
        if (right) hash[0] = 0x67
        const text = addressOf(hash)
        const broken = text.slice(0, at) + (text[at] === '2' ? '3' : '2') + text.slice(at + 1)
        for (const candidate of [text, broken, noise]) {
          expect(isKeyIdentifier(candidate)).toBe(isDerivedIdentifier(candidate))
        }
        expect(isKeyIdentifier(text)).toBe(hash[0] === 0x67)
      }),
      { numRuns: rounds(200, 1000) },
    )
  })
})
