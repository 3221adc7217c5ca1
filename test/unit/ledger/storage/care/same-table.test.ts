import { expect, it } from 'vitest'
import { sha256 } from '../../../../../src/base/primitives/hash.js'
import { sameTable } from '../../../../../src/ledger/storage/care/same-table.js'
import { Database } from '../../../../../src/ledger/storage/database.js'
import { tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../../../src/ledger/storage/write/overlay.js'
import { memoryStore } from '../../../../support/builders/chain.js'

type Content = readonly (readonly [key: Buffer, value: Buffer])[]

async function holding(rows: Content): Promise<Database> {
  const database = await Database.over(memoryStore())
  const overlay = new Overlay(database)
  for (const [key, value] of rows) overlay.put(key, value)
  await overlay.commit({ kind: 'pool', height: 0, hash: new Uint8Array(32) }, { sync: false })
  return database
}

const rowsOf = (count: number, size: number): Content =>
  Array.from({ length: count }, (_, i) => [tables.sideBody.key(sha256(Buffer.from(`${i}`))), Buffer.alloc(size, i)])
const held = rowsOf(3000, 700)
const last = held.length - 1

it.each<[string, Content, boolean]>([
  ['the same rows', held, true],
  ['the same beside a row of another table', [...held, [tables.active.key(5), Buffer.alloc(32)]], true],
  ['none', [], false],
  ['one less', held.slice(1), false],
  ['one more', [...held, [tables.sideBody.key(new Uint8Array(32).fill(255)), Buffer.alloc(700)]], false],
  ['another value', held.with(last, [held[last]![0], Buffer.alloc(700, 1)]), false],
  ['a value that another one begins with', held.with(9, [held[9]![0], Buffer.alloc(701, 9)]), false],
  ['another key', held.with(9, [tables.sideBody.key(sha256(Buffer.from('other'))), held[9]![1]]), false],
])('a table of several pages against %s', async (_, rows, same) => {
  const [one, other] = [await holding(held), await holding(rows)]
  expect(await sameTable(one, other, tables.sideBody.number)).toBe(same)
  expect(await sameTable(other, one, tables.sideBody.number)).toBe(same)
})

it('two empty tables are the same', async () => {
  expect(await sameTable(await holding([]), await holding(held), tables.active.number)).toBe(true)
})
