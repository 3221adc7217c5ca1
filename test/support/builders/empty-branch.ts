import { didRoot } from '../../../src/identity/proofs/map-tree.js'
import { mapRootAfter } from '../../../src/ledger/storage/rows/map/map-rows.js'
import { present } from '../../../src/ledger/storage/rows/row-reader.js'
import { craftBlock } from './blocks.js'
import type { TestChain } from './chain.js'

/** Replaces the last blocks of a chain of work by one more, without transactions of others: these wait in the pool again. */
export async function replaceByEmpty(node: TestChain, depth: number): Promise<void> {
  let parent = node.activeHeader(node.reader.height - depth)
  const root = didRoot(
    node.chain.genesis.header.hash,
    present(mapRootAfter(node.database, parent.header.height), 'a root'),
  )
  for (let i = 0; i <= depth; i++) {
    const block = craftBlock(node.chain, { parent, didRoot: root })
    await node.accept(block)
    parent = node.knownHeader(block.header.hash)
  }
}
