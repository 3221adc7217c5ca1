import { createECDH, generateKeyPairSync } from 'node:crypto'
import bs58 from 'bs58'
import { describe, expect, it } from 'vitest'
import { multikeyText } from '../../../src/identity/did/agreement-key.js'
import { payloadText } from '../../support/builders/payload-text.js'
import { documentText } from '../../../src/identity/did/canonical.js'
import { defaultDidLimits } from '../../../src/identity/did/did-rules.js'
import { parseDocumentBytes } from '../../../src/identity/did/document.js'
import { entryLimit } from '../../../src/identity/did/entry-limit.js'
import { refuseLater } from '../../../src/identity/did/first-form.js'
import { w3cDocument } from '../../../src/identity/did/w3c.js'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import { codeOf } from '../../support/assert/code-of.js'
import { holder } from '../../support/builders/did.js'

/** Endpoints that are objects or lists, keys for encryption, other names: docs/format.md. */

const ada = holder()
const bob = holder()
const compact = JSON.parse(payloadText(ada.document({}), 'compact')) as Record<string, unknown>
const rules = { method: 'ledger', chain: true, limitEntries: entryLimit(defaultDidLimits.entries) } as const
const read = (members: object, more: object = {}) =>
  parseDocumentBytes(fromUtf8(JSON.stringify({ ...compact, ...members })), { ...rules, ...more })
const refusal = (members: object, more: object = {}) => codeOf(() => read(members, more))
const withEndpoint = (serviceEndpoint: unknown) => ({ service: [{ id: '#s', type: 'T', serviceEndpoint }] })

const point = () => {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return pair.getPublicKey(null, 'compressed')
}
const x25519 = () => {
  const { x = '' } = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' })
  return Buffer.from(x, 'base64url')
}
const montgomery = multikeyText({ curve: 'X25519', publicKey: x25519() })
const weierstrass = multikeyText({ curve: 'P-256', publicKey: point() })
const agreement = (publicKeyMultibase: unknown, more: object = {}) => ({
  keyAgreement: [{ id: '#enc', publicKeyMultibase, ...more }],
})

