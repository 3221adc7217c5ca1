import { describe, expect, it } from 'vitest'
import { sideBlockLimit } from '../../../../src/ledger/chain/side-blocks.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'
import { storeWithSideBlocks } from '../../../support/builders/side-rows.js'

/** A devnet of two blocks with room for one side block, and another block for height 2. */
async function scene() {
  const overrides = { ...oneValidator(), devnet: true }
  const store = await storeWithSideBlocks(sideBlockLimit - 1, { overrides })
  const test = await TestChain.open(overrides, { store })
  const { chain } = test
  const left = await test.reader.block(chain.tip)
  const right = craftBlock(chain, { parent: test.activeHeader(1) })
  const replace = (block: Block, options?: { readonly keep: boolean }) => {
    const incoming = { block: block.bytes, confirm: test.confirmFor(block) as Uint8Array }
    return chain.exclusive((writer) => writer.replace(chain.tip.header.previous, [incoming], options))
  }
  const stored = ({ header: { hash } }: Block) => {
    return [chain.headers.get(hash)?.status, test.database.get(tables.sideBody.key(hash)) !== undefined]
  }
  return { test, left, right, replace, stored }
}

const [active, aside, gone] = [
  ['active', false],
  ['side', true],
  [undefined, false],
]

describe('the last block of a devnet that gives way to another one', () => {
  it('is deleted, and takes no room among side blocks', async () => {
    const { test, left, right, replace, stored } = await scene()
    await replace(right)
    expect([stored(left), stored(right)]).toEqual([gone, active])
    await replace(left, { keep: true })
    expect([stored(left), stored(right)]).toEqual([active, aside])
    await test.close()
  })

  it('or becomes a side block where there is room, which it takes until it comes back', async () => {
    const { test, left, right, replace, stored } = await scene()
    await replace(right, { keep: true })
    expect([stored(left), stored(right)]).toEqual([aside, active])
    const third = craftBlock(test.chain, { parent: test.activeHeader(1) })
    await replace(third, { keep: true })
    expect([left, right, third].map(stored)).toEqual([aside, gone, active])
    await replace(left)
    await replace(third, { keep: true })
    expect([left, third].map(stored)).toEqual([aside, active])
    await test.close()
  })
})
