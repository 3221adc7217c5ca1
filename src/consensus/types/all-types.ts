import type { Payload } from '../../primitives/payload.js'
import type { Transaction } from '../../primitives/transaction.js'
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
