import type { TopicInfo } from '../../src/network/link.js'
import { Gossip, type GossipService } from '../../src/network/transport/gossip.js'
import { Libp2pLink } from '../../src/network/transport/libp2p-link.js'
import { transportLimits } from '../../src/network/transport/transport-limits.js'
import { quietLog } from '../support/builders/chain.js'
import { rawConnection, rawPeer } from '../support/client/raw-peer.js'
import { framed } from '../support/fakes/fake-stream.js'
import { ManualTime } from '../support/fakes/manual-time.js'
import { idleHandler, idleLink } from '../support/fakes/stubs.js'
import { startNode, until } from '../support/network/transport.js'
import { everyDoor, limit, many, mib } from './limit.js'

/** A link of a peer whose gossip is counted. */
function gossipLink(clock: { now(): number }): Libp2pLink {
  const connection = {
    status: 'open',
    direction: 'inbound',
    remotePeer: 'peer',
    remoteAddr: {
      getComponents: () => [
        { name: 'ip4', value: '1.2.3.4' },
        { name: 'tcp', value: '5' },
      ],
    },
  }
  const dependencies = { clock, timers: new ManualTime(), limits: transportLimits, idOf: () => '' }
  return new Libp2pLink(connection as never, new Uint8Array(32), dependencies)
}

/** The number of messages of one frame of gossip that are looked at, by their sizes. */
async function heard(sizes: readonly number[]): Promise<number> {
  let taken = 0
  const service = {
    peers: new Map(),
    streamsOutbound: new Map(),
    removePeer: () => {},
    handleReceivedRpc: (_from: object, { messages }: { messages: readonly unknown[] }) => {
      taken = messages.length
      return Promise.resolve()
    },
    addEventListener: () => {},
    publish: async () => ({ recipients: [] }),
    subscribe: () => {},
    reportMessageValidationResult: () => {},
  }
  const topic: TopicInfo = { name: 'news', version: 1, size: 8 * 1024 * 1024 }
  const link = { ...idleLink, takes: () => true, limits: transportLimits, gossip: { messages: 0, bytes: 0 } }
  const topics = new Map([['news', topic]])
  new Gossip(service as GossipService, { owner: idleHandler, log: quietLog(), topics, linkOf: () => link })
  const messages = sizes.map((size) => ({ topic: 'news', data: new Uint8Array(size) }))
  await service.handleReceivedRpc('peer' as never, { messages })
  return taken
}

const echoId = '/didledger/07070707/echo/1'

interface RawStream {
  readonly status: string
  send(bytes: Uint8Array): boolean
  addEventListener(type: 'message' | 'remoteCloseWrite', listener: () => void): void
}

/** Opens streams of a hostile peer at a node; a refusal where one of them ends. */
async function openStreams(open: (peer: RawPeerAt) => Promise<string | undefined>): Promise<string | undefined> {
  const node = await startNode({ limits: { negotiationTime: 60_000 } })
  const peer = await rawPeer()
  try {
    const connection = await rawConnection(peer, node)
    await until(() => node.owner.links.length === 1)
    const link = node.owner.links[0] as Libp2pLink
    return await open({ connection, link })
  } finally {
    await peer.stop()
    await node.close()
  }
}

/** Sends to a stream that may have ended. */
function sendTo(stream: RawStream, bytes: Uint8Array): void {
  if (stream.status === 'open') stream.send(bytes)
}

/** A field of bytes in Protocol Buffers, with its number. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.of((number << 3) | 2), lengthOf(bytes), bytes])
}

/** A length in groups of seven bits. */
function lengthOf({ length }: Uint8Array): Uint8Array {
  const groups: number[] = []
  for (let left = length; groups.length === 0 || left > 0; left = Math.floor(left / 128)) groups.push(left % 128)
  return Uint8Array.from(groups, (group, i) => (i === groups.length - 1 ? group : group | 0x80))
}

const newsId = Buffer.from('/didledger/07070707/news/1')
/** A frame of gossip with a message. */
const said = (text: string) => field(2, Buffer.concat([field(2, Buffer.from(text)), field(4, newsId)]))

/** A frame with a message and a list of ids in its control messages. */
const withControl = (kind: number, ids: readonly Uint8Array[]) => {
  return Buffer.concat([said('inside'), field(3, field(kind, Buffer.concat(ids)))])
}

