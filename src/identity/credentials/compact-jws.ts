import { fromUtf8, utf8 } from '../../base/primitives/bytes.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { type JsonObject, parseStrictJson } from '../../base/primitives/strict-json.js'
import { decodeBase64url, decodeSignature, encodeBase64url } from '../did/base64url.js'
import type { Sign } from '../did/build.js'
import { documentJsonLimits } from '../did/document.js'
import { absoluteId, didPart, type IdRules } from '../did/identifier.js'
import { optionalText, requiredText } from '../did/member-readers.js'

/** A JSON Web Signature in compact form (RFC 7515 §7.1) by a P-256 key, `ES256` of RFC 7518 §3.4: r‖s over SHA-256. */
export interface CompactJws {
  readonly header: JsonObject
  readonly payload: JsonObject
  /** The ASCII text that is signed: header and payload in base64url, a dot between them. */
  readonly signedText: string
  /** 64 bytes. */
  readonly signature: Uint8Array
}

/**
 * Three credentials of the longest payload that a chain takes fit in.
 * @limit characters: a JWT of a credential or a presentation
 */
export const maxJwtLength = 1024 * 1024

const form = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

/** Whether a text is to be read as a JWT; it can still be none. One that is damaged begins as the base64url of `{"` does, and as no JSON. */
export function isJwt(text: string): boolean {
  return text.startsWith('ey') || form.test(text)
}

/** The compact form of a payload; `key` is the absolute id of the key that signs. */
export function makeJws(payload: object, key: string, sign: Sign, header: object = {}): string {
  const text = [{ alg: 'ES256', ...header, kid: key }, payload].map((part) => encodeJson(part)).join('.')
  return `${text}.${encodeBase64url(sign(text))}`
}

function encodeJson(value: object): string {
  return encodeBase64url(fromUtf8(JSON.stringify(value)))
}

/**
 * Reads the compact form. The algorithm is `ES256`, whatever else the header wishes; `crit`, which asks for extensions, is refused, and so is
 * a key inside of the header. Throws a {@link RuleError}; verifies nothing.
 */
export function readJws(text: string): CompactJws {
  if (text.length > maxJwtLength)
    throw new RuleError('document-form', `the JWT has more than ${maxJwtLength} characters`)
  const strange = text.search(/[^\w.-]/)
  if (strange >= 0)
    throw noJwt(`${JSON.stringify(text.charAt(strange))} at character ${strange + 1} is none of base64url`)
  if (!form.test(text)) throw noJwt('three parts of base64url are needed')
  const parts = text.split('.') as [string, string, string]
  const header = jsonPart(parts[0], 'the header of the JWT')
  const algorithm = requiredText(header, 'alg', 'header')
  if (algorithm !== 'ES256') throw new RuleError('document-form', `header.alg is not ES256: ${algorithm.slice(0, 40)}`)
  for (const name of ['crit', 'b64', 'jwk', 'x5c', 'jku', 'x5u']) {
    if (header.has(name)) throw new RuleError('document-member', `header.${name} is not supported`)
  }
  const signature = decodeSignature(parts[2])
  if (signature === undefined) {
    throw new RuleError(
      'did-signature-form',
      'the signature of the JWT is not 86 characters of base64url with zero end bits',
    )
  }
  const payload = jsonPart(parts[1], 'the payload of the JWT')
  return { header, payload, signedText: `${parts[0]}.${parts[1]}`, signature }
}

function noJwt(fault: string): RuleError {
  return new RuleError('document-form', `the text is no JWT: ${fault}`)
}

function jsonPart(part: string, what: string): JsonObject {
  const bytes = decodeBase64url(part)
  const text = bytes && utf8(bytes)
  if (text === undefined) throw new RuleError('document-form', `${what} is no base64url of UTF-8`)
  const value = parseStrictJson(text, documentJsonLimits)
  if (value instanceof Map) return value
  throw new RuleError('document-form', `${what} is no object`)
}

/** The absolute id of the key that the header names, one of `did`; undefined if it names none. */
export function keyOfHeader({ header }: CompactJws, did: string, rules: IdRules): string | undefined {
  const kid = optionalText(header, 'kid', 'header')
  if (kid === undefined) return undefined
  const id = absoluteId(kid, did, rules)
  if (id !== undefined && didPart(id) === did) return id
  throw new RuleError('credential-key', `header.kid names no key of ${did}: ${kid.slice(0, 200)}`)
}

/** A NumericDate of RFC 7519 §2, in whole Unix seconds; undefined if it is not there. */
export function optionalTime(payload: JsonObject, name: string): number | undefined {
  const value = payload.get(name)
  if (value === undefined) return undefined
  if (typeof value === 'number' && value >= 0 && value < latest) return Math.floor(value)
  throw new RuleError('document-date', `${name} is no time in seconds from 1970 to 9999`)
}

/** Seconds of the first moment of the year 10000. */
const latest = 253_402_300_800
