import type { Hash } from '../primitives/hash.js'

/** What voting asks of a network. */
export interface VoteNetwork {
  /** Tells all others the bytes of a message. */
  broadcast(kind: 'proposal' | 'vote', message: Uint8Array): void
  /** The bytes of a whole block from whoever hands it out; undefined when nobody does now. */
  fetch(hash: Hash): Promise<Uint8Array | undefined>
}
