import { connect } from 'node:net'
import type { LinkHandler, TopicInfo } from '../../src/network/link.js'
import { Frames } from '../../src/network/transport/frames.js'
import { Gossip, type GossipService } from '../../src/network/transport/gossip.js'
import { Handshakes } from '../../src/network/transport/handshakes.js'
import { Libp2pLink } from '../../src/network/transport/libp2p-link.js'
import { MuxGuard } from '../../src/network/transport/patches/mux-guard.js'
import { RequestServer } from '../../src/network/transport/request-server.js'
import { transportLimits } from '../../src/network/transport/transport-limits.js'
import { Unsent } from '../../src/network/transport/unsent.js'
import { quietLog } from '../support/builders/chain.js'
import { rawConnection, rawPeer } from '../support/client/raw-peer.js'
import { FakeStream, framed } from '../support/fakes/fake-stream.js'
import { ManualTime, rest } from '../support/fakes/manual-time.js'
import { idleHandler, idleLink } from '../support/fakes/stubs.js'
import { echo, startNode, until } from '../support/network/transport.js'
import { everyDoor, limit } from './limit.js'

/** A connection without a proved key. */
class Incoming extends EventTarget {
  taken = 0
  aborted: string | undefined

  onData({ byteLength }: { readonly byteLength: number }): void {
    this.taken += byteLength
  }

  abort(error: Error): void {
    this.aborted = error.message
  }
}

/** Begins so many handshakes, whose hosts follow from their number. */
function handshakes(count: number, host: (i: number) => string): string | undefined {
  const open = new Handshakes(transportLimits)
  const all = Array.from({ length: count }, () => new Incoming())
  all.forEach((incoming, i) => open.begin(host(i), incoming))
  return all.map(({ aborted }) => aborted).find((why) => why !== undefined)
}

/** The header of a frame of Yamux. */
function muxHeader(type: number, flags: number, length: number): Uint8Array {
  const bytes = new Uint8Array(12)
  const view = new DataView(bytes.buffer)
  view.setUint8(1, type)
  view.setUint16(2, flags)
  view.setUint32(8, length)
  return bytes
}

const dataFrame = (size: number) => Buffer.concat([muxHeader(0, 0, size), new Uint8Array(size)])
const ping = muxHeader(2, 1, 0)

/** The first refusal of frames that arrive at once, after those that came before a wait. */
function arriving(frames: readonly Uint8Array[], before: readonly Uint8Array[] = [], wait = 0): string | undefined {
  const clock = { time: 1_000_000, now: () => clock.time }
  const guard = new MuxGuard(transportLimits, clock)
  for (const frame of before) guard.refusal(frame)
  clock.time += wait
  return frames.map((frame) => guard.refusal(frame)).find((refusal) => refusal !== undefined)
}

const many = <T>(count: number, one: T): T[] => new Array<T>(count).fill(one)

/** A frame of bytes that comes in two parts, the second one so many milliseconds after the first. */
async function slowFrame(first: Uint8Array, second: Uint8Array, wait: number): Promise<string | undefined> {
  const time = new ManualTime()
  const stream = new FakeStream()
  const frames = new Frames(stream, 16 * 1024 * 1024, time, transportLimits)
  const read = frames.read().then(
    () => undefined,
    (error: Error) => error.message,
  )
  stream.arrive(first)
  await time.advance(wait)
  stream.arrive(second)
  return read
}

/** Holds answers, given by their host and bytes, each for a link of its own unless a name repeats. */
function holding(answers: readonly (readonly [name: string, host: string, bytes: number])[]): string | undefined {
  const unsent = new Unsent<{ readonly host: string }>(transportLimits, { now: () => 1_000_000 })
  const links = new Map<string, { readonly host: string }>()
  let dropped: string | undefined
  for (const [name, host, bytes] of answers) {
    const link = links.get(name) ?? { host }
    links.set(name, link)
    const held = unsent.hold(link, bytes, () => (dropped ??= 'another answer is dropped'))
    if (held === undefined) dropped ??= 'the answer is refused'
  }
  return dropped
}

/** A server of requests with a stream of a peer. */
function serving(answer: number) {
  const time = new ManualTime()
  const stream = new FakeStream()
  const link = { ...idleLink, timers: time, limits: transportLimits } as unknown as Libp2pLink
  const owner: LinkHandler = { ...idleHandler, answer: () => Promise.resolve(new Uint8Array(1)) }
  const server = new RequestServer(owner, quietLog(), transportLimits, time)
  void server.serve(link, { ...echo, answer }, stream as never)
  return { time, stream, server, link }
}

/** Whether a request is answered that comes in the last of so many milliseconds. */
async function idleFor(milliseconds: number): Promise<string | undefined> {
  const { time, stream } = serving(echo.answer)
  await rest()
  await time.advance(milliseconds - 1)
  stream.arrive(framed(new Uint8Array(1)))
  await rest()
  return stream.sent.length > 0 ? undefined : (stream.aborted?.message ?? 'no answer')
}

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

