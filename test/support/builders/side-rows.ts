import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { chainWorkOf, putRecord } from '../../../src/ledger/chain/block-records.js'
import { Block } from '../../../src/base/primitives/block.js'
import { Header } from '../../../src/base/primitives/header.js'
import { craftBlock } from './blocks.js'
import { memoryStore, type Store, TestChain, withoutValidators } from './chain.js'
import type { SpecOverrides } from './spec.js'

/** A store with a chain of `length` blocks and the rows of `count` side blocks on genesis, which are not solved. */
export async function storeWithSideBlocks(
  count: number,
  { length = 2, overrides = withoutValidators }: { length?: number; overrides?: SpecOverrides } = {},
): Promise<Store> {
  const store = memoryStore()
  const test = await TestChain.open(overrides, { store })
  const genesis = test.chain.tip
  const first = craftBlock(test.chain)
  const chainWork = chainWorkOf(first, { parent: genesis, size: 0 })
  const overlay = new Overlay(test.database)
  for (let nonce = 1; nonce <= count; nonce++) {
    const block = new Block(new Header({ ...first.header, nonce }), first.auxPow, first.transactions)
    putRecord(overlay, block, { chainWork, size: first.bytes.length, status: 'side', arrival: nonce })
    overlay.put(tables.sideBody.key(block.header.hash), block.bytes)
  }
  await overlay.commit({ kind: 'header', hash: genesis.header.hash, height: 0 }, { sync: false })
  for (let height = 1; height <= length; height++) await test.accept(craftBlock(test.chain))
  await test.close()
  return store
}