/** A frame of gossip with the message `inside`, on a stream of its own; refused where that is not heard. */
async function gossipFrame(frame: Uint8Array): Promise<string | undefined> {
  const node = await startNode()
  const peer = await rawPeer()
  try {
    const connection = await rawConnection(peer, node)
    // The stream that a peer opens last is read; its own comes by itself.
    const own: ReadonlyMap<string, unknown> = Reflect.get(peer.services.gossip, 'streamsOutbound')
    await until(() => own.size > 0 && node.owner.links.length === 1)
    const stream = (await connection.newStream('/meshsub/1.1.0', { maxOutboundStreams: 100 })) as RawStream
    const say = (rpc: Uint8Array) => sendTo(stream, Buffer.concat([lengthOf(rpc), rpc]))
    const heard = (start: string) => node.owner.heardMessages.some((text) => text.startsWith(start))
    let ended = false
    stream.addEventListener('remoteCloseWrite', () => (ended = true))
    let round = 0
    say(frame)
    await until(() => (say(said(`after ${round++}`)), heard('after') || ended || stream.status !== 'open'))
    return heard('inside') ? undefined : 'the frame is dropped'
  } finally {
    await peer.stop()
    await node.close()
  }
}

interface RawPeerAt {
  readonly connection: Awaited<ReturnType<typeof rawConnection>>
  readonly link: Libp2pLink
}

export const gossipLimits = [
  limit({
    name: 'network/transport/transport-limits.transportLimits.streams',
    unit: 'count',
    value: 64,
    feed: (n) =>
      openStreams(async ({ connection, link }) => {
        const inbound = () => link.connection.streams.filter(({ direction }) => direction === 'inbound').length
        // Gossip has a stream of its own.
        await until(() => inbound() > 0)
        const muxer: { createStream(): Promise<RawStream> } = Reflect.get(connection, 'muxer')
        const opened: RawStream[] = []
        for (let i = inbound(); i < n; i++) opened.push(await muxer.createStream())
        const ended = () => opened.some(({ status }) => status !== 'open')
        await until(() => inbound() >= n || ended())
        return ended() ? 'a stream is ended' : undefined
      }),
    refusal: 'a stream is ended',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.protocolStreams',
    unit: 'count',
    value: 2,
    feed: (n) =>
      openStreams(async ({ connection }) => {
        const answered = new Set<RawStream>()
        const opened: RawStream[] = []
        for (let i = 0; i < n; i++) {
          const stream = (await connection.newStream(echoId, { maxOutboundStreams: 100 })) as RawStream
          stream.addEventListener('message', () => void answered.add(stream))
          sendTo(stream, framed(new Uint8Array(8)))
          opened.push(stream)
        }
        await until(() => opened.every((stream) => answered.has(stream) || stream.status !== 'open'))
        return answered.size === n ? undefined : `${answered.size} streams are served`
      }),
    refusal: '2 streams are served',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.gossipFrame',
    unit: 'bytes',
    value: 2 * mib,
    // The message, and a field that no reader knows, behind its number and three bytes of its length.
    feed: (n) => gossipFrame(Buffer.concat([said('inside'), field(15, new Uint8Array(n - said('inside').length - 4))])),
    refusal: 'the frame is dropped',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.gossipItems',
    unit: 'count',
    value: 5_000,
    feed: everyDoor(
      (n) => gossipFrame(Buffer.concat([said('inside'), ...many(n - 1, field(2, field(4, newsId)))])),
      (n) => gossipFrame(withControl(2, many(n, field(1, Uint8Array.of(1))))),
      (n) => gossipFrame(withControl(1, [field(1, newsId), ...many(n, field(2, Uint8Array.of(1)))])),
      (n) => gossipFrame(withControl(5, many(n, field(1, Uint8Array.of(1))))),
    ),
    refusal: 'the frame is dropped',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.gossipPending',
    unit: 'count',
    value: 256,
    feed: async (n) => ((await heard(many(n, 1))) === n ? undefined : 'a message is dropped'),
    refusal: 'a message is dropped',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.gossipPendingBytes',
    unit: 'bytes',
    value: 2 * mib,
    feed: async (n) => ((await heard([mib, n - mib])) === 2 ? undefined : 'a message is dropped'),
    refusal: 'a message is dropped',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.gossipItemRate',
    unit: 'count/s',
    value: 4_000,
    feed: (n) => {
      const clock = { time: 1_000_000, now: () => clock.time }
      const link = gossipLink(clock)
      link.takes(20_000)
      clock.time += 1_000
      return link.takes(n) ? undefined : 'gossip without end'
    },
    refusal: 'gossip without end',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.gossipItemBurst',
    unit: 'count',
    value: 20_000,
    feed: (n) => (gossipLink({ now: () => 1_000_000 }).takes(n) ? undefined : 'gossip without end'),
    refusal: 'gossip without end',
  }),
]
