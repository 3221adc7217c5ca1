import { soloAuxPow } from './auxpow.js'
import { Block, transactionRoot } from './block.js'
import { fromUtf8, toHex } from './bytes.js'
import { zeroHash } from './hash.js'
import { Header } from './header.js'
import type { Spec } from './spec.js'
import { coinbaseInput } from './input.js'
import { Transaction } from './transaction.js'
import type { TransactionFields } from './transaction-fields.js'

const bare: Omit<TransactionFields, 'payloadVersion' | 'payload'> = {
  version: 0,
  attributes: [],
  inputs: [],
  outputs: [],
  lockTime: 0,
  programs: [],
}

/** The transaction that registers the native asset; its txid is the asset id. */
export function registerAssetTransaction(spec: Pick<Spec, 'asset'>): Transaction {
  return new Transaction({ ...bare, payloadVersion: 0, payload: { type: 1, ...spec.asset } })
}

/** The genesis block of a spec. Its coinbase payload holds the spec's digest, so its hash binds every rule. */
export function genesisBlock(spec: Spec): Block {
  const registration = registerAssetTransaction(spec)
  const coinbase = new Transaction({
    ...bare,
    payloadVersion: 4,
    payload: { type: 0, data: fromUtf8(`didledger:${toHex(spec.digest)}`) },
    inputs: [coinbaseInput],
    outputs: spec.allocations.map(({ programHash, amount }) => ({
      assetId: registration.hash,
      value: amount,
      outputLock: 0,
      programHash,
    })),
  })
  const transactions = [coinbase, registration]
  const header = new Header({
    version: 0,
    previous: zeroHash,
    merkleRoot: transactionRoot(transactions),
    time: spec.time,
    bits: spec.powLimitBits,
    nonce: 0,
    height: 0,
  })
  return new Block(header, soloAuxPow(header.hash, spec.time), transactions)
}