describe('an endpoint', () => {
  it.each([
    ['a text', 'https://example.org', '"https://example.org"'],
    [
      'an object',
      { uri: 'https://example.org', accept: ['didcomm/v2'] },
      '{"accept":["didcomm/v2"],"uri":"https://example.org"}',
    ],
    [
      'a list',
      ['https://b.example', { z: 1, a: null }, 'https://a.example'],
      '["https://b.example",{"a":null,"z":1},"https://a.example"]',
    ],
  ])('may be %s, which keeps its order', (_, endpoint, text) => {
    const document = read(withEndpoint(endpoint))
    expect(document.signingText).toContain(`"serviceEndpoint":${text}}`)
    expect(documentText(read(JSON.parse(documentText(document)) as object))).toBe(documentText(document))
  })

  it.each([
    ['nothing', null],
    ['a number', 7],
    ['true', true],
    ['an object without members', {}],
    ['an empty list', []],
    ['a list in a list', [['https://example.org']]],
    ['a list with a number', ['https://example.org', 7]],
    ['a list with an empty object', [{}]],
    ['the same twice', ['https://example.org', 'https://example.org']],
    [
      'the same object twice, in another order',
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ])('is refused where it is %s', (_, endpoint) => {
    expect(refusal(withEndpoint(endpoint))).toBe('document-form')
  })

  it('may be 32 of a list, and not 33', () => {
    const some = (count: number) => Array.from({ length: count }, (_, n) => `https://${n}.example`)
    expect(refusal(withEndpoint(some(32)))).toBeUndefined()
    expect(refusal(withEndpoint(some(33)))).toBe('document-form')
  })
})

describe('a key for encryption', () => {
  it.each([
    ['X25519', montgomery],
    ['P-256', weierstrass],
  ])('is one of %s, and signs nothing', (curve, text) => {
    const document = read(agreement(text))
    expect(document.keyAgreement).toMatchObject([{ id: `${ada.did}#enc`, curve, publicKeyMultibase: text }])
    expect(document.signingText).toContain(
      `"keyAgreement":[{"id":"${ada.did}#enc","type":"Multikey","controller":"${ada.did}","publicKeyMultibase":"${text}"}]`,
    )
    expect([document.authentication, document.authorization].some((keys) => keys.has(`${ada.did}#enc`))).toBe(false)
  })

  it.each([
    ['of another base', 'f' + montgomery.slice(1), 'document-key'],
    ['of Ed25519', multikeyOf([0xed, 1], 32), 'document-key'],
    ['of X25519 with a byte less', multikeyOf([0xec, 1], 31), 'document-key'],
    ['of X25519 with a byte more', multikeyOf([0xec, 1], 33), 'document-key'],
    ['that is no point of P-256', multikeyOf([0x80, 0x24], 33), 'document-key'],
    ['that is long', `z${'2'.repeat(100_000)}`, 'document-key'],
    ['that is a number', 7, 'document-form'],
  ])('is refused %s', (_, text, code) => {
    expect(refusal(agreement(text))).toBe(code)
  })

  it('has no other controller, type or member, and an id of its own', () => {
    expect(refusal(agreement(montgomery, { type: 'Multikey', controller: ada.did }))).toBeUndefined()
    expect(refusal(agreement(montgomery, { controller: bob.did }))).toBe('document-reference')
    expect(refusal(agreement(montgomery, { type: 'X25519KeyAgreementKey2020' }))).toBe('document-form')
    expect(refusal(agreement(montgomery, { use: 'enc' }))).toBe('document-member')
    expect(refusal(agreement(montgomery, { id: `${bob.did}#enc` }))).toBe('document-id')
    expect(refusal(agreement(montgomery, { id: '#primary' }))).toBe('document-duplicate-id')
    expect(
      refusal({
        ...agreement(montgomery),
        ...withEndpoint('x'),
        service: [{ id: '#enc', type: 'T', serviceEndpoint: 'x' }],
      }),
    ).toBe('document-duplicate-id')
  })

  it('is no key that signs, and stands there once', () => {
    const own = multikeyText({ curve: 'P-256', publicKey: ada.primary.publicKey })
    expect(refusal(agreement(own))).toBe('document-duplicate-key')
    const [key] = agreement(montgomery).keyAgreement
    expect(refusal({ keyAgreement: [key, { ...key, id: '#again' }] })).toBe('document-duplicate-key')
  })

  it('signs for nobody: a reference to it is none of a key', () => {
    for (const name of ['authentication', 'authorization']) {
      expect(refusal({ ...agreement(weierstrass), [name]: ['#enc'] })).toBe('document-reference')
    }
  })
})

describe('another name', () => {
  it('is an absolute URI, and they are sorted', () => {
    const names = ['https://example.org/ada', 'did:example:ada', 'urn:x:1']
    expect(read({ alsoKnownAs: names }).alsoKnownAs).toEqual([...names].sort())
    expect(read({ alsoKnownAs: names }).signingText).toContain(`"alsoKnownAs":["did:example:ada",`)
  })

  it.each(['a:b', 'https://[2001:db8::1]:80/a?b#c', 'https://u@[::1]', 'x:#', 'urn:x:%7e', 'mailto:ada@example.org'])(
    'may be %j',
    (name) => expect(refusal({ alsoKnownAs: [name] })).toBeUndefined(),
  )

  const others = [
    'https:',
    'https://ü.example',
    'https://example.org/a b',
    'x:%zz',
    'x:"',
    'x:a#b#c',
    'x:[',
    'x:a[b]',
    '1:a',
  ]
  it.each(['ada', '/ada', '', ...others])('is refused where it is %j', (name) =>
    expect(refusal({ alsoKnownAs: [name] })).toBe('document-text'),
  )

  it('has 1024 characters, and not 1025; stands there once; is a text', () => {
    const long = (length: number) => ({ alsoKnownAs: [`urn:${'x'.repeat(length - 4)}`] })
    expect(refusal(long(1024))).toBeUndefined()
    expect(refusal(long(1025))).toBe('document-text')
    expect(refusal({ alsoKnownAs: ['urn:a:b', 'urn:a:b'] })).toBe('document-duplicate-id')
    expect(refusal({ alsoKnownAs: [7] })).toBe('document-form')
    expect(refusal({ alsoKnownAs: 'urn:a:b' })).toBe('document-form')
  })
})

it('keys for encryption and other names count as entries', () => {
  const names = (count: number) => ({ alsoKnownAs: Array.from({ length: count }, (_, n) => `urn:x:${n}`) })
  const others = (compact.publicKey as unknown[]).length + 1
  const most = defaultDidLimits.entries - others
  expect(refusal({ ...agreement(montgomery), ...names(most) })).toBeUndefined()
  expect(refusal({ ...agreement(montgomery), ...names(most + 1) })).toBe('document-entries')
})

it.each([
  ['an endpoint that is an object', withEndpoint({ uri: 'x' })],
  ['a list of endpoints', withEndpoint(['x'])],
  ['a key for encryption', agreement(montgomery)],
  ['another name', { alsoKnownAs: ['urn:x:1'] }],
])('a chain without the upgrade refuses %s', (_, members) => {
  expect(refusal(members, { refuseLater })).toBe('document-core')
  expect(refusal(members)).toBeUndefined()
})

it('a chain without the upgrade refuses what no height takes as such', () => {
  for (const [members, code] of [
    [withEndpoint({}), 'document-form'],
    [{ ...withEndpoint({ uri: 'x' }), other: 1 }, 'document-member'],
    [{ alsoKnownAs: ['nowhere'] }, 'document-text'],
  ] as const) {
    expect(refusal(members, { refuseLater })).toBe(code)
    expect(refusal(members)).toBe(code)
  }
})

describe('the form of the W3C', () => {
  const document = (members: object, keys: 'Multikey' | 'JsonWebKey' = 'Multikey') =>
    w3cDocument(JSON.stringify({ ...compact, ...members }), { keys }).document

  it('has the keys for encryption in keyAgreement alone', () => {
    const key = { id: `${ada.did}#enc`, type: 'Multikey', controller: ada.did, publicKeyMultibase: montgomery }
    const { keyAgreement, verificationMethod, authentication } = document(agreement(montgomery))
    expect(keyAgreement).toEqual([key])
    expect([...verificationMethod.map(({ id }) => id), ...authentication]).not.toContain(key.id)
  })

  it('has them as JWK', () => {
    const [okp] = document(agreement(montgomery), 'JsonWebKey').keyAgreement ?? []
    expect(okp?.publicKeyJwk).toEqual({ kty: 'OKP', crv: 'X25519', x: expect.stringMatching(/^[\w-]{43}$/) })
    const [ec] = document(agreement(weierstrass), 'JsonWebKey').keyAgreement ?? []
    expect(ec?.publicKeyJwk).toMatchObject({ kty: 'EC', crv: 'P-256' })
  })

  it('has the other names', () => {
    expect(document({ alsoKnownAs: ['urn:x:2', 'urn:x:1'] }).alsoKnownAs).toEqual(['urn:x:1', 'urn:x:2'])
    expect(document({})).not.toHaveProperty('alsoKnownAs')
    expect(document({})).not.toHaveProperty('keyAgreement')
  })

  it.each([
    ['a text', 'https://example.org', 'https://example.org'],
    ['a DID', 'did:example:a', 'did:example:a'],
    ['an object', { uri: 'anything' }, { uri: 'anything' }],
    ['a list, without those that are none', ['no', 'https://a.example', { a: 1 }], ['https://a.example', { a: 1 }]],
  ])('has an endpoint that is %s', (_, endpoint, shown) => {
    expect(document(withEndpoint(endpoint)).service?.[0]?.serviceEndpoint).toEqual(shown)
  })

  it.each(['/relative', 'no uri', '', ['/relative', 'no uri']])('has no service whose endpoint is %j', (endpoint) => {
    expect(document(withEndpoint(endpoint))).not.toHaveProperty('service')
  })
})

/** A Multikey with as many bytes of any key. */
function multikeyOf(codec: readonly [number, number], size: number): string {
  return `z${bs58.encode(Buffer.concat([Buffer.from(codec), Buffer.alloc(size, 5)]))}`
}
