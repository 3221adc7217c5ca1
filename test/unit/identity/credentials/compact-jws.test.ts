import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { verify } from '../../../../src/base/crypto/verify.js'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import { isJwt, keyOfHeader, makeJws, optionalTime, readJws } from '../../../../src/identity/credentials/compact-jws.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { runs } from '../../../support/builders/arbitraries.js'
import { didRules, holder, signer } from '../../../support/builders/did.js'

const ada = holder()
const rules = { method: didRules.method, chain: true }
const key = `${ada.did}#primary`
const sign = signer(ada.primary)
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
/** A signed JWT with these texts as header and payload. */
const signed = (header: string, payload: string) =>
  `${header}.${payload}.${Buffer.from(sign(`${header}.${payload}`)).toString('base64url')}`

describe('a JWT', () => {
  it('of any claims is read as it was made, and its signature holds', () => {
    const claims = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.oneof(fc.integer(), fc.boolean(), fc.stringMatching(/^[ -~]*$/)),
    )
    fc.assert(
      fc.property(claims, (payload) => {
        const jws = readJws(makeJws(payload, key, sign, { typ: 'JWT' }))
        expect(Object.fromEntries(jws.payload)).toEqual({ ...payload })
        expect(Object.fromEntries(jws.header)).toEqual({ alg: 'ES256', typ: 'JWT', kid: key })
        expect(verify(ada.primary.publicKey, fromUtf8(jws.signedText), jws.signature)).toBe(true)
      }),
      runs,
    )
  })

  it.each([
    ['another algorithm', { alg: 'ES384' }],
    ['no algorithm', { alg: 'none' }],
    ['no member alg', {}],
    ['an algorithm that is no text', { alg: 1 }],
    ['a critical extension', { alg: 'ES256', crit: ['exp'] }],
    ['a payload that is not encoded', { alg: 'ES256', b64: false }],
    ['a key of its own', { alg: 'ES256', jwk: { kty: 'EC' } }],
    ['an address of keys', { alg: 'ES256', jku: 'https://example.org' }],
  ])('with %s is refused', (_, header) => {
    expect(codeOf(() => readJws(signed(encode(header), encode({}))))).toMatch(/^document-/)
  })

  it.each([
    ['two parts', 'a.b', 'document-form'],
    ['a payload that is no object', signed(encode({ alg: 'ES256' }), encode([])), 'document-form'],
    [
      'a name twice',
      signed(encode({ alg: 'ES256' }), Buffer.from('{"a":1,"a":2}').toString('base64url')),
      'json-duplicate-name',
    ],
    [
      'bytes that are no UTF-8',
      signed(encode({ alg: 'ES256' }), Buffer.from([0x22, 0xff, 0x22]).toString('base64url')),
      'document-form',
    ],
    ['bits beyond the last byte', `${encode({ alg: 'ES256' })}.${encode({})}.${'A'.repeat(85)}B`, 'did-signature-form'],
    ['padding', `${makeJws({}, key, sign)}==`, 'document-form'],
  ])('with %s is refused', (_, text, code) => {
    expect(codeOf(() => readJws(text))).toBe(code)
  })

  it('names a key of the DID that signs, in full or by its name, or none', () => {
    const withKey = (kid: unknown) => readJws(signed(encode({ alg: 'ES256', kid }), encode({})))
    expect(keyOfHeader(withKey(key), ada.did, rules)).toBe(key)
    expect(keyOfHeader(withKey('#primary'), ada.did, rules)).toBe(key)
    expect(keyOfHeader(withKey(undefined), ada.did, rules)).toBeUndefined()
    expect(codeOf(() => keyOfHeader(withKey(`${holder().did}#primary`), ada.did, rules))).toBe('credential-key')
    expect(codeOf(() => keyOfHeader(withKey('primary'), ada.did, rules))).toBe('credential-key')
  })

  it('has times in seconds', () => {
    const at = (value: unknown) =>
      optionalTime(readJws(signed(encode({ alg: 'ES256' }), encode({ exp: value }))).payload, 'exp')
    expect(at(1.5)).toBe(1)
    expect(at(253_402_300_799)).toBe(253_402_300_799)
    expect(at(undefined)).toBeUndefined()
    for (const wrong of [-1, 253_402_300_800, '1', null]) expect(codeOf(() => at(wrong))).toBe('document-date')
  })

  it('has a form that JSON never has', () => {
    expect(isJwt(makeJws({}, key, sign))).toBe(true)
    expect(isJwt('{}')).toBe(false)
  })

  it('that is damaged is still one to be read, and says what is wrong with it', () => {
    const text = makeJws({}, key, sign)
    for (const [damaged, fault] of [
      [`${text.slice(0, 60)}\n${text.slice(60)}`, '"\\n" at character 61 is none of base64url'],
      [`${text}=`, `"=" at character ${text.length + 1} is none of base64url`],
      [text.replace(/\.[^.]*$/, ''), 'three parts of base64url are needed'],
    ] as const) {
      expect(isJwt(damaged)).toBe(true)
      expect(() => readJws(damaged)).toThrow(`the text is no JWT: ${fault}`)
    }
    expect(isJwt(`${text}=`.slice(1))).toBe(false)
  })
})
