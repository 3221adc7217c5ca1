import { mapKey, ownText } from '../../base/primitives/bytes.js'
import { sha256 } from '../../base/primitives/hash.js'

/** Kind of a token: its first byte. Numbers are stored and never change. */
export const tokenKind = {
  everything: 0,
  serviceType: 1,
  credentialType: 2,
  issuer: 3,
  claimName: 4,
  claimValue: 5,
  publicKey: 6,
  controller: 7,
  expiryMonth: 8,
  overflow: 9,
} as const
export type TokenKind = (typeof tokenKind)[keyof typeof tokenKind]

/**
 * A token as {@link mapKey} writes bytes: kind u8, then the first 16 (claim values and public keys: 10) bytes of
 * sha256(kind ‖ text).
 */
export type Token = string

/** Bytes of the digest in most tokens, and in those of kinds that have a token of their own for almost every document. */
const digestBytes = 16
const shortDigestBytes = 10

/**
 * Bytes in UTF-8 of the longest text whose value has a token.
 * @limit bytes: text of a credential's claim that a search finds by its value
 */
export const claimTextBytes = 256

/** Tokens of names that many documents share, computed once. Emptied when it is full. */
const known = new Map<string, Token>()
const knownAtMost = 8192

/** The token of a text; for kinds without text it is ''. */
export function tokenOf(kind: TokenKind, text: string): Token {
  const source = String.fromCharCode(kind) + text
  if (isShort(kind)) return digestOf(source, shortDigestBytes)
  const kept = known.get(source)
  if (kept !== undefined) return kept
  const token = digestOf(source, digestBytes)
  if (known.size >= knownAtMost) known.clear()
  // A long text is not worth its memory.
  if (source.length <= claimTextBytes) known.set(source, token)
  return token
}

function digestOf(source: string, bytes: number): Token {
  // Tokens are kept for long: a substring retains its parent string.
  return ownText((source[0] as string) + mapKey(sha256(source)).slice(0, bytes))
}

function isShort(kind: TokenKind): boolean {
  return kind === tokenKind.claimValue || kind === tokenKind.publicKey
}

/** The kind of a token. */
export function kindOf(token: Token): TokenKind {
  return token.charCodeAt(0) as TokenKind
}

const overflowing: ReadonlySet<TokenKind> = new Set([
  tokenKind.credentialType,
  tokenKind.claimName,
  tokenKind.claimValue,
])

/** Whether a document may have more tokens of that kind than the index has of it. */
export function mayOverflow(token: Token): boolean {
  return overflowing.has(kindOf(token))
}

/** Whether the number of documents with a token is kept: not where almost every document has one of its own. */
export function isCounted(token: Token): boolean {
  const kind = kindOf(token)
  return !isShort(kind) && kind !== tokenKind.expiryMonth
}

/** The token of a claim's value, a scalar of JSON; undefined for a text that is too long. */
export function claimValueToken(name: string, value: null | boolean | number | string): Token | undefined {
  if (typeof value === 'string' && isLong(value)) return undefined
  return tokenOf(tokenKind.claimValue, `${name}\0${JSON.stringify(value)}`)
}

function isLong(text: string): boolean {
  return text.length > claimTextBytes || Buffer.byteLength(text) > claimTextBytes
}

/** The token of documents that expire in a month, `YYYY-MM`. */
export function monthToken(month: string): Token {
  return tokenOf(tokenKind.expiryMonth, month)
}

/** The token that every document has. */
export const everythingToken = tokenOf(tokenKind.everything, '')
/** The token of documents that have too many claims for the index: its elements are kinds of tokens. */
export const overflowToken = tokenOf(tokenKind.overflow, '')
