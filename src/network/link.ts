/**
 * Interface of the node to a network: dial, serve, request, announce. `transport/` implements it over sockets, the
 * simulator in memory. Callers depend on neither.
 */

/** A kind of request; equal at both ends of a link. */
export interface Protocol {
  /** The last part of its id: `headers`. */
  readonly name: string
  /** Rises when the bytes change; part of the id. */
  readonly version: number
  /** Whether the id contains the genesis hash; false only for the exchange that compares chains. */
  readonly ofChain: boolean
  /** Maximum bytes of a request and of an answer: a longer frame is refused before memory is allocated. */
  readonly request: number
  readonly answer: number
  /** Milliseconds until a request without an answer fails. */
  readonly timeout: number
}

/** A gossip topic. */
export interface TopicInfo {
  readonly name: string
  readonly version: number
  /** Maximum bytes of a message. */
  readonly size: number
}

/** An authenticated connection to another node. */
export interface Link {
  /** 32-byte Ed25519 public key of the peer, proved by the handshake. */
  readonly publicKey: Uint8Array
  /** Short name of the peer in logs and on the interfaces. */
  readonly peer: string
  /** Whether the peer opened the connection. */
  readonly inbound: boolean
  /** IP address or host name of the peer, and its port. */
  readonly host: string
  readonly port: number
  /** Whether it is closed, by either end. */
  readonly closed: boolean
  /**
   * Sends a request and resolves with the answer. Requests of one protocol are sequential. Rejects with a
   * {@link LinkError}: connection closed, protocol unsupported, request refused, answer too late or too long.
   */
  request(protocol: Protocol, body: Uint8Array): Promise<Uint8Array>
  /** Closes the connection; pending requests reject. */
  close(): void
}

/** The reason for which a connection is closed when its peer opens another one. */
export const newerConnection = 'there is a newer connection to it'

/** Result for a gossip message: pass on, drop, or drop and penalise. */
export type GossipResult = 'accept' | 'ignore' | 'reject'

/** Callbacks of a transport. Only `answer` may throw. */
export interface LinkHandler {
  /** Whether to allow a connection, called before any work for it. The key of an inbound one is not known yet. */
  allowsConnection(side: { readonly host: string; readonly inbound: boolean; readonly publicKey?: Uint8Array }): boolean
  connected(link: Link): void
  /** `reason`: why this end of the transport gave it up; absent: it did not, or the link was closed by its own method. */
  disconnected(link: Link, reason?: string): void
  /** The answer to a request; rejection → no answer, and the peer gets no reason. */
  answer(link: Link, protocol: Protocol, body: Uint8Array): Promise<Uint8Array>
  /**
   * Whether to process a gossip message of so many bytes. Called for every copy, before the message counts as known:
   * a refused copy can still arrive from other peers.
   */
  allowsGossip(link: Link, bytes: number): boolean
  /** The peer exceeded the budget for gossip frames or their entries; the transport closes the link next. */
  onFlood(link: Link): void
  /** A gossip message relayed by `link`, which need not be its author. */
  onGossip(link: Link, topic: TopicInfo, message: Uint8Array): Promise<GossipResult>
  /** An address of a possible node, found by discovery rather than from a peer. */
  onAddress(address: string): void
}

export interface Transport {
  /** The listening port; 0 if not listening. */
  readonly port: number
  /** Starts to listen, to answer requests and to receive gossip. */
  start(owner: LinkHandler): Promise<void>
  /** Opens a link to `host:port` or a multiaddr; `connected` is called before this resolves. Rejects with a LinkError. */
  dial(address: string): Promise<Link>
  /** Gossips a message to all peers, which relay it. Does nothing without peers. */
  broadcast(topic: TopicInfo, message: Uint8Array): void
  close(): Promise<void>
}

/** Why a dial or request failed; `self`: the address is that of this node. */
export type LinkFailure =
  | 'closed'
  | 'unreachable'
  | 'unsupported'
  | 'refused'
  | 'timeout'
  | 'too-long'
  | 'busy'
  | 'self'

/** A failed connection or request. It breaks no rule and carries no penalty by itself. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
  readonly failure: LinkFailure

  constructor(failure: LinkFailure, message: string) {
    super(message)
    this.failure = failure
  }
}
