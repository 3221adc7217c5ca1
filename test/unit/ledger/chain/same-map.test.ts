import { expect, it } from 'vitest'
import { replay } from '../../../../src/ledger/chain/replay-chain.js'
import { sameMap } from '../../../../src/ledger/chain/same-map.js'
import type { Database } from '../../../../src/ledger/storage/database.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { meta, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { Writer } from '../../../../src/base/primitives/codec.js'
import { emptyChain } from '../../../support/assert/row-invariants.js'
import { TestChain } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'

it('a map is the same while each root, and each page that a later block replaced, is that of a replay', async () => {
  const test = await TestChain.open()
  for (const ada of [holder(), holder()]) await test.publish(ada.create(), ada.did)
  const { database: made } = await emptyChain(test).then(async (copy) => (await replay(test.database, copy), copy))
  expect(await sameMap(test.database, made)).toBe(true)
  const put = async (database: Database, key: Buffer, value: Uint8Array | undefined) => {
    const overlay = new Overlay(database)
    if (value === undefined) overlay.del(key)
    else overlay.put(key, value)
    await overlay.commit({ kind: 'pool', height: 2, hash: test.chain.tip.header.hash }, { sync: false })
  }
  for (const range of [{ ...tables.mapRoot.range(), gte: tables.mapRoot.key(1) }, tables.mapPageBefore.range()]) {
    const rows = await made.rows(range)
    expect(rows.length).toBeGreaterThan(0)
    for (const [key, row] of rows) {
      // The row of a page that was not there before is empty.
      const other = row.length === 0 ? Uint8Array.of(1) : Uint8Array.from(row, (byte, i) => (i === 0 ? byte ^ 1 : byte))
      for (const wrong of [other, undefined]) {
        await put(test.database, key, wrong)
        expect(await sameMap(test.database, made)).toBe(false)
        await put(test.database, key, row)
      }
    }
  }
  // What proves from height 1 on may lack the roots below, and has no wrong one.
  const root = made.get(tables.mapRoot.key(1)) as Buffer
  await put(test.database, meta.proofs.key, new Writer(4).u32(1).finish())
  const wrong = Uint8Array.from(root, (byte, i) => (i === 0 ? byte ^ 1 : byte))
  const same: boolean[] = []
  for (const row of [wrong, undefined, root]) {
    await put(test.database, tables.mapRoot.key(1), row)
    same.push(await sameMap(test.database, made))
  }
  expect(same).toEqual([false, true, true])
  await test.close()
})
