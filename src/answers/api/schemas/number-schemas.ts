import { type TInteger, Type } from '@sinclair/typebox'

/** A whole number from 0 on that a double holds exactly. */
export function count(
  description: string,
  bounds: { minimum?: number; maximum?: number; default?: number } = {},
): TInteger {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...bounds, description })
}
