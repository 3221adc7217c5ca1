import type { ProvingResolver } from './proved-changes.js'

/** Something about the watch, for its operator. */
export interface WatchNotice {
  readonly kind:
    /** Proofs do not bear out what a node said. */
    | 'unproved-hint'
    /** Nothing can be proved now: what happens meanwhile is told later. */
    | 'waiting'
    /** A connection to a node ended. */
    | 'lost'
    /** Events come. */
    | 'following'
    /** A node said nothing of a change that is proved. */
    | 'withheld'
  readonly text: string
}

export interface WatchOptions {
  /** Addresses of the WebSocket interface of nodes; the next one is taken where one is lost. */
  readonly urls: readonly string[]
  /** Light resolver over nodes or mirrors; what is told is what it proves. */
  readonly resolver: ProvingResolver
  /** DIDs in full; exactly one of `dids` and `query`. */
  readonly dids?: readonly string[]
  /** A condition of a search. */
  readonly query?: string | object
  /** Hash of the genesis block, as it is shown: a state of another chain is refused then. */
  readonly chain?: string
  /** Milliseconds between two proofs of each DID without any hint; 600 000 by default. */
  readonly checkEvery?: number
  /** Reads the state that `save` took last; without one the watch begins with what is so now. */
  readonly load?: () => string | undefined | Promise<string | undefined>
  /** Keeps the state; called after a message was taken, before the next one is told. */
  readonly save?: (state: string) => void | Promise<void>
  readonly signal?: AbortSignal
  onNotice?(notice: WatchNotice): void
}
