import { RuleError } from '../../base/errors/rule-error.js'
import { parseAddress, type ProgramHash } from '../../base/primitives/address.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { parseDid } from '../../clients/wallet/did-identity.js'
import type { Amount } from './node-types.js'

/** Values as programs give them to a node: each is read, or refused by its name. */

/** @tuning number: units of 10⁻⁸ for a byte that a program may choose, as with --fee-rate */
const mostRate = 1_000_000

/** An amount in units of 10^-8; `request-parameter` for an invalid amount. */
export function units(name: string, amount: Amount): bigint {
  // A number is ambiguous: coins or units.
  const value = typeof amount === 'string' ? parseAmount(amount) : typeof amount === 'bigint' ? amount : undefined
  if (value !== undefined && value >= 0n) return value
  throw new RuleError(
    'request-parameter',
    `${name}: ${String(amount)} is neither an amount of coins as text, such as '12.5', nor a bigint of units`,
  )
}

/** The program hash of an address; `request-parameter` for an invalid address. */
export function addressBytes(text: string, name = 'address'): ProgramHash {
  const hash = typeof text === 'string' ? parseAddress(text) : undefined
  if (hash === undefined) throw new RuleError('request-parameter', `${name}: ${String(text)} is not an address`)
  return hash
}

/** Sela for 1000 bytes of a price of a byte; `request-parameter` for another value. */
export function thousandfold(feeRate: number): number {
  if (typeof feeRate === 'number' && feeRate > 0 && feeRate <= mostRate) return Math.ceil(feeRate * 1000)
  throw new RuleError('request-parameter', `feeRate: ${String(feeRate)} is no price of a byte in units of 10^-8`)
}

/** A DID in full from its text, `own` without one; `request-parameter` for a text that is none. */
export function didOr(own: string, text: string | undefined): string {
  const did = text === undefined ? own : parseDid(text)?.did
  if (did === undefined) throw new RuleError('request-parameter', `did: ${text} is not a DID of this chain`)
  return did
}
