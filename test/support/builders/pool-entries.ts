import { noWork } from '../../../src/ledger/consensus/signature-work.js'
import type { PoolEntry } from '../../../src/ledger/mempool/pool-entry.js'
import type { Output } from '../../../src/base/primitives/output.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'

/** An entry with a record of `size` bytes that spends an output of each of these others; `number` makes it like no other. */
export function recordEntry(number: number, parents: readonly PoolEntry[], fee: bigint, size = 4): PoolEntry {
  const content = Buffer.alloc(size)
  content.writeUInt32LE(number)
  const transaction = new Transaction({
    version: 0,
    payloadVersion: 0,
    payload: { type: 3, recordType: '', content },
    attributes: [],
    inputs: parents.map((parent) => ({ txid: parent.transaction.hash, index: number % 65_536, sequence: 0 })),
    outputs: [],
    lockTime: 0,
    programs: [],
  })
  return { transaction, fee, arrival: number, work: noWork }
}

/** An entry of which a graph sees no more than its fee, its size and what it builds on: made fast enough for a full pool. */
export function bareEntry(number: number, parents: readonly PoolEntry[], fee: bigint, length = 220): PoolEntry {
  const hash = Buffer.alloc(32)
  hash.writeUInt32LE(number)
  const transaction = {
    ...{ hash, hashKey: hash.toString('latin1'), txid: String(number), payload: { type: 2 } },
    bytes: { length },
    inputs: parents.map((parent) => ({ txid: parent.transaction.hash, index: number % 65_536, sequence: 0 })),
  }
  return { transaction: transaction as unknown as Transaction, fee, arrival: number, work: noWork }
}

/** A transaction of so many bytes that is like no other. */
export function sizedTransaction(number: number, size: number, outputs: readonly Output[] = []): Transaction {
  const build = (length: number) => {
    return new Transaction({
      version: 0,
      payloadVersion: 0,
      payload: { type: 3, recordType: '', content: new Uint8Array(length) },
      attributes: [],
      inputs: [],
      outputs,
      lockTime: number,
      programs: [],
    })
  }
  const around = build(size).bytes.length - size
  return build(size - around - (build(size - around).bytes.length - size))
}
