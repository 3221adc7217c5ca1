import {
  inputJson,
  outputJson,
  programJson,
  transactionJson,
  type TransactionPlace,
} from '../../primitives/transaction-json.js'
import type { Transaction } from '../../primitives/transaction.js'
import { Turns } from '../../slices.js'
import { jsonArray } from './lists.js'

/** Inputs, outputs and programs of a transaction that is written at once. */
const atOnce = 100

/** Transaction objects as JSON text, in slices; all of them in one place. */
export async function transactionList(transactions: readonly Transaction[], place?: TransactionPlace): Promise<string> {
  const parts: string[] = []
  const turns = new Turns()
  for (const tx of transactions) {
    if (isLarge(tx)) parts.push(await transactionText(tx, place))
    else parts.push(JSON.stringify(transactionJson(tx, place)))
    if (turns.over) await turns.next()
  }
  return `[${parts.join(',')}]`
}

/** A transaction object as JSON text; that of a large one is written in slices. */
export async function transactionText(tx: Transaction, place?: TransactionPlace): Promise<string> {
  if (!isLarge(tx)) return JSON.stringify(transactionJson(tx, place))
  const lists: Readonly<Record<string, string>> = {
    vin: await jsonArray(tx.inputs, inputJson),
    vout: await jsonArray(tx.outputs, outputJson),
    programs: await jsonArray(tx.programs, programJson),
  }
  const { txid, bytes, version, payloadVersion, payload, attributes, lockTime } = tx
  const rest = { txid, bytes, version, payloadVersion, payload, attributes, lockTime }
  const members = Object.entries(transactionJson({ ...rest, inputs: [], outputs: [], programs: [] }, place))
  return `{${members.map(([name, value]) => `"${name}":${lists[name] ?? JSON.stringify(value)}`).join(',')}}`
}

/** Whether writing it at once would hold the event loop for long. */
function isLarge({ inputs, outputs, programs }: Transaction): boolean {
  return inputs.length + outputs.length + programs.length > atOnce
}
