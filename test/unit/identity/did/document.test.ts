import fc from 'fast-check'
import bs58 from 'bs58'
import { describe, expect, it } from 'vitest'
import { multikeyText } from '../../../../src/identity/did/agreement-key.js'
import { decodeBase64url, encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { buildCreate, buildDocument, planOf, type PlannedKey } from '../../../../src/identity/did/build.js'
import { payloadText } from '../../../support/builders/payload-text.js'
import { documentText } from '../../../../src/identity/did/canonical.js'
import { type ChainRules, parseDocumentBytes } from '../../../../src/identity/did/document.js'
import { entryLimit } from '../../../../src/identity/did/entry-limit.js'
import { parseOperation } from '../../../../src/identity/did/operation.js'
import { didFromPublicKey } from '../../../../src/base/primitives/address.js'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import { canonicalJson, parseStrictJson } from '../../../../src/base/primitives/strict-json.js'
import {
  authenticationKey,
  authorizationKey,
  didRules,
  holder,
  signer,
  specification,
} from '../../../support/builders/did.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { quickSigner } from '../../../support/builders/signatures.js'
import { rounds } from '../../../support/process/thorough.js'

const ada = holder()
const bob = holder()
const chain: ChainRules = { method: 'ledger', chain: true }
type Members = Record<string, unknown>

const base = ada.document({
  credentials: [ada.issue(ada.did)],
  services: [{ id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }],
})
const normalised = JSON.parse(payloadText(base)) as Members
const compact = JSON.parse(payloadText(base, 'compact')) as Members
const parse = (members: unknown, rules = chain) => parseDocumentBytes(fromUtf8(JSON.stringify(members)), rules)
const first = (members: Members, name: string) => (members[name] as Members[])[0] as Members

/** The code of the refusal when one member of the document, or of the first element of a list, is another. */
const changed = (changes: Members) => codeOf(() => parse({ ...compact, ...changes }))
const inFirst = (name: string, changes: Members) =>
  changed({ [name]: [{ ...first(compact, name), ...changes }, ...(compact[name] as Members[]).slice(1)] })
const inProofOf = (changes: Members) => {
  const credential = first(compact, 'verifiableCredential')
  return inFirst('verifiableCredential', { proof: { ...(credential.proof as Members), ...changes } })
}

describe('the normalised form', () => {
  it('has every id absolute, every default filled in, every list sorted', () => {
    expect(Object.keys(normalised)).toEqual([
      'id',
      'publicKey',
      'authentication',
      'verifiableCredential',
      'service',
      'expires',
      'proof',
    ])
    expect(normalised.publicKey).toEqual(
      ['primary', 'recovery'].map((name, index) => ({
        id: `${ada.did}#${name}`,
        type: 'ECDSAsecp256r1',
        controller: ada.did,
        publicKeyBase58: bs58.encode([ada.primary, ada.recovery][index]?.publicKey as Uint8Array),
      })),
    )
    expect(normalised.authentication).toEqual([`${ada.did}#primary`, `${ada.did}#recovery`])
    expect(first(normalised, 'verifiableCredential')).toMatchObject({
      id: `${ada.did}#profile`,
      type: ['ProfileCredential'],
      issuer: ada.did,
      credentialSubject: { id: ada.did, name: 'Ada' },
      proof: { type: 'ECDSAsecp256r1', verificationMethod: `${ada.did}#primary` },
    })
    expect(normalised.proof).toMatchObject({ type: 'ECDSAsecp256r1', creator: `${ada.did}#primary` })
  })

  it('is what both forms read as', () => {
    expect(documentText(parse(normalised))).toBe(JSON.stringify(normalised))
    expect(documentText(parse(compact))).toBe(JSON.stringify(normalised))
    expect(compact).toMatchObject({
      publicKey: [{ id: '#primary' }, { id: '#recovery' }],
      authentication: ['#primary', '#recovery'],
    })
    expect(compact.proof).not.toHaveProperty('creator')
  })

  it('moves embedded keys to the others', () => {
    const [primary, recovery] = compact.publicKey as [Members, Members]
    const delegate = { id: '#delegate', controller: bob.did, publicKeyBase58: bs58.encode(quickSigner().publicKey) }
    const embedded = parse({ ...compact, publicKey: [primary], authentication: [recovery], authorization: [delegate] })
    const listed = parse({
      ...compact,
      publicKey: [delegate, recovery, primary],
      authentication: ['#recovery'],
      authorization: ['#delegate'],
    })
    expect(documentText(embedded)).toBe(documentText(listed))
    expect([...embedded.authorization.values()].map((key) => key.controller)).toEqual([bob.did])
  })

  it('leaves out empty lists, keeps empty values inside subjects and services', () => {
    const empty = { '@context': [], authentication: [], authorization: [], service: [], verifiableCredential: [] }
    const bare = ada.document({ keys: ada.plan.keys.slice(0, 1) })
    const members = JSON.parse(payloadText(bare, 'compact')) as Members
    expect(documentText(parse({ ...members, ...empty }))).toBe(documentText(bare))
    const service = { id: '#s', type: 'S', serviceEndpoint: '', list: [], map: {}, none: null }
    const document = parse({ ...compact, service: [service] })
    expect(document.signingText).toContain('"serviceEndpoint":"","list":[],"map":{},"none":null}')
  })

  it('sorts names inside subjects and services, with the subject id in front', () => {
    const deep = { z: [{ b: 1, a: { '10': 1, '9': 2 } }], id: 'x' }
    const document = parse({
      ...compact,
      verifiableCredential: [
        { ...first(compact, 'verifiableCredential'), credentialSubject: { deep, abc: 1, id: ada.did } },
      ],
      service: [{ zone: 1, deep, id: '#s', serviceEndpoint: 'e', type: 'T' }],
    })
    const sorted = '"deep":{"id":"x","z":[{"a":{"10":1,"9":2},"b":1}]}'
    expect(document.signingText).toContain(`"credentialSubject":{"id":"${ada.did}","abc":1,${sorted}}`)
    expect(document.signingText).toContain(`{"id":"${ada.did}#s","type":"T","serviceEndpoint":"e",${sorted},"zone":1}`)
  })

  it('keeps the order of @context, and writes strings with as few escapes as possible', () => {
    const document = parse({ ...compact, '@context': ['https://z.example/', 'a\u2028"\\/\u007f<é\u0001'] })
    expect(
      document.signingText.startsWith('{"@context":["https://z.example/","a\u2028\\"\\\\/\u007f<é\\u0001"],"id":'),
    ).toBe(true)
  })

  it('does not touch Unicode: what is not NFC stays as it stands', () => {
    const decomposed = 'e\u0301'
    const document = parse({ ...compact, service: [{ id: '#s', type: 'T', serviceEndpoint: decomposed }] })
    expect(document.signingText).toContain(decomposed)
  })
})

describe('what a chain refuses', () => {
  it.each([
    ['id', 1],
    ['id', undefined],
    ['expires', undefined],
    ['expires', null],
    ['publicKey', null],
    ['publicKey', {}],
    ['publicKey', ['#primary']],
    ['authentication', '#primary'],
    ['authentication', [null]],
    ['authentication', [1]],
    ['authorization', {}],
    ['service', null],
    ['service', ['x']],
    ['verifiableCredential', {}],
    ['verifiableCredential', [[]]],
    ['@context', 'https://a.example'],
    ['@context', [1]],
    ['@context', null],
    ['proof', null],
    ['proof', []],
    ['proof', [compact.proof]],
  ])('a member %s of %j', (name, value) => {
    expect(changed({ [name]: value })).toBe('document-form')
  })

  it('anything but one object', () => {
    for (const value of [[compact], null, 'x', 1]) expect(codeOf(() => parse(value))).toBe('document-form')
  })

  it('members that would stand there unsigned, in every object of fixed shape', () => {
    expect(changed({ created: '2026-01-01T00:00:00Z' })).toBe('document-member')
    expect(inFirst('publicKey', { publicKeyHex: '' })).toBe('document-member')
    expect(inFirst('verifiableCredential', { evidence: [] })).toBe('document-member')
    expect(inProofOf({ challenge: '' })).toBe('document-member')
    expect(changed({ proof: { ...(compact.proof as Members), nonce: '' } })).toBe('document-member')
    expect(inFirst('service', { anything: { goes: [1] } })).toBeUndefined()
  })

  it('controllers, in any form', () => {
    expect(changed({ controller: bob.did })).toBe('document-controller')
    expect(changed({ controller: [bob.did] })).toBe('document-controller')
    expect(changed({ controller: null })).toBe('document-form')
    expect(changed({ multisig: '1:2' })).toBe('document-form')
  })

  it('wrong types, dates, DIDs, ids', () => {
    expect(inFirst('publicKey', { type: 'Ed25519' })).toBe('document-form')
    expect(inFirst('publicKey', { type: '' })).toBe('document-form')
    expect(changed({ proof: { ...(compact.proof as Members), type: 'Other' } })).toBe('document-form')
    expect(inFirst('service', { type: '' })).toBe('document-text')
    expect(inFirst('service', { serviceEndpoint: 7 })).toBe('document-form')
    expect(inFirst('verifiableCredential', { type: ['Tÿpe'] })).toBe('document-text')
    for (const name of ['issuanceDate', 'expirationDate']) {
      expect(inFirst('verifiableCredential', { [name]: '2026-01-01' })).toBe('document-date')
    }
    expect(inFirst('verifiableCredential', { issuanceDate: undefined })).toBe('document-form')
    expect(inProofOf({ created: 'now' })).toBe('document-date')
    expect(changed({ proof: { ...(compact.proof as Members), created: '2026-02-30T00:00:00Z' } })).toBe('document-date')
    expect(changed({ id: ada.did.slice(0, -1) })).toBe('document-did')
    expect(changed({ id: ada.did.replace('ledger', 'elastos') })).toBe('document-did')
    expect(inFirst('publicKey', { controller: 'did:ledger:foobar' })).toBe('document-did')
    expect(inFirst('verifiableCredential', { issuer: 'did:ledger:foobar' })).toBe('document-did')
    expect(inFirst('publicKey', { id: 'primary' })).toBe('document-id')
    expect(inFirst('publicKey', { id: `${bob.did}#primary` })).toBe('document-id')
    expect(inFirst('publicKey', { id: '#a b' })).toBe('document-id')
    expect(inFirst('verifiableCredential', { id: `${bob.did}#profile` })).toBe('document-id')
    expect(inFirst('service', { id: '#' })).toBe('document-id')
    expect(inProofOf({ verificationMethod: 'primary' })).toBe('document-id')
  })

  it('ids that become equal when they are made absolute, whatever they name', () => {
    expect(inFirst('publicKey', { id: `${ada.did}#recovery` })).toBe('document-duplicate-id')
    expect(inFirst('service', { id: '#primary' })).toBe('document-duplicate-id')
    expect(inFirst('verifiableCredential', { id: '#hub' })).toBe('document-duplicate-id')
    const [primary, recovery] = compact.publicKey as [Members, Members]
    expect(changed({ publicKey: [primary, recovery], authentication: [recovery] })).toBe('document-duplicate-id')
  })

  it('keys that are none', () => {
    const bytes = ada.primary.publicKey
    for (const wrong of [
      bytes.subarray(0, 32),
      Uint8Array.of(...bytes, 0),
      Uint8Array.of(4, ...bytes.subarray(1)),
      Uint8Array.of(0, ...bytes),
      Uint8Array.of(0),
      Uint8Array.of(2, ...new Uint8Array(32).fill(0xff)),
    ]) {
      expect(inFirst('publicKey', { publicKeyBase58: bs58.encode(wrong) })).toBe('document-key')
    }
    for (const text of ['', '0OIl', 'z'.repeat(100_000)]) {
      expect(inFirst('publicKey', { publicKeyBase58: text })).toBe('document-key')
    }
    expect(inFirst('publicKey', { publicKeyBase58: undefined })).toBe('document-form')
  })

  it('one key under two names, an authorization key included', () => {
    const [primary] = compact.publicKey as [Members]
    const delegate = { ...primary, id: '#delegate', controller: bob.did }
    expect(changed({ authorization: [delegate] })).toBe('document-duplicate-key')
    expect(changed({ publicKey: [...(compact.publicKey as Members[]), { ...primary, id: '#again' }] })).toBe(
      'document-duplicate-key',
    )
  })

  it('a document without default key', () => {
    const [primary, recovery] = compact.publicKey as [Members, Members]
    expect(changed({ publicKey: [recovery], authentication: ['#recovery'] })).toBe('document-default-key')
    expect(changed({ publicKey: undefined, authentication: undefined })).toBe('document-default-key')
    // Under another controller the right bytes are not the DID's own key.
    expect(changed({ publicKey: [{ ...primary, controller: bob.did }, recovery], authentication: ['#recovery'] })).toBe(
      'document-default-key',
    )
    // The older identifier of the same key is another DID.
    const older = didFromPublicKey(ada.primary.publicKey, { method: 'ledger', legacy: true })
    expect(changed({ id: older })).toBe('document-default-key')
  })

  it('references to nothing, twice, or to a key of the wrong controller', () => {
    expect(changed({ authentication: ['#nobody'] })).toBe('document-reference')
    expect(changed({ authentication: ['#hub'] })).toBe('document-reference')
    expect(changed({ authentication: ['recovery'] })).toBe('document-reference')
    expect(changed({ authentication: [`${bob.did}#recovery`] })).toBe('document-reference')
    expect(changed({ authentication: ['#recovery', '#recovery'] })).toBe('document-reference')
    expect(changed({ authorization: ['#recovery'] })).toBe('document-reference')
    expect(changed({ authorization: ['#primary'] })).toBe('document-reference')
    const delegate = { id: '#delegate', controller: bob.did, publicKeyBase58: bs58.encode(bob.primary.publicKey) }
    expect(changed({ authorization: [delegate] })).toBeUndefined()
    expect(changed({ authentication: [delegate] })).toBe('document-reference')
    expect(changed({ authorization: [delegate, '#delegate'] })).toBe('document-reference')
    expect(changed({ authorization: [delegate], authentication: ['#delegate'] })).toBe('document-reference')
    expect(changed({ publicKey: [...(compact.publicKey as Members[]), delegate] })).toBeUndefined()
  })

  it('signatures in any other writing', () => {
    const proof = compact.proof as { signatureValue: string }
    for (const signatureValue of [
      `${proof.signatureValue}==`,
      proof.signatureValue.slice(1),
      '',
      `${'A'.repeat(85)}B`,
    ]) {
      expect(changed({ proof: { ...proof, signatureValue } })).toBe('did-signature-form')
      expect(inProofOf({ signature: signatureValue })).toBe('did-signature-form')
    }
    expect(changed({ proof: {} })).toBe('document-form')
    expect(inFirst('verifiableCredential', { proof: undefined })).toBe('document-form')
  })

  it('a proof by anything but the default key', () => {
    const proof = compact.proof as Members
    expect(changed({ proof: { ...proof, creator: `${ada.did}#primary` } })).toBeUndefined()
    for (const creator of ['#recovery', 'primary', '', `${bob.did}#primary`]) {
      expect(changed({ proof: { ...proof, creator } })).toBe('document-proof-creator')
    }
    expect(changed({ proof: { ...proof, created: undefined } })).toBeUndefined()
  })

  it('credentials without type, about somebody else, or by a key of nobody', () => {
    for (const type of [[], ['A', 'A'], undefined])
      expect(inFirst('verifiableCredential', { type })).toBe('credential-type')
    expect(inFirst('verifiableCredential', { type: 'A' })).toBeUndefined()
    expect(inFirst('verifiableCredential', { type: '' })).toBe('document-text')
    expect(inFirst('verifiableCredential', { credentialSubject: { id: bob.did } })).toBe('credential-subject')
    expect(inFirst('verifiableCredential', { credentialSubject: { id: null } })).toBe('document-form')
    expect(inFirst('verifiableCredential', { credentialSubject: [] })).toBe('document-form')
    expect(inProofOf({ verificationMethod: `${bob.did}#primary` })).toBe('credential-key')
    expect(inProofOf({ nonce: 'n', realm: 'r' })).toBeUndefined()
    expect(inProofOf({ nonce: 1 })).toBe('document-form')
  })

  it('more entries than the limit, wherever the keys stand', () => {
    const delegate = { id: '#delegate', controller: bob.did, publicKeyBase58: bs58.encode(bob.primary.publicKey) }
    const members = { ...compact, authorization: [delegate] }
    expect(codeOf(() => parse(members, { ...chain, limitEntries: entryLimit(5) }))).toBeUndefined()
    expect(codeOf(() => parse(members, { ...chain, limitEntries: entryLimit(4) }))).toBe('document-entries')
  })

  it('bytes that are not UTF-8, and a byte order mark', () => {
    const bytes = fromUtf8(JSON.stringify(compact))
    expect(codeOf(() => parseDocumentBytes(Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes), chain))).toBe('json-syntax')
    expect(codeOf(() => parseDocumentBytes(Uint8Array.of(...bytes, 0xc0, 0x80), chain))).toBe('json-utf8')
    expect(codeOf(() => parseDocumentBytes(Uint8Array.of(0xed, 0xa0, 0x80), chain))).toBe('json-utf8')
  })
})

