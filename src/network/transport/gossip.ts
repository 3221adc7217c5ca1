import type { Log } from '../../base/runtime/env.js'
import type { Link, LinkHandler, TopicInfo, GossipResult } from '../link.js'
import type { Libp2pLink } from './libp2p-link.js'
import type { Libp2pNode, PeerId, Stream } from './libp2p-node.js'

interface GossipMessage {
  readonly propagationSource: PeerId
  readonly msgId: string
  readonly msg: { readonly topic: string; readonly data: Uint8Array }
}

interface WireMessage {
  readonly topic: string
  readonly data?: Uint8Array
}

interface WireIds {
  readonly messageIDs?: readonly Uint8Array[]
}

interface WireTopic {
  readonly topic?: string
  readonly topicID?: string
}

/** Counts for an id list itself, and for a topic without a name. */
const noId = new Uint8Array(0)

/** A frame of gossip. */
interface WireRpc {
  messages: readonly WireMessage[]
  readonly subscriptions?: readonly WireTopic[]
  readonly control?: {
    readonly ihave?: readonly (WireIds & WireTopic)[]
    readonly iwant?: readonly WireIds[]
    readonly idontwant?: readonly WireIds[]
    readonly graft?: readonly WireTopic[]
    readonly prune?: readonly WireTopic[]
  }
}

/** Members of Gossipsub that its public type lacks. */
interface Inside {
  readonly peers: ReadonlyMap<string, Pick<PeerId, 'toString'>>
  readonly streamsOutbound: Map<string, { readonly rawStream: Pick<Stream, 'status' | 'abort'> }>
  removePeer(peer: Pick<PeerId, 'toString'>): void
  handleReceivedRpc(from: Pick<PeerId, 'toString'>, rpc: WireRpc): Promise<void>
  reportMessageValidationResult(id: string, source: string, result: GossipResult): void
}

/** Gossipsub with the members that are used here. */
export type GossipService = Pick<Libp2pNode['services']['gossip'], 'addEventListener' | 'publish' | 'subscribe'> &
  Inside

/** A link with its budget for gossip. */
type GossipLink = Link & Pick<Libp2pLink, 'takes' | 'limits' | 'gossip'>

export interface GossipDependencies {
  readonly owner: LinkHandler
  /** By topic id on the wire. */
  readonly topics: ReadonlyMap<string, TopicInfo>
  readonly log: Log
  linkOf(peer: string): GossipLink | undefined
}

/** Gossip of a node: passes received messages to the handler, and relays those that it accepts. */
export class Gossip {
  readonly #service: GossipService
  readonly #dependencies: GossipDependencies

