import { type TInteger, type TSchema, Type } from '@sinclair/typebox'
import { RuleError } from '../../base/errors/rule-error.js'
import { parseAddress, type ProgramHash } from '../../base/primitives/address.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { hex, parseDisplayHash } from '../../base/primitives/bytes.js'
import { maxHeight } from '../../base/primitives/height.js'
import { hexFault } from '../../base/primitives/hex-fault.js'
import type { Hash } from '../../base/primitives/hash.js'
import { maxHeaders } from '../../identity/proofs/work.js'
import { credentialIdForm, credentialIdOf, didForm, identifierOf, maxDidLength } from '../resolver/did-key.js'
import { apiLimits } from './api-limits.js'
import { hashParam, heightParam, oneOf, uint32 } from './schemas/common-schemas.js'
import { count } from './schemas/number-schemas.js'

/** Parameters that come as text, of paths, queries and JSON-RPC: each kind with the schema of its values and their reader. */

interface Kind<Value> {
  /** Holds for the texts that {@link read} takes, but for checksums: those have a `format`. */
  readonly schema: TSchema
  /** Throws `request-parameter` with what is wrong. */
  read(text: string, name: string): Value
}

/** Characters that a JSON body with a transaction has beside it. */
const transactionFrame = '{"Action":"sendrawtransaction","data":""}'.length

export const parameterKinds = {
  height: whole('a height', { ...heightParam, maximum: maxHeight }),
  depth: whole('a depth', uint32('blocks below the tip')),
  /** A number of headers. */
  count: whole('a count', count('of headers', { maximum: maxHeaders })),
  /** A block hash or txid, internal order. */
  hash: { schema: hashParam('of a block or a transaction, display order'), read: hashOf },
  assetId: { schema: hashParam('id of an asset, display order'), read: hashOf },
  address: {
    schema: Type.String({
      ...{ pattern: '^[1-9A-HJ-NP-Za-km-z]{34}$', format: 'address' },
      description: 'an address: base58 of 25 bytes, the last four of which are a checksum',
    }),
    read: addressIn,
  },
  /** An identifier, without the beginning of the DID. */
  did: {
    schema: Type.String({ maxLength: maxDidLength, pattern: didForm, description: 'a DID, or its identifier alone' }),
    read: identifierOf,
  },
  credentialId: {
    schema: Type.String({ maxLength: maxDidLength, pattern: credentialIdForm, description: 'id of a credential' }),
    read: credentialIdOf,
  },
  flag: { schema: oneOf(['', 'true'], 'without a value, or true'), read: flagIn },
  /** Bytes of a transaction. */
  transaction: {
    schema: Type.String({
      pattern: '^([0-9a-fA-F]{2})+$',
      maxLength: apiLimits.restBody - transactionFrame,
      description: 'a signed transaction in hex',
    }),
    read: transactionBytes,
  },
  /** Any text but the empty one. */
  any: { schema: Type.String({ minLength: 1, description: 'anything' }), read: anyText },
} satisfies Record<string, Kind<unknown>>

export type ParameterKind = keyof typeof parameterKinds

/** Values of the kinds of parameters. */
export type ParameterValues = { [Name in ParameterKind]: ReturnType<(typeof parameterKinds)[Name]['read']> }

/** The value of one parameter; `name` is for the message of a refusal. */
export function readParameter<Name extends ParameterKind>(kind: Name, name: string, text: string) {
  return (parameterKinds[kind] as Kind<ParameterValues[Name]>).read(text, name)
}

/** A number in decimal, without zeros before it. */
function whole(what: string, schema: TInteger): Kind<number> {
  const { minimum = 0, maximum = Infinity } = schema
  const read = (text: string, name: string) => {
    const number = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : NaN
    if (number >= minimum && number <= maximum) return number
    throw wrong(name, text, `${what} is an integer from ${minimum} to ${maximum}`)
  }
  return { schema, read }
}

function hashOf(text: string, name: string): Hash {
  const hash = parseDisplayHash(text)
  if (hash === undefined) throw wrong(name, text, 'a hash is 64 hex digits', hexFault(text, 32))
  return hash
}

function addressIn(text: string, name: string): ProgramHash {
  const programHash = parseAddress(text)
  if (programHash === undefined) throw wrong(name, text, 'an address is 34 characters of base58 with a checksum')
  return programHash
}

function flagIn(text: string, name: string): boolean {
  if (text !== '' && text !== 'true') throw wrong(name, text, 'no value or true is needed')
  return true
}

function transactionBytes(text: string, name: string): Uint8Array {
  const fault = hexFault(text)
  if (fault === undefined) return hex(text)
  throw new RuleError('request-parameter', `${name}: it has to be a transaction in hex: ${fault}`)
}

function anyText(text: string, name: string): string {
  if (text === '') throw wrong(name, text, 'something is needed')
  return text
}

function wrong(name: string, text: string, form: string, fault?: string): RuleError {
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  const why = fault === undefined ? '' : `: ${fault}`
  return new RuleError('request-parameter', `${name}: ${form}, not ${JSON.stringify(shown)}${why}`)
}

/** Coins above zero, in units of 10^-8, from decimal text or a JSON number. */
export function readAmount(name: string, value: string | number, maxMoney: bigint): bigint {
  const amount = parseAmount(typeof value === 'number' ? decimalOf(value) : value)
  if (amount !== undefined && amount > 0n && amount <= maxMoney) return amount
  const form = 'coins above zero and not beyond the supply, with at most eight decimals, such as "1.5"'
  throw new RuleError('request-parameter', `${name}: it has to be ${form}`)
}

/** A number as decimal text where eight decimals hold it: below a millionth it is shown with an exponent, however a client wrote it. */
function decimalOf(value: number): string {
  const text = String(value)
  const decimals = value.toFixed(8)
  return text.includes('e-') && Number(decimals) === value ? decimals : text
}
