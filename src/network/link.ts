/**
 * What the node asks of a network: dialling, answering, asking, telling. transport.ts implements it over sockets; a
 * simulator can own it. Nothing above knows how bytes travel.
 */

/** A kind of request, as both sides must know it. */
export interface Protocol {
  /** The last part of its id: `headers`. */
  readonly name: string
  /** Rises when the bytes change; the id carries it. */
  readonly version: number
  /** Whether the id carries the chain's genesis hash; only what tells one chain from another does not. */
  readonly ofChain: boolean
  /** Bytes of the longest request and of the longest answer: a longer frame is refused before memory is taken for it. */
  readonly request: number
  readonly answer: number
  /** Milliseconds until an answer that did not come is given up. */
  readonly timeout: number
}

/** A subject that messages are gossiped on. */
export interface TopicInfo {
  readonly name: string
  readonly version: number
  /** Bytes of the longest message. */
  readonly size: number
}

/** A connection to another node, until it is closed. */
export interface Link {
  /** 32-byte Ed25519 public key of the other side, proved by the handshake. */
  readonly publicKey: Uint8Array
  /** Short text that names the other side in logs and on the interfaces. */
  readonly peer: string
  /** Whether the other side opened the connection. */
  readonly inbound: boolean
  /** IP address or host name of the other side, and the port there. */
  readonly host: string
  readonly port: number
  /** Whether it is closed, by either side. */
  readonly closed: boolean
  /**
   * Asks and resolves with the answer. Requests of one protocol go one after another. Rejects with a {@link LinkError}
   * when the connection ends, the other side does not speak the protocol, refuses, answers too late or at too great length.
   */
  request(protocol: Protocol, body: Uint8Array): Promise<Uint8Array>
  /** Closes the connection; what is under way rejects. */
  close(): void
}

/** What became of a gossiped message: told on, dropped, or dropped as wrong. */
export type GossipResult = 'accept' | 'ignore' | 'reject'

/** What the owner of a transport is told and asked. None of these may throw but `answer`. */
export interface LinkHandler {
  /** Whether a connection is welcome, before any work is done for it; the key is not known yet where it comes in. */
  allowsConnection(side: { readonly host: string; readonly inbound: boolean; readonly publicKey?: Uint8Array }): boolean
  connected(link: Link): void
  disconnected(link: Link): void
  /** The answer to a request; the other side learns of a rejection no more than that there is none. */
  answer(link: Link, protocol: Protocol, body: Uint8Array): Promise<Uint8Array>
  /**
   * Whether a gossiped message of so many bytes is to be looked at. Asked for every copy, before it counts as known: what
   * is not looked at can still be heard from others.
   */
  allowsGossip(link: Link, bytes: number): boolean
  /** A neighbour sends more frames of gossip, or entries in them, than the transport takes: its connection is closed next. */
  onFlood(link: Link): void
  /** A gossiped message as the neighbour `link` told it, who need not be its author. */
  onGossip(link: Link, topic: TopicInfo, message: Uint8Array): Promise<GossipResult>
  /** An address where a node may be, found without asking a peer. */
  onAddress(address: string): void
}

export interface Transport {
  /** The port that is listened on; 0 where nothing is. */
  readonly port: number
  /** Begins to listen, to answer and to hear. */
  start(owner: LinkHandler): Promise<void>
  /** Opens a connection to `host:port` or a multiaddr; the owner hears of it before this resolves. Rejects with a LinkError. */
  dial(address: string): Promise<Link>
  /** Tells all neighbours; whoever hears it first tells it on. Does nothing where nobody listens. */
  broadcast(topic: TopicInfo, message: Uint8Array): void
  close(): Promise<void>
}

/** Why nothing came back over a link; `self`: there is none, because it would lead to this node itself. */
export type LinkFailure =
  'closed' | 'unreachable' | 'unsupported' | 'refused' | 'timeout' | 'too-long' | 'busy' | 'self'

/** A connection or a request that came to nothing. No rule is broken by it, and nobody is to blame yet. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
  readonly failure: LinkFailure

  constructor(failure: LinkFailure, message: string) {
    super(message)
    this.failure = failure
  }
}
