import { Type } from '@sinclair/typebox'
import type { ProgramHash } from '../../../base/primitives/address.js'
import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import { readParameter } from '../parameters.js'
import { addressParam } from '../schemas/common-schemas.js'

/** Parts of methods that look at the coins of addresses. */

export const addressesParam = Type.Array(addressParam, {
  minItems: 1,
  maxItems: apiLimits.listedAddresses,
  description: `at most ${apiLimits.listedAddresses} addresses`,
})

/** The addresses of a request, each once. */
export function readAddresses(addresses: readonly string[]): ProgramHash[] {
  return [...new Set(addresses)].map((text) => readParameter('address', 'addresses', text))
}

/** Coins that one request looks at; of more, those worth most. */
export function mostCoins({ limits }: ApiContext): number {
  return { ...apiLimits, ...limits }.listedCoins
}

/** Bytes of memory for these while they are collected and shown. */
export function coinsMemory(context: ApiContext): number {
  return mostCoins(context) * coinMemory
}

/** Bytes of memory for each coin of a list. */
const coinMemory = 1024
