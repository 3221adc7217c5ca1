import { parseDisplayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { ChainRules } from './terms.js'
import {
  answerOf,
  asAmount,
  asInteger,
  asText,
  listOf,
  objectOf,
  optional,
  unexpected,
} from '../../base/primitives/answer-form.js'

/** The chain of a node, with its rules for the next block. */
export interface NodeChain extends ChainRules {
  readonly height: number
  /** Hash of the genesis block. */
  readonly genesis: string
}

const asChainInfo = answerOf('the chain', {
  name: asText,
  genesis: asText,
  height: asInteger,
  assetid: asText,
  maturity: asInteger,
  maxmoney: asAmount,
  // Versions before tell none of the last three.
  fees: objectOf({
    minimum: asAmount,
    perbyte: asAmount,
    freebytes: optional(asInteger),
    leaf: optional(asAmount),
    names: optional(listOf(asAmount)),
  }),
  specifications: objectOf({ did: listOf(asText), credential: listOf(asText) }),
})

/** Reads the answer of `getchaininfo`; a UserError if its form differs from the interface. */
export function parseChain(value: unknown): NodeChain {
  const { assetid, maxmoney: maxMoney, fees, ...chain } = asChainInfo(value)
  const { perbyte: perByte, freebytes: freeBytes, ...rest } = fees
  return { ...chain, assetId: hashBytes(assetid), maxMoney, fees: { ...rest, perByte, ...defined({ freeBytes }) } }
}

/** A hash in display hex, in internal order. */
export function hashBytes(text: string): Hash {
  const hash = parseDisplayHash(text)
  if (hash === undefined) throw unexpected(`${text} is no hash`)
  return hash
}
