import { UserError } from '../errors/rule-error.js'
import { concat, equalBytes, hex, toHex } from '../primitives/bytes.js'
import { coordinatesOf } from '../primitives/p256.js'
import { derElement, derElements, type DerElement, derTag } from './der.js'
import { isPrivateKey, publicKeyOf } from './keys.js'

/** Keys of P-256 in DER: PKCS #8 and SEC 1 for private ones, SubjectPublicKeyInfo for public ones. Runs in web pages. */

/** A key as a text holds it: with the private key, or the public one alone. */
export type FoundKey =
  | { readonly privateKey: Uint8Array; readonly publicKey?: never }
  | { readonly publicKey: Uint8Array; readonly privateKey?: never }

/** Contents of the names (object identifiers) of what a key can be. */
const ecName = '2a8648ce3d0201'
const curveName = '2a8648ce3d030107'
const names: Readonly<Record<string, string>> = {
  '2b8104000a': 'secp256k1',
  '2b81040021': 'P-224',
  '2b81040022': 'P-384',
  '2b81040023': 'P-521',
  '2a864886f70d010101': 'RSA',
  '2b6570': 'Ed25519',
  '2b656e': 'X25519',
  '2b6571': 'Ed448',
}

/** The key in the DER of a PKCS #8, SEC 1 or SubjectPublicKeyInfo file; undefined for other bytes. A {@link UserError} for another curve. */
export function keyOfDer(bytes: Uint8Array): FoundKey | undefined {
  const outer = elementsIn(derElements(bytes), derTag.sequence)
  const [first, second, third] = outer ?? []
  if (first?.tag === derTag.sequence && second?.tag === derTag.bits) {
    requireCurve(derElements(first.content))
    // The first byte counts the bits that are unused in the last one.
    if (second.content[0] !== 0) return undefined
    return { publicKey: publicKeyOfPoint(second.content.subarray(1)) }
  }
  if (first?.tag !== derTag.integer) return undefined
  if (second?.tag === derTag.sequence && third?.tag === derTag.octets) {
    requireCurve(derElements(second.content))
    return privateKeyOf(elementsIn(derElements(third.content), derTag.sequence))
  }
  return second?.tag === derTag.octets ? privateKeyOf(outer) : undefined
}

/** PKCS #8 with the public key inside, as OpenSSL writes it. */
export function pkcs8(privateKey: Uint8Array): Uint8Array {
  const { sequence, integer, octets, point, bits } = derTag
  const publicKey = derElement(point, derElement(bits, Uint8Array.of(0), uncompressed(publicKeyOf(privateKey))))
  const inner = derElement(sequence, derElement(integer, Uint8Array.of(1)), derElement(octets, privateKey), publicKey)
  return derElement(sequence, derElement(integer, Uint8Array.of(0)), algorithm(), derElement(octets, inner))
}

/** The SubjectPublicKeyInfo of a compressed public key, the point uncompressed, as OpenSSL writes it. */
export function publicKeyInfo(publicKey: Uint8Array): Uint8Array {
  const point = derElement(derTag.bits, Uint8Array.of(0), uncompressed(publicKey))
  return derElement(derTag.sequence, algorithm(), point)
}

/** The compressed form of a public key, 33 or 65 bytes. A {@link UserError} for bytes that are no point of P-256. */
export function publicKeyOfPoint(bytes: Uint8Array): Uint8Array {
  const compressed = bytes.length === 65 && bytes[0] === 4 ? compressedOf(bytes) : bytes
  const found = coordinatesOf(compressed)
  if (found === undefined) throw new UserError('it is no point of P-256')
  if (bytes.length === 65 && !equalBytes(found.y, bytes.subarray(33))) {
    throw new UserError('its y is not that of its x: it is no point of P-256')
  }
  return new Uint8Array(compressed)
}

/** 65 bytes: 4, x, y. */
export function uncompressed(publicKey: Uint8Array): Uint8Array {
  const found = coordinatesOf(publicKey)
  if (found === undefined) throw new UserError('it is no point of P-256')
  return concat(Uint8Array.of(4), found.x, found.y)
}

/** A private key, whose public one may stand beside it. A {@link UserError} for a number out of range, or two keys that do not belong together. */
export function privateKeyWith(privateKey: Uint8Array, point: Uint8Array | undefined): FoundKey {
  if (!isPrivateKey(privateKey)) throw new UserError('it is no private key of P-256: the number is zero, or too large')
  if (point !== undefined && !equalBytes(publicKeyOfPoint(point), publicKeyOf(privateKey))) {
    throw new UserError('the public key in it is not that of its private key')
  }
  return { privateKey: new Uint8Array(privateKey) }
}

function compressedOf(bytes: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(2 + ((bytes[64] as number) & 1)), bytes.subarray(1, 33))
}

function algorithm(): Uint8Array {
  return derElement(derTag.sequence, derElement(derTag.name, hex(ecName)), derElement(derTag.name, hex(curveName)))
}

/** The elements of the one element that a list consists of, if it has the tag. */
function elementsIn(elements: readonly DerElement[] | undefined, tag: number): DerElement[] | undefined {
  const [only, other] = elements ?? []
  return only?.tag === tag && other === undefined ? derElements(only.content) : undefined
}

/** The key in an ECPrivateKey, whose number some programs write without its leading zeros. */
function privateKeyOf(elements: readonly DerElement[] | undefined): FoundKey | undefined {
  const [version, number, ...more] = elements ?? []
  if (version?.tag !== derTag.integer || number?.tag !== derTag.octets || number.content.length > 32) return undefined
  const named = more.find(({ tag }) => tag === derTag.curve)
  if (named !== undefined) requireCurveName(derElements(named.content)?.[0])
  const point = derElements(more.find(({ tag }) => tag === derTag.point)?.content ?? new Uint8Array())?.[0]
  const padded = concat(new Uint8Array(32 - number.content.length), number.content)
  return privateKeyWith(padded, point?.tag === derTag.bits ? point.content.subarray(1) : undefined)
}

function requireCurve(elements: readonly DerElement[] | undefined): void {
  const [kind, curve] = elements ?? []
  if (kind?.tag !== derTag.name) throw new UserError('it does not say what kind of key it is')
  const name = toHex(kind.content)
  if (name !== ecName) throw new UserError(`it is a key of ${names[name] ?? 'another kind'}, not of P-256`)
  requireCurveName(curve)
}

function requireCurveName(curve: DerElement | undefined): void {
  if (curve?.tag !== derTag.name) {
    throw new UserError(
      'its curve has no name; "openssl ec -in FILE -param_enc named_curve -out NEW" writes it with one',
    )
  }
  const name = toHex(curve.content)
  if (name !== curveName) throw new UserError(`its curve is ${names[name] ?? 'another one'}, not P-256`)
}
