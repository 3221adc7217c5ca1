import { type TSchema, Type } from '@sinclair/typebox'
import { RuleError } from '../../base/errors/rule-error.js'
import { parseAddress, type ProgramHash } from '../../base/primitives/address.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { parseDisplayHash } from '../../base/primitives/bytes.js'
import { hexFault } from '../../base/primitives/hex-fault.js'
import type { Hash } from '../../base/primitives/hash.js'
import { addressParam, hashParam, heightParam } from './schemas/common-schemas.js'

/** Parameters that come as text, of paths and of JSON-RPC. */

/** Values of the kinds of parameters. */
export interface ParameterValues {
  height: number
  /** A block hash or txid, internal order. */
  hash: Hash
  address: ProgramHash
  assetId: Hash
  /** Any text but the empty one. */
  any: string
}

export type ParameterKind = keyof ParameterValues

/** Schema of the text of each kind. */
export const parameterSchemas: { readonly [Kind in ParameterKind]: TSchema } = {
  height: heightParam,
  hash: hashParam('of a block or a transaction, display order'),
  address: addressParam,
  assetId: hashParam('id of an asset, display order'),
  any: Type.String({ minLength: 1, description: 'anything' }),
}

/** @limit number: height in a path */
const maxHeight = 0xffffffff

/** Readers of texts; each throws `request-parameter` with what is wrong. */
const readers: { readonly [Kind in ParameterKind]: (text: string, name: string) => ParameterValues[Kind] } = {
  height: (text, name) => {
    const height = /^(0|[1-9][0-9]{0,9})$/.test(text) ? Number(text) : Infinity
    if (height > maxHeight) throw wrong(name, text, `a height is an integer from 0 to ${maxHeight}`)
    return height
  },
  hash: hashOf,
  address: (text, name) => {
    const programHash = parseAddress(text)
    if (programHash === undefined) throw wrong(name, text, 'an address is 34 characters of base58 with a checksum')
    return programHash
  },
  assetId: hashOf,
  any: (text, name) => {
    if (text === '') throw wrong(name, text, 'something is needed')
    return text
  },
}

function hashOf(text: string, name: string): Hash {
  const hash = parseDisplayHash(text)
  if (hash === undefined) throw wrong(name, text, 'a hash is 64 hex digits', hexFault(text, 32))
  return hash
}

function wrong(name: string, text: string, form: string, fault?: string): RuleError {
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  const why = fault === undefined ? '' : `: ${fault}`
  return new RuleError('request-parameter', `${name}: ${form}, not ${JSON.stringify(shown)}${why}`)
}

/** The value of one parameter; `name` is for the message of a refusal. */
export function readParameter<Kind extends ParameterKind>(
  kind: Kind,
  name: string,
  text: string,
): ParameterValues[Kind] {
  return readers[kind](text, name)
}

/** Coins above zero, in units of 10^-8, from decimal text or a JSON number that is written without an exponent. */
export function readAmount(name: string, value: string | number, maxMoney: bigint): bigint {
  const amount = parseAmount(String(value))
  if (amount !== undefined && amount > 0n && amount <= maxMoney) return amount
  const form = 'coins above zero and not beyond the supply, with at most eight decimals, such as "1.5"'
  throw new RuleError('request-parameter', `${name}: it has to be ${form}`)
}
