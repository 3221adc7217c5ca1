import { createPrivateKey, createPublicKey } from 'node:crypto'
import bs58 from 'bs58'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatPrivateKey,
  formatPublicKey,
  type Jwk,
  type KeyInput,
  keyForms,
  readPrivateKey,
  readPublicKey,
} from '../../../../src/base/crypto/key-forms.js'
import { isPrivateKey, publicKeyOf } from '../../../../src/base/crypto/keys.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { bytes, runs } from '../../../support/builders/arbitraries.js'

const privateKey = bytes(32).filter(isPrivateKey)
const secret = hex('0b'.repeat(32))
const point = publicKeyOf(secret)
const jwk = (changes: object = {}) => ({ ...JSON.parse(formatPrivateKey(secret, 'jwk')), ...changes }) as Jwk
const publicJwk = (changes: object = {}) => ({ ...JSON.parse(formatPublicKey(point, 'jwk')), ...changes }) as Jwk

function faultOf(read: (input: KeyInput) => unknown, input: unknown): string {
  try {
    read(input as KeyInput)
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
  return 'read'
}

describe('keys in the forms of other tools', () => {
  it('are the same after every form', () => {
    fc.assert(
      fc.property(privateKey, (key) => {
        const publicKey = publicKeyOf(key)
        for (const form of keyForms) {
          expect(toHex(readPrivateKey(formatPrivateKey(key, form)))).toBe(toHex(key))
          expect(toHex(readPublicKey(formatPublicKey(publicKey, form)))).toBe(toHex(publicKey))
        }
      }),
      runs,
    )
  })

  it('are what Node reads, and what it writes', () => {
    fc.assert(
      fc.property(privateKey, (key) => {
        const node = createPrivateKey(formatPrivateKey(key, 'pem'))
        const nodePublic = createPublicKey(formatPublicKey(publicKeyOf(key), 'pem'))
        expect(node.export({ format: 'jwk' })).toEqual(JSON.parse(formatPrivateKey(key, 'jwk')))
        expect(nodePublic.export({ format: 'jwk' })).toEqual(JSON.parse(formatPublicKey(publicKeyOf(key), 'jwk')))
        expect(toHex(readPrivateKey(node.export({ format: 'pem', type: 'sec1' }) as string))).toBe(toHex(key))
        expect(toHex(readPrivateKey(node.export({ format: 'der', type: 'pkcs8' })))).toBe(toHex(key))
        expect(toHex(readPrivateKey(node.export({ format: 'jwk' }) as unknown as Jwk))).toBe(toHex(key))
        expect(toHex(readPublicKey(nodePublic.export({ format: 'der', type: 'spki' })))).toBe(toHex(publicKeyOf(key)))
      }),
      { ...runs, numRuns: 50 },
    )
  })

  it('are read with 0x, in capitals, with white space around, unpadded and as uncompressed points', () => {
    const uncompressed = `04${Buffer.from(publicJwk().x as string, 'base64url').toString('hex')}${Buffer.from(publicJwk().y as string, 'base64url').toString('hex')}`
    for (const text of [`0x${toHex(point)}`, ` ${toHex(point).toUpperCase()}\n`, uncompressed, `0X${uncompressed}`]) {
      expect(readPublicKey(text)).toEqual(point)
    }
    expect(readPublicKey(bs58.encode(hex(uncompressed)))).toEqual(point)
    expect(readPublicKey(publicJwk())).toEqual(point)
    expect(readPublicKey(formatPublicKey(point, 'pem').replaceAll('\n', '\r\n'))).toEqual(point)
    expect(readPrivateKey(`0x${toHex(secret)}`)).toEqual(new Uint8Array(secret))
    expect(readPrivateKey(formatPrivateKey(secret, 'der').replace(/=+$/, ''))).toEqual(new Uint8Array(secret))
    expect(readPrivateKey(formatPrivateKey(secret, 'der').replace(/.{76}/g, '$&\r\n'))).toEqual(new Uint8Array(secret))
    expect(readPublicKey(toHex(point).replace(/.{8}/g, '$& '))).toEqual(point)
    expect(readPrivateKey({ ...jwk(), x: undefined, y: undefined } as unknown as Jwk)).toEqual(new Uint8Array(secret))
  })

  it.each<[string, unknown, string]>([
    ['nothing', '', 'it is empty'],
    ['no text', undefined, 'it is no text'],
    ['a number', 5, 'it is no text'],
    ['words', 'not a key', 'it has none of the known forms'],
    ['base58 in words', bs58.encode(secret).replace(/.{5}/, '$& '), 'it has none of the known forms'],
    ['too few hex digits', 'ab'.repeat(31), 'it has 62 hex digits; a private key has 64'],
    ['an odd number of hex digits', `${'ab'.repeat(33)}a`, 'it has 67 hex digits'],
    ['base58 of another length', bs58.encode(Buffer.alloc(31, 7)), 'it is base58 of 31 bytes'],
    ['a long text', 'M'.repeat(16_385), 'it is longer than 16384 characters'],
    ['an x without a point', `02${'ff'.repeat(32)}`, 'it is no point of P-256'],
    ['another first byte', `05${'11'.repeat(32)}`, 'it is no point of P-256'],
    ['another y', `04${toHex(point).slice(2)}${'00'.repeat(32)}`, 'its y is not that of its x'],
    ['zero', '00'.repeat(32), 'it is no private key of P-256'],
    ['the order', 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'it is no private key'],
    ['other bytes', new Uint8Array(5), 'it has 5 bytes'],
    ['a cut PEM', formatPublicKey(point, 'pem').slice(0, -40), 'its PEM has no end'],
    ['a PEM with characters missing', formatPublicKey(point, 'pem').replace('MFkw', ''), 'its PEM holds no key'],
    ['binary', '0\ufffdw', 'it is no text; "openssl pkey -inform DER'],
    ['no JSON', '{"kty":', 'it begins as a JWK but is no strict JSON'],
    [
      'a JWK with a member twice',
      formatPublicKey(point, 'jwk').replace('{', '{"x":"AA",'),
      'as JWK it has a member twice',
    ],
    [
      'a JWK with a number that is written in two ways',
      formatPublicKey(point, 'jwk').replace('{', '{"exp":1.0,'),
      'it begins as a JWK but is no strict JSON',
    ],
    ['another kty', publicJwk({ kty: 'OKP' }), 'as JWK it has kty OKP, where EC is needed'],
    ['another curve', publicJwk({ crv: 'P-384' }), 'as JWK it has crv P-384, where P-256 is needed'],
    ['no x', publicJwk({ x: undefined }), 'as JWK its x is not base64url of 32 bytes'],
    [
      'a mistyped digit',
      `g${'a0'.repeat(32)}`.slice(0, 64),
      'it has none of the known forms; as hex, "g" at character 1',
    ],
    ['a short d', jwk({ d: 'AAAA' }), 'as JWK its d is not base64url of 32 bytes'],
    ['a point of another key', jwk({ d: Buffer.alloc(32, 3).toString('base64url') }), 'the public key in it is not'],
  ])('are refused as %s', (_, input, fault) => {
    expect(faultOf((key) => readPrivateKey(key, 'the given key'), input)).toMatch(
      new RegExp(`^the given key cannot be read: ${fault.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`),
    )
  })

  it('are refused as private where public ones are needed, and the reverse, without a part of them', () => {
    for (const form of keyForms) {
      const text = formatPrivateKey(secret, form)
      const said = faultOf(readPublicKey, text)
      expect(said).toMatch(/^the key is a private key, and a public one is needed/)
      expect(said).not.toContain(text.slice(0, 8))
      const other = faultOf(readPrivateKey, formatPublicKey(point, form))
      expect(other).toBe('the key is a public key, and the private one is needed here')
    }
  })

  it('never crash a reader, nor show themselves, whatever is damaged', () => {
    const texts = keyForms.flatMap((form) => [formatPrivateKey(secret, form), formatPublicKey(point, form)])
    const damaged = fc
      .tuple(fc.constantFrom(...texts), fc.nat(), fc.string({ maxLength: 3 }))
      .map(([text, at, put]) => {
        const place = at % text.length
        return text.slice(0, place) + put + text.slice(place + 1)
      })
    fc.assert(
      fc.property(fc.oneof(damaged, fc.string(), bytes(0, 140)), (input) => {
        for (const read of [readPublicKey, readPrivateKey]) {
          const said = faultOf(read, input)
          expect(said).not.toContain(toHex(secret).slice(0, 12))
          if (typeof input === 'string' && input.length > 30) expect(said).not.toContain(input.slice(8, 24))
        }
      }),
      { ...runs, numRuns: 1000 },
    )
  })
})
