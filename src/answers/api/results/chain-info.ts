import type { ChainReader } from '../../../ledger/chain/reader.js'
import { formatAmount } from '../../../base/primitives/amount.js'
import { displayHash, toHex } from '../../../base/primitives/bytes.js'
import { defined } from '../../../base/primitives/defined.js'
import { registerAssetTransaction } from '../../../base/primitives/genesis.js'
import { paramsAt, quorum } from '../../../base/primitives/spec.js'

/** Which chain a node has, and the rules for its next block. */
export function chainInfo({ chain, height }: ChainReader): Record<string, unknown> {
  const { spec, genesis, tip } = chain
  const { validators, fees, specifications } = paramsAt(spec, height + 1)
  return {
    name: spec.name,
    devnet: spec.devnet,
    genesis: genesis.hash,
    digest: toHex(spec.digest),
    height: tip.header.height,
    hash: tip.header.id,
    time: tip.header.time,
    ...(chain.prunes ? { pruned: chain.prunedHeight } : {}),
    ...(chain.prunesDocuments ? { superseded: chain.supersededHeight } : {}),
    ...(chain.joinedHeight > 0 ? defined({ joined: chain.joinedHeight, verified: chain.verifiedHeight }) : {}),
    producer: spec.producer,
    validators: validators.length,
    validatornames: spec.validatorNames,
    quorum: validators.length === 0 ? null : quorum(validators.length),
    assetid: displayHash(registerAssetTransaction(spec).hash),
    coin: spec.asset.name,
    maturity: spec.maturity,
    maxmoney: formatAmount(spec.maxMoney),
    fees: {
      minimum: formatAmount(fees.minimum),
      perbyte: formatAmount(fees.perByte),
      freebytes: fees.freeBytes ?? 0,
      leaf: formatAmount(fees.leaf ?? 0n),
      ...(fees.names && { names: fees.names.map(formatAmount) }),
    },
    specifications: { did: specifications.did, credential: specifications.credential },
    auxpowchainid: spec.auxpowChainId,
    evmchainid: spec.evmChainId,
  }
}
