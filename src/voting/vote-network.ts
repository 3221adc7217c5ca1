import type { Hash } from '../base/primitives/hash.js'
import type { SignedMessage } from './tendermint/message.js'

/** Network operations that voting needs. */
export interface VoteNetwork {
  /** Broadcasts a message to all peers. */
  broadcast(message: SignedMessage): void
  /** Fetches the bytes of a whole block from a peer; undefined if no peer serves it now. */
  fetch(hash: Hash): Promise<Uint8Array | undefined>
}
