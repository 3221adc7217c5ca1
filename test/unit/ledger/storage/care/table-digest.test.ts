import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { sha256 } from '../../../../../src/base/primitives/hash.js'
import { digestOf } from '../../../../../src/ledger/storage/care/table-digest.js'
import { Database } from '../../../../../src/ledger/storage/database.js'
import { tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../../../src/ledger/storage/write/overlay.js'
import { memoryStore } from '../../../../support/builders/chain.js'

it.each([
  ['no rows', []],
  ['small rows, of several pages', Array.from({ length: 2500 }, (_, i) => i % 90)],
  ['rows of which some fill what is hashed at once, and more', [0, 65_535, 1, 65_536, 2, 65_537, 200_000, 3, 65_500]],
])('the digest of a table is that of its rows, each with its lengths before it: %s', async (_, sizes) => {
  const database = await Database.over(memoryStore())
  const overlay = new Overlay(database)
  const rows = sizes.map(
    (size, i) => [tables.sideBody.key(sha256(Buffer.from(`${i}`))), Buffer.alloc(size, i)] as const,
  )
  for (const [key, value] of rows) overlay.put(key, value)
  await overlay.commit({ kind: 'pool', height: 0, hash: new Uint8Array(32) }, { sync: false })
  const digest = createHash('sha256')
  for (const [key, value] of rows.toSorted(([a], [b]) => Buffer.compare(a, b))) {
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32LE(value.length, lengths.writeUInt32LE(key.length))
    digest.update(lengths).update(key).update(value)
  }
  expect(await digestOf(database, [tables.sideBody.number])).toEqual(sha256(digest.digest()))
})
