import { didRoot } from '../../../src/identity/proofs/map-tree.js'
import { mapRootAfter } from '../../../src/ledger/storage/rows/map/map-rows.js'
import { present } from '../../../src/ledger/storage/rows/row-reader.js'
import { craftBlock } from './blocks.js'
import type { TestChain } from './chain.js'

/** The root to which a block commits that follows one without further DID operations in between. */
export function rootAfter(node: TestChain, height: number): Uint8Array {
  return didRoot(node.chain.genesis.header.hash, present(mapRootAfter(node.database, height), 'a root'))
}

/** Replaces the last blocks of a chain of work by one more, without transactions of others: these wait in the pool again. */
export async function replaceByEmpty(node: TestChain, depth: number): Promise<void> {
  let parent = node.activeHeader(node.reader.height - depth)
  const root = rootAfter(node, parent.header.height)
  for (let i = 0; i <= depth; i++) {
    const block = craftBlock(node.chain, { parent, didRoot: root })
    await node.accept(block)
    parent = node.knownHeader(block.header.hash)
  }
}
