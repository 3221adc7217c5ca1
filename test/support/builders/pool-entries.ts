import { noWork } from '../../../src/consensus/signature-work.js'
import type { PoolEntry } from '../../../src/mempool/pool-entry.js'
import { Transaction } from '../../../src/primitives/transaction.js'

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
