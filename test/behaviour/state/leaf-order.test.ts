import { afterAll, beforeAll, expect, it } from 'vitest'
import { LeafOrder } from '../../../src/ledger/state/leaf-order.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { didKey } from '../../../src/ledger/storage/rows/did-reader.js'

/** Operations of a DID up to which its rows are read one by one. */
const few = 32
const people = [few - 1, few, few + 1].map((operations) => ({ person: holder(), operations }))
let test: TestChain
/** The height after the operations, above which each DID has one more. */
let height: number

beforeAll(async () => {
  test = await TestChain.open(oneValidator())
  const last: string[] = []
  for (let number = 0; number < few + 1; number++) {
    for (const [i, { person, operations }] of people.entries()) {
      if (number >= operations) continue
      const operation = number === 0 ? person.create() : person.update(last[i] as string)
      last[i] = await test.publish(operation, person.did)
    }
  }
  height = test.reader.height
  for (const [i, { person }] of people.entries()) await test.publish(person.update(last[i] as string), person.did)
})

afterAll(() => test.close())

it('has all operations up to its height, however many a DID has, with the transaction of the last document', async () => {
  const rows = test.chain.database.freezeNewest()
  const order = await LeafOrder.of(rows, height)
  const found = new Map<string, readonly unknown[]>()
  for await (const { did, entries, transactions } of order.records()) {
    const { height: at, txid } = entries.at(-1) as (typeof entries)[number]
    const { index } = tables.location.decode(rows.get(tables.location.key(txid)) as Buffer)
    expect(transactions).toEqual([rows.get(tables.transaction.key(at, index))])
    found.set(
      Buffer.from(did).toString('hex'),
      entries.map((entry) => Buffer.from(entry.txid).toString('hex')),
    )
  }
  rows.close()
  expect(found.size).toBe(people.length)
  for (const { person, operations } of people) {
    const key = didKey(person.did) as Uint8Array
    const stored = (await test.chain.database.rows(tables.didOperation.range(key)))
      .map(([, row]) => tables.didOperation.decode(row))
      .filter((entry) => entry.height <= height)
    expect(stored).toHaveLength(operations)
    const txids = stored.map((entry) => Buffer.from(entry.txid).toString('hex'))
    expect(found.get(Buffer.from(key).toString('hex'))).toEqual(txids)
  }
})
