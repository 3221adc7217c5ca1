import { RuleError } from '../../../base/errors/rule-error.js'
import { toHex } from '../../../base/primitives/bytes.js'
import { type SideChainPow, txType } from '../../../base/primitives/payload.js'
import { provedHeight } from '../../storage/rows/side-chain-rows.js'
import { spendsFrom, type TypePolicy } from './type-policy.js'

type SideChainPayload = { readonly type: 5 } & SideChainPow

/**
 * Its place before all fees is for the proof, not for what else a transaction can carry.
 * @limit bytes: a transaction with a side-chain proof of work that enters the pool
 */
export const proofSize = 4096

/**
 * The pool holds one proof for each side chain, later than those on the chain; it gives way to one of a later block. Its signature
 * covers nothing else, so any client can reuse an old proof in a new transaction: without this policy it would block newer ones, and
 * go before every fee each time. What blocks may hold is a rule of the spec (`sideChainOrder`).
 */
export const sideChainPolicy: TypePolicy<SideChainPayload> = {
  first: true,
  subject: sideChainOf,
  refuse({ bytes }, { sideGenesisHash, blockHeight }, chain) {
    if (bytes.length > proofSize) {
      throw new RuleError('pool-side-chain', `${bytes.length} bytes with a proof, at most ${proofSize}`)
    }
    const proved = provedHeight(chain, sideGenesisHash)
    if (proved === undefined || blockHeight > proved) return
    throw new RuleError('pool-side-chain', `height ${blockHeight}, but the chain has a proof of height ${proved}`)
  },
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
