import { RuleError } from '../../../base/errors/rule-error.js'
import { toHex } from '../../../base/primitives/bytes.js'
import { Writer } from '../../../base/primitives/codec.js'
import type { SideChainPow } from '../../../base/primitives/payload.js'
import type { TypeRules } from './type-rules.js'

/** Type 5: proof of work for a block of a side chain, signed by any validator in force. */
export const sideChainPow: TypeRules<{ readonly type: 5 } & SideChainPow> = {
  accepted: true,
  cost: 1,

  sanity({ blockHeight }) {
    // From there on the bytes that a validator signs here could be mistaken for other messages that its key signs.
    if (blockHeight >= 2 ** 29) throw new RuleError('tx-side-chain-height', `block height ${blockHeight}`)
  },

  checks({ payload, txid }, { validators }) {
    if (validators.length === 0) throw new RuleError('tx-side-chain-signer', 'this chain has no validators')
    return [
      {
        message: signedBytes(payload),
        keys: validators,
        signatures: [payload.signedData],
        code: 'tx-side-chain-signer',
        subject: `side-chain proof of work ${txid}`,
      },
    ]
  },

  prove({ sideGenesisHash: genesis, blockHeight: height }, state, { spec }) {
    const before = state.provedHeight(genesis)
    if (before === undefined || height > before) return { genesis, height, before }
    if (!spec.sideChainOrder) return undefined
    const reason = `it proves block ${height} of the side chain ${toHex(genesis)}, of which block ${before} is proved`
    throw new RuleError('tx-side-chain-proved', reason)
  },
}

/** The three fields before the signature. */
function signedBytes({ sideBlockHash, sideGenesisHash, blockHeight }: SideChainPow): Uint8Array {
  return new Writer().bytes(sideBlockHash).bytes(sideGenesisHash).u32(blockHeight).finish()
}
