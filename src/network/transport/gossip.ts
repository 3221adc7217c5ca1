import type { Log } from '../../runtime/env.js'
import type { LinkHandler, TopicInfo, GossipResult } from '../link.js'
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

/** What stands for a list of ids itself, and for a topic without a name. */
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

/** What Gossipsub has beyond the type that it is made as. */
interface Inside {
  readonly peers: ReadonlyMap<string, PeerId>
  readonly streamsOutbound: Map<string, { readonly rawStream: Pick<Stream, 'status' | 'abort'> }>
  removePeer(peer: PeerId): void
  handleReceivedRpc(from: PeerId, rpc: WireRpc): Promise<void>
  reportMessageValidationResult(id: string, source: string, verdict: GossipResult): void
}

export interface GossipDependencies {
  readonly owner: LinkHandler
  /** By the id that the network knows the topic by. */
  readonly topics: ReadonlyMap<string, TopicInfo>
  readonly log: Log
  linkOf(peer: string): Libp2pLink | undefined
}

/** The gossip of a node: what is heard goes to the owner, and on to others once it says so. */
export class Gossip {
  readonly #service: Libp2pNode['services']['gossip']
  readonly #inside: Inside
  readonly #setting: GossipDependencies

  constructor(service: Libp2pNode['services']['gossip'], setting: GossipDependencies) {
    this.#service = service
    this.#inside = service as unknown as Inside
    this.#setting = setting
    const receive = this.#inside.handleReceivedRpc.bind(service)
    // What is dropped here does not count as known yet, so that it can be heard from others.
    this.#inside.handleReceivedRpc = async (from, rpc) => {
      const peer = from.toString()
      if (!this.#withinBudget(peer, rpc)) return
      rpc.messages = this.#taken(peer, rpc.messages)
      await receive(from, rpc)
    }
    service.addEventListener('gossipsub:message', ({ detail }) => void this.#report(detail))
  }

  subscribe(): void {
    for (const id of this.#setting.topics.keys()) this.#service.subscribe(id)
  }

  /** Whether messages can go to a neighbour. */
  reaches(peer: string): boolean {
    return this.#inside.streamsOutbound.get(peer)?.rawStream.status === 'open'
  }

  /**
   * Forgets neighbours that are gone and streams that have ended. Of those that went while Gossipsub opened a stream to them it
   * keeps that stream for ever, with the connection, and never opens another to the same node.
   */
  sweep(): void {
    const { streamsOutbound, peers } = this.#inside
    for (const [name, { rawStream }] of streamsOutbound) {
      if (rawStream.status === 'open' && this.#setting.linkOf(name) !== undefined) continue
      streamsOutbound.delete(name)
      rawStream.abort(new Error('its connection has ended'))
    }
    for (const [name, peer] of peers) if (this.#setting.linkOf(name) === undefined) this.#inside.removePeer(peer)
  }

  publish(id: string, message: Uint8Array): void {
    this.#service.publish(id, message).catch((error: unknown) => {
      this.#setting.log.debug({ topic: id, error: (error as Error).message }, 'message not sent')
    })
  }

  /** Whether to look at a frame at all. One of a neighbour that sends too much ends the link: what it says of itself is lost. */
  #withinBudget(peer: string, rpc: WireRpc): boolean {
    const link = this.#setting.linkOf(peer)
    if (link === undefined) return true
    if (link.closed) return false
    if (link.takes(itemsOf(rpc, link.limits.gossipTopicItems))) return true
    this.#setting.log.info({ peer }, 'gossip without end; connection closed')
    this.#setting.owner.onFlood(link)
    link.close()
    return false
  }

  /** The messages of a neighbour that there is room for and that the owner looks at. One that is too long ends the link. */
  #taken(peer: string, messages: readonly WireMessage[]): readonly WireMessage[] {
    const link = this.#setting.linkOf(peer)
    if (link === undefined || link.closed) return []
    let { messages: count, bytes } = link.gossip
    return messages.filter(({ topic: id, data }) => {
      const topic = this.#setting.topics.get(id)
      const length = data?.length ?? 0
      if (topic === undefined || link.closed) return false
      if (length > topic.size) {
        this.#setting.log.info({ peer, topic: topic.name, bytes: length }, 'gossip too long; connection closed')
        link.close()
        return false
      }
      count++
      bytes += length
      const room = count <= link.limits.gossipPending && bytes <= link.limits.gossipPendingBytes
      return room && this.#setting.owner.allowsGossip(link, length)
    })
  }

  async #report({ propagationSource, msgId, msg }: GossipMessage): Promise<void> {
    const peer = propagationSource.toString()
    const link = this.#setting.linkOf(peer)
    const topic = this.#setting.topics.get(msg.topic)
    let verdict: GossipResult = 'ignore'
    if (link !== undefined && topic !== undefined) {
      const { length } = msg.data
      link.gossip.messages++
      link.gossip.bytes += length
      try {
        // A copy: the bytes are a part of all that came along with them.
        verdict = await this.#setting.owner.onGossip(link, topic, msg.data.slice())
      } catch (error) {
        this.#setting.log.error({ topic: topic.name, error: (error as Error).message }, 'gossip could not be judged')
      }
      link.gossip.messages--
      link.gossip.bytes -= length
    }
    this.#inside.reportMessageValidationResult(msgId, peer, verdict)
  }
}

/** How much work a frame makes: one for itself and for each message and id, `ofTopic` for a topic it takes up or leaves. */
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