  constructor(service: GossipService, dependencies: GossipDependencies) {
    this.#service = service
    this.#dependencies = dependencies
    const receive = this.#service.handleReceivedRpc.bind(service)
    // Messages dropped here do not count as known: copies from other peers are still accepted.
    this.#service.handleReceivedRpc = async (from, rpc) => {
      const peer = from.toString()
      if (!this.#withinBudget(peer, rpc)) return
      rpc.messages = this.#withinLimits(peer, rpc.messages)
      await receive(from, rpc)
    }
    service.addEventListener('gossipsub:message', ({ detail }) => void this.#report(detail))
  }

  subscribe(): void {
    for (const id of this.#dependencies.topics.keys()) this.#service.subscribe(id)
  }

  /** Whether gossip can be sent to a peer. */
  reaches(peer: string): boolean {
    return this.#service.streamsOutbound.get(peer)?.rawStream.status === 'open'
  }

  /**
   * Removes disconnected peers and ended streams. If a peer disconnects while Gossipsub opens a stream to it, Gossipsub
   * leaks stream and connection, and never opens another stream to that node.
   */
  sweep(): void {
    const { streamsOutbound, peers } = this.#service
    for (const [name, { rawStream }] of streamsOutbound) {
      if (rawStream.status === 'open' && this.#dependencies.linkOf(name) !== undefined) continue
      streamsOutbound.delete(name)
      rawStream.abort(new Error('its connection has ended'))
    }
    for (const [name, peer] of peers) if (this.#dependencies.linkOf(name) === undefined) this.#service.removePeer(peer)
  }

  publish(id: string, message: Uint8Array): void {
    this.#service.publish(id, message).catch((error: unknown) => {
      this.#dependencies.log.debug({ topic: id, error: (error as Error).message }, 'message not sent')
    })
  }

  /** Whether to process a frame. Over the budget → closes the link, since its control messages would be lost. */
  #withinBudget(peer: string, rpc: WireRpc): boolean {
    const link = this.#dependencies.linkOf(peer)
    if (link === undefined) return true
    if (link.closed) return false
    if (link.takes(itemsOf(rpc, link.limits.gossipTopicItems))) return true
    this.#dependencies.log.info({ peer }, 'gossip without end; connection closed')
    this.#dependencies.owner.onFlood(link)
    link.close()
    return false
  }

  /** The messages of a peer within the pending limits and its budget. A message that is too long closes the link. */
  #withinLimits(peer: string, messages: readonly WireMessage[]): readonly WireMessage[] {
    const link = this.#dependencies.linkOf(peer)
    if (link === undefined || link.closed) return []
    let { messages: count, bytes } = link.gossip
    return messages.filter(({ topic: id, data }) => {
      const topic = this.#dependencies.topics.get(id)
      const length = data?.length ?? 0
      if (topic === undefined || link.closed) return false
      if (length > topic.size) {
        this.#dependencies.log.info({ peer, topic: topic.name, bytes: length }, 'gossip too long; connection closed')
        link.close()
        return false
      }
      count++
      bytes += length
      const room = count <= link.limits.gossipPending && bytes <= link.limits.gossipPendingBytes
      return room && this.#dependencies.owner.allowsGossip(link, length)
    })
  }

  async #report({ propagationSource, msgId, msg }: GossipMessage): Promise<void> {
    const peer = propagationSource.toString()
    const link = this.#dependencies.linkOf(peer)
    const topic = this.#dependencies.topics.get(msg.topic)
    let result: GossipResult = 'ignore'
    if (link !== undefined && topic !== undefined) {
      const { length } = msg.data
      link.gossip.messages++
      link.gossip.bytes += length
      try {
        // Copy: the slice would keep the whole frame in memory.
        result = await this.#dependencies.owner.onGossip(link, topic, msg.data.slice())
      } catch (error) {
        this.#dependencies.log.error(
          { topic: topic.name, error: (error as Error).message },
          'gossip could not be judged',
        )
      }
      link.gossip.messages--
      link.gossip.bytes -= length
    }
    this.#service.reportMessageValidationResult(msgId, peer, result)
  }
}

/** Work of a frame: 1 for itself, each message and each id; `ofTopic` for each topic subscribed or left. */
function itemsOf({ messages, subscriptions = [], control = {} }: WireRpc, ofTopic: number): number {
  const { ihave = [], iwant = [], idontwant = [], graft = [], prune = [] } = control
  const ids = [...ihave, ...iwant, ...idontwant].flatMap(({ messageIDs = [] }) => [noId, ...messageIDs])
  const named: readonly WireTopic[] = [...messages, ...ihave]
  const changed: readonly WireTopic[] = [...subscriptions, ...graft, ...prune]
  const partsOfTopics = (topics: readonly WireTopic[]) =>
    topics.reduce((sum, { topic, topicID }) => sum + partsOf(topic ?? topicID ?? noId), 0)
  return 1 + ids.reduce((sum, id) => sum + partsOf(id), 0) + partsOfTopics(named) + ofTopic * partsOfTopics(changed)
}

/** A name of more than 63 bytes counts as several. */
function partsOf({ length }: string | Uint8Array): number {
  return 1 + (length >>> 6)
}
