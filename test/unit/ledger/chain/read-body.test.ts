import { expect, it } from 'vitest'
import { bodyOf } from '../../../../src/ledger/chain/read-body.js'
import { putStatus } from '../../../../src/ledger/chain/block-records.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'

it('a body is there of active blocks and side blocks alone, and a missing one of those is damage', async () => {
  const test = await TestChain.open()
  const genesis = test.chain.tip
  const active = craftBlock(test.chain)
  await test.accept(active)
  const [side, dropped] = [craftBlock(test.chain, { parent: genesis }), craftBlock(test.chain, { parent: genesis })]
  for (const block of [side, dropped]) await test.accept(block)
  const change = async (stage: (overlay: Overlay) => void) => {
    const overlay = new Overlay(test.database)
    stage(overlay)
    await overlay.commit({ kind: 'header', hash: active.header.hash, height: 1 }, { sync: false })
    test.chain.headers.clear()
  }
  await change((overlay) => putStatus(overlay, test.knownHeader(dropped.header.hash), 'header'))
  const read = (hash: Uint8Array) => bodyOf(test.database, test.chain.headers, hash)
  for (const block of [active, side]) expect((await read(block.header.hash))?.bytes).toEqual(block.bytes)
  for (const hash of [dropped.header.hash, new Uint8Array(32)]) expect(await read(hash)).toBeUndefined()
  await change((overlay) => {
    overlay.del(tables.sideBody.key(side.header.hash))
    overlay.del(tables.transaction.key(1, 0))
  })
  for (const block of [active, side]) await expect(read(block.header.hash)).rejects.toThrow(StorageError)
  await test.close()
})
