import { equalBytes } from '../../base/primitives/bytes.js'
import type { Header } from '../../base/primitives/header.js'
import { headersExchange } from '../wire/headers-message.js'
import { keepsAll } from './peer-progress.js'
import { isUnanswered, type SyncPeer } from './sync-peer.js'

/**
 * Asks peers that have all blocks, one after another, for the confirm of a block. What comes is not checked: a peer may have another block
 * there, or none, and the caller needs one right answer.
 */
export async function* fetchConfirms(
  peers: readonly Pick<SyncPeer, 'ask' | 'closed' | 'status'>[],
  { hash, previous }: Pick<Header, 'hash' | 'previous'>,
): AsyncGenerator<Uint8Array, void, void> {
  for (const peer of peers) {
    if (peer.closed || !keepsAll(peer)) continue
    try {
      const [unit] = await peer.ask(headersExchange, { locator: [previous], count: 1 })
      if (unit !== undefined && equalBytes(unit.header.hash, hash)) yield unit.confirm
    } catch (error) {
      if (!isUnanswered(error)) throw error
    }
  }
}
