import { largeTransaction } from '../../../ledger/chain/reader.js'
import { Transaction } from '../../../base/primitives/transaction.js'
import {
  inputJson,
  outputJson,
  programJson,
  transactionJson,
  type TransactionPlace,
} from '../../../base/primitives/transaction-json.js'
import { toHex } from '../../../base/primitives/bytes.js'
import { runCooperatively } from '../../../base/runtime/cooperative.js'
import { type Sink, writeArray } from '../streams/streamed-answer.js'

/** Inputs, outputs and programs of a transaction that is written in one go. */
const atOnce = 100
/** Bytes of memory for each byte of a transaction while it is decoded and shown. */
export const decodedShare = 6
/** Bytes converted to hex in one go. */
const hexPiece = 32 * 1024

/** Whether an encoded transaction is so small that it is decoded and shown at once, without a reservation. */
export function isSmall(bytes: Uint8Array): boolean {
  return bytes.length <= largeTransaction
}

/** Decodes a transaction for the duration of `work`; a large one waits for memory. */
export async function withDecoded(
  sink: Sink,
  bytes: Uint8Array,
  work: (tx: Transaction) => void | Promise<void>,
): Promise<void> {
  const release = isSmall(bytes) ? () => {} : await sink.reserve(bytes.length * decodedShare)
  try {
    await work(await runCooperatively(Transaction.fromBytesSteps(bytes)))
  } finally {
    release()
  }
}

/** Writes bytes in hex, in slices. */
export async function writeHex(sink: Sink, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += hexPiece) {
    sink.add(toHex(bytes.subarray(at, at + hexPiece)))
    if (sink.due) await sink.drain()
  }
}

/** Writes a transaction object, that of a large one in slices. */
export async function writeTransaction(sink: Sink, tx: Transaction, place?: TransactionPlace): Promise<void> {
  if (!isLong(tx)) {
    sink.add(transactionText(tx, place))
    return
  }
  const lists: Readonly<Record<string, () => Promise<void>>> = {
    vin: () => writeArray(sink, tx.inputs, inputJson),
    vout: () => writeArray(sink, tx.outputs, outputJson),
    programs: () => writeArray(sink, tx.programs, programJson),
  }
  const { txid, bytes, version, payloadVersion, payload, attributes, lockTime } = tx
  const rest = { txid, bytes, version, payloadVersion, payload, attributes, lockTime }
  const members = Object.entries(transactionJson({ ...rest, inputs: [], outputs: [], programs: [] }, place))
  let separator = '{'
  for (const [name, value] of members) {
    sink.add(`${separator}"${name}":`)
    separator = ','
    const list = lists[name]
    if (list === undefined) sink.add(JSON.stringify(value))
    else await list()
    if (sink.due) await sink.drain()
  }
  sink.add('}')
}

/** A transaction object as JSON text. */
export function transactionText(tx: Transaction, place?: TransactionPlace): string {
  return JSON.stringify(transactionJson(tx, place))
}

/** Whether writing it in one go would block the event loop for long. */
function isLong({ inputs, outputs, programs }: Transaction): boolean {
  return inputs.length + outputs.length + programs.length > atOnce
}
