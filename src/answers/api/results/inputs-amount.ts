import type { ChainReader } from '../../../ledger/chain/reader.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { displayHash, toHex } from '../../../base/primitives/bytes.js'
import type { Hash } from '../../../base/primitives/hash.js'
import type { Outpoint } from '../../../base/primitives/transaction-fields.js'
import { tables } from '../../../ledger/storage/rows/tables.js'
import { apiLimits } from '../api-limits.js'
import type { Sink } from '../streams/streamed-answer.js'
import { withDecoded } from './transaction-text.js'

/**
 * Sum of the outputs of the active chain that inputs spend, in units of 10^-8; one named twice counts twice. An unspent one has a
 * row; for others their transaction is read, once. RuleErrors: `unknown-transaction`, and `request-parameter` beyond
 * `apiLimits.amountTransactions`.
 */
export function amountOf(reader: ChainReader, inputs: readonly Outpoint[], sink: Sink): Promise<bigint> {
  return reader.chain.database.settle(() => sumOf(reader, inputs, sink))
}

async function sumOf(reader: ChainReader, inputs: readonly Outpoint[], sink: Sink): Promise<bigint> {
  const { database } = reader.chain
  await database.load(() => inputs.map((input) => tables.coin.key(input)))
  let sum = 0n
  const spent = new Map<string, { txid: Hash; indices: number[] }>()
  for (const { txid, index } of inputs) {
    const row = database.get(tables.coin.key({ txid, index }))
    if (row !== undefined) {
      sum += tables.coin.decode(row).value
    } else {
      const name = toHex(txid)
      const known = spent.get(name)
      if (known === undefined) spent.set(name, { txid, indices: [index] })
      else known.indices.push(index)
    }
    if (sink.due) await sink.drain()
  }
  let bytesLeft = apiLimits.amountTransactions
  for (const { txid, indices } of spent.values()) {
    const bytes = reader.transactionBytes(txid)?.bytes
    if (bytes === undefined) throw unknownOutput(txid, indices)
    bytesLeft -= bytes.length
    if (bytesLeft < 0) throw tooMuch()
    await withDecoded(sink, bytes, ({ outputs }) => {
      const missing = indices.filter((index) => index >= outputs.length)
      if (missing.length > 0) throw unknownOutput(txid, missing)
      for (const index of indices) sum += outputs[index]?.value ?? 0n
    })
    if (sink.due) await sink.drain()
  }
  return sum
}

function unknownOutput(txid: Hash, [index]: readonly number[]): RuleError {
  return new RuleError('unknown-transaction', `no output ${index} of a transaction ${displayHash(txid)} on the chain`)
}

function tooMuch(): RuleError {
  const most = apiLimits.amountTransactions
  return new RuleError(
    'request-parameter',
    `inputs: the transactions whose spent outputs they name have more than ${most} bytes; ask for fewer at a time`,
  )
}