describe('any document that can be built', () => {
  const signers = Array.from({ length: 4 }, quickSigner)
  const agreementKeys = [
    multikeyText({ curve: 'X25519', publicKey: new Uint8Array(32).fill(9) }),
    multikeyText({ curve: 'P-256', publicKey: quickSigner().publicKey }),
  ]
  const canonicalText = (value: unknown) =>
    canonicalJson(parseStrictJson(JSON.stringify(value), { depth: 16, tokens: 1000 }))
  const fragment = fc.string({
    unit: fc.constantFrom(..."abzAZ09._:@!$'()*+,;=~-".split('')),
    minLength: 1,
    maxLength: 6,
  })
  // The builder brings all text into NFC, where two names of one object must not meet.
  const anyText = fc
    .string({ unit: 'grapheme', maxLength: 6 })
    .filter((text) => !text.includes('\0'))
    .map((text) => text.normalize('NFC'))
  const anyName = anyText.filter(
    (name) => !['__proto__', 'constructor', 'prototype', 'id', 'type', 'serviceEndpoint'].includes(name),
  )
  const anyValue = fc.jsonValue({ maxDepth: 3, noUnicodeString: true }).filter((value) => {
    return codeOf(() => parseStrictJson(JSON.stringify(value), { depth: 16, tokens: 1000 })) === undefined
  })
  const map = fc.dictionary(anyName, anyValue, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
  const one = fc.oneof(anyText, map)
  const list = fc.uniqueArray(one, { minLength: 1, maxLength: 4, selector: (value) => canonicalText(value) })
  const endpoint = fc.oneof(one, list)
  const plan = fc.record({
    names: fc.uniqueArray(fragment, { minLength: 14, maxLength: 14 }),
    endpoints: fc.array(endpoint, { minLength: 3, maxLength: 3 }),
    agreement: fc.subarray(agreementKeys),
    alsoKnownAs: fc.subarray(['https://example.org/ada', 'did:example:ada', 'urn:uuid:1', 'mailto:ada@example.org']),
    uses: fc.array(fc.constantFrom('authentication', 'authorization', 'none'), { minLength: 4, maxLength: 4 }),
    keys: fc.nat(4),
    services: fc.array(fc.dictionary(anyName, anyValue, { maxKeys: 3, noNullPrototype: true }), { maxLength: 3 }),
    claims: fc.array(fc.dictionary(anyName, anyValue, { maxKeys: 3, noNullPrototype: true }), { maxLength: 2 }),
    context: fc.array(anyText, { maxLength: 2 }),
    types: fc.uniqueArray(fragment, { minLength: 1, maxLength: 3 }),
  })
  const unsigned = () => new Uint8Array(64)
  const built = plan.map(
    ({ names, uses, keys, services, claims, context, types, endpoints, agreement, alsoKnownAs }) => {
      const name = (index: number) => names[index] as string
      const more = signers.slice(0, keys).map((key, index): PlannedKey => {
        const use = uses[index]
        if (use === 'authorization') return authorizationKey(name(index), key, bob.did)
        return { ...authenticationKey(name(index), key), use: use ?? 'none' }
      })
      const proof = { verificationMethod: '#primary', signature: 'A'.repeat(86) }
      return buildDocument(
        {
          ...ada.plan,
          context,
          alsoKnownAs,
          keyAgreement: agreement.map((publicKeyMultibase, index) => ({
            fragment: name(12 + index),
            publicKeyMultibase,
          })),
          keys: [{ fragment: name(11), publicKey: ada.primary.publicKey, use: 'none' }, ...more],
          services: services.map((members, index) => ({
            ...members,
            id: `#${name(4 + index)}`,
            type: types[0],
            serviceEndpoint: endpoints[index],
          })),
          credentials: claims.map((members, index) => ({
            id: `#${name(7 + index)}`,
            type: types,
            issuer: index === 0 ? ada.did : bob.did,
            issuanceDate: '2026-01-01T00:00:00Z',
            credentialSubject: members,
            proof,
          })),
        },
        unsigned,
      )
    },
  )

  it('has a canonical text that is a fixed point, from either form and from any order of members', () => {
    fc.assert(
      fc.property(built, fc.infiniteStream(fc.integer()), (document, numbers) => {
        const text = documentText(document)
        const read = (json: string) => parseDocumentBytes(fromUtf8(json), chain)
        expect(documentText(read(text))).toBe(text)
        expect(read(text).signingText).toBe(document.signingText)
        expect(documentText(read(payloadText(document, 'compact')))).toBe(text)
        expect(documentText(read(shuffled(JSON.parse(text), numbers)))).toBe(text)
        expect(documentText(buildDocument(planOf(document, 'ledger', '2026-01-01T00:00:00Z'), unsigned))).toBe(text)
      }),
      { numRuns: rounds(200, 1000) },
    )
  })

  /** The JSON text of a document with its members, and its lists of ids, in another order. */
  function shuffled(document: Members, numbers: Iterator<number>): string {
    const mixed = <T>(items: T[]) =>
      items
        .map((item) => [numbers.next().value as number, item] as const)
        .sort(([a], [b]) => a - b)
        .map(([, item]) => item)
    const members = Object.entries(document).map(([name, value]) => {
      const list = Array.isArray(value) && name !== '@context' ? mixed(value) : value
      return `${JSON.stringify(name)} : ${JSON.stringify(list, undefined, 1)}`
    })
    return `{${mixed(members).join(' ,')}}`
  }

  it('is refused when its payload is cut short, anywhere', () => {
    const { payload } = ada.create({ credentials: [ada.issue(ada.did)] })
    const operation = buildCreate(base, { specification, verificationMethod: '#primary' }, signer(ada.primary))
    for (let length = 0; length < payload.length; length++) {
      expect(codeOf(() => parseOperation({ ...operation, payload: payload.slice(0, length) }, didRules))).toMatch(
        /^(did-payload-encoding|json-)/,
      )
    }
    const bytes = decodeBase64url(payload) as Uint8Array
    for (let length = 1; length < bytes.length; length++) {
      const cut = encodeBase64url(bytes.subarray(0, length))
      expect(codeOf(() => parseOperation({ ...operation, payload: cut }, didRules))).toMatch(/^json-/)
    }
  })
})
