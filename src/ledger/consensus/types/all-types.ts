/**
 * Transaction types: one row a type of what it adds to the rules of all transactions.
 *
 *   sanity, checks, connect -> typeRulesOf(transaction) -> row: sanity, checks, parse, apply
 *
 * - The table is complete by type: a type of payload without a row does not compile.
 * - A row is pure; it returns signature checks and verifies none.
 */
import type { Payload } from '../../../base/primitives/payload.js'
import type { Transaction } from '../../../base/primitives/transaction.js'
import { did } from './did.js'
import { sideChainPow } from './side-chain-pow.js'
import type { TypeRules } from './type-rules.js'

const refused = { accepted: false, cost: 0 }
const coinsAlone = { accepted: true, cost: 0 }

/** The rules of each transaction type that decodes (format 3.1). The coinbase has rules of its own, in sanity.ts. */
const typeRules: { readonly [T in Payload['type']]: TypeRules<Extract<Payload, { type: T }>> } = {
  0: refused,
  1: refused,
  2: coinsAlone,
  3: coinsAlone,
  5: sideChainPow,
  6: refused,
  7: refused,
  8: refused,
  10: did,
}

export function typeRulesOf({ payload }: Pick<Transaction, 'payload'>): TypeRules<Payload> {
  return typeRules[payload.type]
}
