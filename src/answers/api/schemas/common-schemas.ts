/**
 * TypeBox schemas of parameters and answers, by subject; this file has those that several subjects use.
 *
 * - They check parameters, and describe answers in /openapi.json, rpc.discover and the pages; tests check answers against them.
 */
import { type TObject, type TProperties, type TSchema, type TString, Type } from '@sinclair/typebox'
import { defined } from '../../../base/primitives/defined.js'
import { apiLimits } from '../api-limits.js'

/** Rows of a page that names no limit. */
export const rowsUnasked = 20

/** An object of these members and no others. */
export function closed<T extends TProperties>(members: T, description?: string): TObject<T> {
  return Type.Object(members, { additionalProperties: false, ...defined({ description }) })
}

/** A hash in an answer. */
export function hash(description = 'display order'): TString {
  return Type.String({ pattern: '^[0-9a-f]{64}$', description })
}

/** Bytes in an answer. */
export function bytes(description = 'bytes in hex'): TString {
  return Type.String({ pattern: '^([0-9a-f]{2})*$', description })
}

export function publicKey(description: string): TString {
  return Type.String({ pattern: '^0[23][0-9a-f]{64}$', description })
}

/** Coins in an answer. */
export function amount(description = 'coins'): TString {
  return Type.String({ pattern: '^[0-9]+\\.[0-9]{8}$', description })
}

/** A 32-bit number. */
export function uint32(description: string) {
  return Type.Integer({ minimum: 0, maximum: 0xffffffff, description })
}

/** One of several texts. */
export function oneOf<const T extends string>(values: readonly T[], description: string) {
  return Type.Unsafe<T>(Type.String({ enum: [...values], pattern: `^(${values.join('|')})$`, description }))
}

/** A value or null; the description explains when it is null. */
export function orNull<T extends TSchema>(schema: T, description: string) {
  return Type.Union([schema, Type.Null()], { description })
}

/** Parameters. */

export const heightParam = uint32('height of a block of the active chain')

export const hashForm = '^[0-9a-fA-F]{64}$'

export function hashParam(description: string): TString {
  return Type.String({ pattern: hashForm, description })
}

/** The checksum is checked when the address is read. */
export const addressParam = Type.String({ minLength: 34, maxLength: 34, description: 'an address' })

/** Coins as text, or as a number that is written without an exponent. */
export const amountParam = Type.Union([Type.String(), Type.Number()], {
  description: 'coins with at most eight decimals, such as "1.5"',
})

/** The position of a transaction on the active chain, in an answer and as a parameter. */
export function position(description: string) {
  return Type.Object(
    {
      height: uint32('of its block'),
      index: Type.Integer({ minimum: 0, maximum: 0xffff, description: 'in its block; 0 is the coinbase' }),
    },
    { description },
  )
}

/** Parameters of a page of transactions: cursor and number of rows. */
export const pageParams = {
  before: Type.Optional(position('only what is below this position, as `next` of the page before names it')),
  limit: limitParam('rows of the page'),
}

/** Rows of a page. */
export function limitParam(description: string) {
  const bounds = { minimum: 1, maximum: apiLimits.pageRows, default: rowsUnasked }
  return Type.Optional(Type.Integer({ ...bounds, description }))
}

/** One of the whole numbers from 0 to `most`. */
export function verbosityParam(most: number, description: string) {
  return Type.Optional(Type.Integer({ minimum: 0, maximum: most, default: 1, description }))
}
