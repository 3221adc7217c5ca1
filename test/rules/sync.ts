import { checkLinks } from '../../src/network/sync/check-headers.js'
import { blocksExchange } from '../../src/network/wire/blocks-message.js'
import { withoutValidators } from '../support/builders/chain.js'
import { longChain, SyncNode, TestPeer, unitAt } from '../support/network/sync.js'
import type { RuleRow } from './row.js'

/** Headers at these heights of a chain, in this order. */
async function headers(heights: readonly number[]): Promise<void> {
  const source = await longChain(withoutValidators, 3)
  try {
    checkLinks(heights.map((height) => unitAt(source, height)))
  } finally {
    await source.close()
  }
}

/** A new tip told by a peer that hands out its block, or does not. */
async function newTip(handsOut: boolean): Promise<void> {
  const source = await longChain(withoutValidators, 1)
  const peer = new TestPeer(source, { services: 0 })
  if (!handsOut) peer.answering(blocksExchange, async (hashes) => hashes.map(() => new Uint8Array(0)))
  const node = await SyncNode.start(withoutValidators, [peer])
  try {
    await node.sync.announced(peer, unitAt(source, 1))
  } finally {
    await node.close()
    await source.close()
  }
}

export const syncRules: readonly RuleRow[] = [
  { code: 'peer-headers', accepts: () => headers([1, 2, 3]), refuses: () => headers([1, 3]) },
  { code: 'peer-withheld', accepts: () => newTip(true), refuses: () => newTip(false) },
]
