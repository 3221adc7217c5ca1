import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { Output } from '../../../src/base/primitives/output.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { craft, fieldsOf, genesisCoin, signedBy } from './blocks.js'
import type { TestChain } from './chain.js'

/** Transactions of a size and a fee to the unit. */

const rich = 100_000_000_000n

/** A record of person 10 with so many bytes in its unsigned part, that pays `fee`. */
export function recordPaying({ spec, chain }: TestChain, unsignedSize: number, fee: bigint): Transaction {
  const build = (length: number) => {
    const payload = { type: 3, recordType: '', content: new Uint8Array(length) } as const
    return craft(spec, [genesisCoin(chain)], [{ to: 30, value: rich - fee }], [10], { payload })
  }
  let length = 300
  for (let missing = 1; missing !== 0; length += missing) missing = unsignedSize - build(length).unsignedSize
  return build(length)
}

/** The transaction of an operation that person 10 pays for, with the least fee and `more` units. */
export async function operationPaying(
  test: TestChain,
  { operation, did }: { readonly operation: DidOperation; readonly did: string },
  more: bigint,
): Promise<Transaction> {
  const carried = fieldsOf(await test.carry(operation, did))
  const outputs = carried.outputs.map((output, i): Output => {
    return i === carried.outputs.length - 1 ? { ...output, value: output.value - more } : output
  })
  return signedBy({ ...carried, outputs }, [10])
}
