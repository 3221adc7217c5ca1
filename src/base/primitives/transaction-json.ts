import { addressOf } from './address.js'
import { formatAmount } from './amount.js'
import { displayHash, toHex } from './bytes.js'
import type { Output } from './output.js'
import { payloadJson } from './payload.js'
import type { Program } from './program.js'
import type { Input, TransactionFields } from './transaction-fields.js'

/** Position of a transaction on the active chain. */
export interface TransactionPlace {
  /** Display hex. */
  readonly blockhash: string
  readonly confirmations: number
  /** Unix seconds of the block. */
  readonly blocktime: number
}

/** The transaction object of the REST interface, members in the order of the family's samples. */
export interface TransactionJson {
  txid: string
  hash: string
  size: number
  vsize: number
  version: number
  locktime: number
  vin: { txid: string; vout: number; sequence: number }[]
  vout: { value: string; n: number; address: string; assetid: string; outputlock: number }[]
  blockhash: string
  confirmations: number
  time: number
  blocktime: number
  type: number
  payloadversion: number
  payload: unknown
  attributes: { usage: number; data: string }[]
  programs: { code: string; parameter: string }[]
}

/** A transaction in REST form; without a position it is in no block. */
export function transactionJson(
  tx: TransactionFields & { readonly txid: string; readonly bytes: Uint8Array },
  place: TransactionPlace = { blockhash: '', confirmations: 0, blocktime: 0 },
): TransactionJson {
  return {
    txid: tx.txid,
    hash: tx.txid,
    size: tx.bytes.length,
    vsize: tx.bytes.length,
    version: tx.version,
    locktime: tx.lockTime,
    vin: tx.inputs.map(inputJson),
    vout: tx.outputs.map(outputJson),
    blockhash: place.blockhash,
    confirmations: place.confirmations,
    time: place.blocktime,
    blocktime: place.blocktime,
    type: tx.payload.type,
    payloadversion: tx.payloadVersion,
    payload: payloadJson(tx.payload, tx.payloadVersion),
    attributes: tx.attributes.map(({ usage, data }) => ({ usage, data: toHex(data) })),
    programs: tx.programs.map(programJson),
  }
}

/** One of `vin`. */
export function inputJson({ txid, index, sequence }: Input): TransactionJson['vin'][number] {
  return { txid: displayHash(txid), vout: index, sequence }
}

/** One of `vout`, the one at position `n`. */
export function outputJson(output: Output, n: number): TransactionJson['vout'][number] {
  return {
    value: formatAmount(output.value),
    n,
    address: addressOf(output.programHash),
    assetid: displayHash(output.assetId),
    outputlock: output.outputLock,
  }
}

/** One of `programs`. */
export function programJson({ code, parameter }: Program): TransactionJson['programs'][number] {
  return { code: toHex(code), parameter: toHex(parameter) }
}
