import type { Hash } from '../primitives/hash.js'

/** Network operations that voting needs. */
export interface VoteNetwork {
  /** Broadcasts the bytes of a message to all peers. */
  broadcast(kind: 'proposal' | 'vote', message: Uint8Array): void
  /** Fetches the bytes of a whole block from a peer; undefined if no peer serves it now. */
  fetch(hash: Hash): Promise<Uint8Array | undefined>
}
