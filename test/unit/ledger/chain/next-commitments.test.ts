import { expect, it } from 'vitest'
import { didRootAfter } from '../../../../src/ledger/chain/next-commitments.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { meta } from '../../../../src/ledger/storage/rows/tables.js'
import { TestChain } from '../../../support/builders/chain.js'

it('a block commits to nothing where the chain has no map any more, though rows of one are left', async () => {
  const test = await TestChain.open()
  await test.mine(2)
  const roots = () => [0, 1, 2].map((height) => didRootAfter(test.chain, height)?.length)
  expect(roots()).toEqual([32, 32, 32])
  expect(didRootAfter(test.chain, 3)).toBeUndefined()
  const overlay = new Overlay(test.database)
  overlay.del(meta.didMap.key)
  await overlay.commit({ kind: 'layout', height: 2, hash: test.chain.tip.header.hash }, { sync: false })
  expect(roots()).toEqual([undefined, undefined, undefined])
  await test.close()
})
