import { isPoint } from '../did/curve-point.js'
import { hex, mapKey } from '../../base/primitives/bytes.js'
import { fail, type ProofFailure } from './proof-failure.js'
import { hexText, list } from './read-json.js'

/** Keys of validators in duty order, as they are sent: hex. */

const keySize = 33
/** @limit count: validators of a chain that is checked */
const maxValidators = 100
/**
 * Far more than there are, so that one too many has a name of its own.
 * @limit count: elements read of a list of validators
 */
const maxListed = 1000

/** Validators who are in force from a block on. */
export interface ValidatorList {
  /** The first block that they confirm. */
  readonly height: number
  readonly keys: readonly Uint8Array[]
}

/** Reads texts of keys; `form`. */
export function keyTexts(sent: unknown): readonly string[] {
  return list(sent, maxListed).map((key) => hexText(key, keySize))
}

/** The keys in texts: 1 to 100 different points of the curve, else the failure given. */
export function validatorKeys(texts: readonly string[], failure: ProofFailure): readonly Uint8Array[] {
  if (texts.length === 0 || texts.length > maxValidators) fail(failure, `${texts.length} validators`)
  const keys = texts.map(hex)
  if (new Set(keys.map(mapKey)).size !== keys.length) fail(failure, 'a validator stands twice')
  return keys.every(isPoint) ? keys : fail(failure, 'a key that is no point of the curve')
}

/** The validators of a height, by lists in order of their heights; undefined below the first one. */
export function keysInForce(lists: readonly ValidatorList[], height: number): readonly Uint8Array[] | undefined {
  return lists.filter((one) => one.height <= height).at(-1)?.keys
}
