import bs58 from 'bs58'
import { RuleError } from '../../base/errors/rule-error.js'
import { concat } from '../../base/primitives/bytes.js'
import type { JsonValue } from '../../base/primitives/strict-json.js'
import type { IdRules } from './identifier.js'
import { isKnownPoint } from './key.js'
import { asObject, optionalText, ownId, path, refuseUnknown, requiredText } from './member-readers.js'
import type { AgreementCurve, AgreementKey } from './model.js'

/** Keys with which others encrypt to a DID, each as a Multikey of the W3C: `z`, and base58 of multicodec and key. */

const members: ReadonlySet<string> = new Set(['id', 'type', 'controller', 'publicKeyMultibase'])
/** @tuning characters: text of a key for encryption that is decoded; those there are have 47 or 49 */
const longestText = 52

/** Varint of the multicodec of a curve, and bytes of its keys. */
const curves: readonly {
  readonly curve: AgreementCurve
  readonly codec: readonly [number, number]
  readonly size: number
}[] = [
  { curve: 'P-256', codec: [0x80, 0x24], size: 33 },
  { curve: 'X25519', codec: [0xec, 0x01], size: 32 },
]

/** Reads a key of `keyAgreement` of the document of `did`. `trusted` skips the check that the bytes are a point of P-256. */
export function parseAgreementKey(
  value: JsonValue,
  where: string,
  rules: IdRules,
  did: string,
  trusted: boolean,
): AgreementKey {
  const object = asObject(value, where)
  refuseUnknown(object, members, where)
  if ((optionalText(object, 'type', where) ?? 'Multikey') !== 'Multikey') {
    throw new RuleError('document-form', `${path(where, 'type')} is not Multikey`)
  }
  if ((optionalText(object, 'controller', where) ?? did) !== did) {
    throw new RuleError('document-reference', `${path(where, 'controller')} is not ${did}`)
  }
  const publicKeyMultibase = requiredText(object, 'publicKeyMultibase', where)
  const key = agreementKeyIn(publicKeyMultibase, trusted)
  if (key !== undefined) return { id: ownId(object, where, rules, did), publicKeyMultibase, ...key }
  throw new RuleError(
    'document-key',
    `${path(where, 'publicKeyMultibase')} is no key of P-256 or X25519, as Multikey has them`,
  )
}

/** The key in the text of a Multikey; undefined where it is none with which others encrypt. */
export function agreementKeyIn(text: string, trusted = false): Pick<AgreementKey, 'curve' | 'publicKey'> | undefined {
  if (!text.startsWith('z') || text.length > longestText) return undefined
  const bytes = bs58.decodeUnsafe(text.slice(1))
  const found = curves.find(({ codec }) => bytes?.[0] === codec[0] && bytes[1] === codec[1])
  if (bytes === undefined || found?.size !== bytes.length - 2) return undefined
  const publicKey = bytes.subarray(2)
  if (found.curve === 'P-256' && !trusted && !isKnownPoint(publicKey)) return undefined
  return { curve: found.curve, publicKey }
}

/** The text of a Multikey. */
export function multikeyText({ curve, publicKey }: Pick<AgreementKey, 'curve' | 'publicKey'>): string {
  const { codec } = curves.find((one) => one.curve === curve) as (typeof curves)[number]
  return `z${bs58.encode(concat(Uint8Array.from(codec), publicKey))}`
}
