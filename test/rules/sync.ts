import { checkLinks } from '../../src/network/sync/check-headers.js'
import { createInlineVerifier } from '../../src/base/crypto/inline.js'
import { askForState } from '../../src/network/join/state-offers.js'
import { stateListExchange } from '../../src/network/wire/state-message.js'
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

/** A peer says that it has a state with this head. */
async function offered(head: Uint8Array): Promise<void> {
  const source = await longChain(withoutValidators, 0)
  const peer = new TestPeer(source)
  peer.answering(stateListExchange, async (_, honest) => ({ ...(await honest()), head }))
  try {
    const { spec, clock, log } = source
    await askForState(peer, { spec, clock, log, verifier: createInlineVerifier() })
  } finally {
    await source.close()
  }
}

export const syncRules: readonly RuleRow[] = [
  { code: 'peer-headers', accepts: () => headers([1, 2, 3]), refuses: () => headers([1, 3]) },
  { code: 'peer-state', accepts: () => offered(new Uint8Array(0)), refuses: () => offered(new Uint8Array(3)) },
  { code: 'peer-withheld', accepts: () => newTip(true), refuses: () => newTip(false) },
]
