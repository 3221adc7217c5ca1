import { RuleError } from '../../errors/rule-error.js'
import { toHex } from '../../primitives/bytes.js'
import { type SideChainPow, txType } from '../../primitives/payload.js'
import { spendsFrom, type TypePolicy } from './type-policy.js'

type SideChainPayload = { readonly type: 5 } & SideChainPow

/**
 * The pool holds one proof for each side chain, which gives way to one of a later block. Its signature covers nothing else, so
 * any client can reuse an old proof in a new transaction: without this rule it would block newer ones.
 */
export const sideChainPolicy: TypePolicy<SideChainPayload> = {
  first: true,
  subject: sideChainOf,
  replacement: {
    reason: 'side-chain-proved',
    entries(pool, newcomer, proof) {
      const pooled = pool.ofSubject(sideChainOf(proof))
      const payload = pooled?.transaction.payload
      if (pooled === undefined || payload?.type !== txType.sideChainPow) return []
      if (proof.blockHeight <= payload.blockHeight) {
        throw new RuleError(
          'pool-side-chain',
          `the pool holds one of height ${payload.blockHeight}: a later one replaces it`,
        )
      }
      const replaced = pool.withDescendants([pooled])
      if (!spendsFrom(newcomer, replaced)) return replaced
      throw new RuleError('pool-side-chain', 'it spends an output of the one that it would replace')
    },
  },
}

function sideChainOf({ sideGenesisHash }: SideChainPayload): string {
  return toHex(sideGenesisHash)
}