/** So many connections of one host in the same second, which say nothing but a greeting. */
async function connections(count: number): Promise<string | undefined> {
  const node = await startNode({ limits: { hostHandshakes: 1000, handshakes: 1000 } })
  const sockets = Array.from({ length: count }, () => connect(node.transport.port, '127.0.0.1').on('error', () => {}))
  try {
    const answered = new Set<object>()
    for (const socket of sockets) {
      socket.on('data', () => answered.add(socket))
      socket.write('\x13/multistream/1.0.0\n')
    }
    await until(() => sockets.every((socket) => socket.destroyed || answered.has(socket)))
    return answered.size === count ? undefined : `${count - answered.size} connection closed`
  } finally {
    for (const socket of sockets) socket.destroy()
    await node.close()
  }
}

const mib = 1024 * 1024

export const transportRows = [
  limit({
    name: 'network/transport/transport-limits.transportLimits.handshakes',
    unit: 'count',
    value: 128,
    feed: (n) => handshakes(n, (i) => `1.1.${i}.1`),
    refusal: 'too many connections without a key',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.hostHandshakes',
    unit: 'count',
    value: 16,
    feed: everyDoor(
      (n) => handshakes(n, () => '1.1.1.1'),
      // Addresses of one /64 are one site.
      (n) => handshakes(n, (i) => `2001:db8::${i + 1}`),
    ),
    refusal: 'too many connections without a key',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.hostConnects',
    unit: 'count/s',
    value: 64,
    feed: connections,
    refusal: '1 connection closed',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.negotiationBytes',
    unit: 'bytes',
    value: 1024,
    feed: (n) => {
      const incoming = new Incoming()
      new Handshakes(transportLimits).begin('1.1.1.1', incoming)
      incoming.onData({ byteLength: n - 10 })
      incoming.onData({ byteLength: 10 })
      return incoming.aborted
    },
    refusal: 'too much is said before a protocol is agreed on',
  }),
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
    name: 'network/transport/transport-limits.transportLimits.window',
    unit: 'bytes',
    value: mib,
    feed: (n) => arriving([muxHeader(0, 0, n)]),
    refusal: 'a frame of 1048577 bytes',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.controlFrames',
    unit: 'count',
    value: 512,
    feed: everyDoor(
      (n) => arriving(many(n, ping)),
      (n) => arriving(many(n, muxHeader(1, 1, 0))),
    ),
    refusal: 'too many streams and pings',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.controlTime',
    unit: 'ms',
    value: 10_000,
    // The window is over after so many milliseconds, and not sooner.
    beyond: 9_999,
    feed: (n) => arriving([ping], many(512, ping), n),
    refusal: 'too many streams and pings',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.smallFrame',
    unit: 'bytes',
    value: 256,
    beyond: 255,
    feed: (n) => arriving(many(4_001, dataFrame(n))),
    refusal: 'too many small frames',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.smallFrameRate',
    unit: 'count/s',
    value: 4_000,
    feed: (n) => arriving(many(n, dataFrame(1)), many(4_000, dataFrame(1)), 1_000),
    refusal: 'too many small frames',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.smallFrameBurst',
    unit: 'count',
    value: 20_000,
    feed: (n) => arriving(many(n, dataFrame(1)), [], 3_600_000),
    refusal: 'too many small frames',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.smallFrameStart',
    unit: 'count',
    value: 4_000,
    feed: (n) => arriving(many(n, dataFrame(1))),
    refusal: 'too many small frames',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.answererIdle',
    unit: 'ms',
    value: 30_000,
    feed: idleFor,
    refusal: 'nothing came for a while',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.frameTime',
    unit: 'ms',
    value: 10_000,
    feed: (n) => {
      const frame = framed(new Uint8Array(0))
      return slowFrame(frame.subarray(0, 2), frame.subarray(2), n - 1)
    },
    refusal: 'a message did not arrive whole in time',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.frameRate',
    unit: 'bytes/s',
    value: 32_768,
    // A slower one is refused.
    beyond: 32_767,
    feed: (n) => {
      const frame = framed(new Uint8Array(14 * mib))
      return slowFrame(frame.subarray(0, 4), frame.subarray(4), 10_000 + Math.ceil(((14 * mib) / n) * 1000) - 1)
    },
    refusal: 'a message did not arrive whole in time',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.answersUnsent',
    unit: 'bytes',
    value: 64 * mib,
    feed: (n) =>
      holding([
        ['a', '1.1.1.1', 30 * mib],
        ['b', '1.2.1.1', 30 * mib],
        ['c', '1.3.1.1', n - 60 * mib],
      ]),
    refusal: 'another answer is dropped',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.siteUnsent',
    unit: 'bytes',
    value: 40 * mib,
    feed: (n) =>
      holding([
        ['a', '1.1.1.1', 30 * mib],
        ['b', '1.1.1.1', n - 30 * mib],
      ]),
    refusal: 'another answer is dropped',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.linkAnswersUnsent',
    unit: 'bytes',
    value: 32 * mib,
    feed: (n) =>
      holding([
        ['a', '1.1.1.1', 20 * mib],
        ['a', '1.1.1.1', n - 20 * mib],
      ]),
    refusal: 'the answer is refused',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.answersRest',
    unit: 'ms',
    value: 10_000,
    // Served again after so many milliseconds, and not sooner.
    beyond: 9_999,
    feed: (n) => {
      const clock = { time: 1_000_000, now: () => clock.time }
      const unsent = new Unsent<{ readonly host: string }>(transportLimits, clock)
      const link = { host: '1.1.1.1' }
      unsent.rest(link)
      clock.time += n
      return unsent.rests(link) ? 'it did not take its last answers' : undefined
    },
    refusal: 'it did not take its last answers',
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
