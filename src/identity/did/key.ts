import bs58 from 'bs58'
import { RuleError } from '../../base/errors/rule-error.js'
import { didProgramHash, sharedAddress } from '../../base/primitives/address.js'
import { copyOf, equalBytes, mapKey } from '../../base/primitives/bytes.js'
import { isCompressed } from '../../base/primitives/p256.js'
import type { JsonValue } from '../../base/primitives/strict-json.js'
import type { IdRules } from './identifier.js'
import {
  asObject,
  didText,
  optionalText,
  ownId,
  path,
  refuseUnknown,
  requiredText,
  requireSignatureType,
} from './member-readers.js'
import type { DidKey } from './model.js'
import { isPoint } from './curve-point.js'

const keyMembers: ReadonlySet<string> = new Set(['id', 'type', 'controller', 'publicKeyBase58'])
/**
 * Base58 of 33 bytes is no longer; longer text is not worth the quadratic decoding.
 * @tuning characters: text of a public key that is decoded
 */
const longestKeyText = 46

/** Reads one key of the document of `did`. `trusted` skips the check that the bytes are a point. */
export function parseKey(value: JsonValue, where: string, rules: IdRules, did: string, trusted: boolean): DidKey {
  const object = asObject(value, where)
  refuseUnknown(object, keyMembers, where)
  requireSignatureType(object, where)
  const publicKeyBase58 = requiredText(object, 'publicKeyBase58', where)
  const publicKey = keyBytes(publicKeyBase58)
  if (publicKey === undefined || !(trusted || isKnownPoint(publicKey))) {
    throw new RuleError('document-key', `${path(where, 'publicKeyBase58')} is no compressed point of P-256`)
  }
  const controller = optionalText(object, 'controller', where) ?? did
  return {
    id: ownId(object, where, rules, did),
    // A key of another DID is one that a DID with a key of its own has.
    controller: controller === did ? did : didText(controller, path(where, 'controller'), { ...rules, names: false }),
    publicKeyBase58,
    publicKey,
  }
}

/** The own key whose bytes derive the DID. `legacy`: the older identifier with trailer 0xAC. Undefined for chosen names. */
export function findDefaultKey(keys: readonly DidKey[], did: string, legacy: boolean): DidKey | undefined {
  const hash = sharedAddress(did.slice(did.lastIndexOf(':') + 1))
  if (hash === undefined) return undefined
  return keys.find((key) => key.controller === did && equalBytes(didProgramHash(key.publicKey, { legacy }), hash))
}

function keyBytes(text: string): Uint8Array | undefined {
  if (text.length > longestKeyText) return undefined
  const bytes = bs58.decodeUnsafe(text)
  // Copied: V8 would have to move so few bytes out of its heap for each who looks at their memory.
  return bytes !== undefined && isCompressed(bytes) ? copyOf(bytes) : undefined
}

// Cached: this check costs more than all else about a key, and an operation is read in the pool, for a template and for its
// block. The result for a key never changes. About 1 MB when full.
const knownPoints = new Set<string>()
/** @tuning count: keys known to be points */
const knownPointsLimit = 8192

/** {@link isPoint}, cached. */
export function isKnownPoint(bytes: Uint8Array): boolean {
  // Not the source text: it may be a slice of its document and would keep the whole in memory.
  const id = mapKey(bytes)
  if (knownPoints.has(id)) return true
  if (!isPoint(bytes)) return false
  if (knownPoints.size >= knownPointsLimit) knownPoints.clear()
  knownPoints.add(id)
  return true
}
