import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { GossipResult } from '../../../src/network/link.js'
import { transportLimits } from '../../../src/network/transport/transport-limits.js'
import type { Libp2pLink } from '../../../src/network/transport/libp2p-link.js'
import { stopwatch } from '../../support/process/patience.js'
import { rawConnection, type RawPeer, rawPeer } from '../../support/client/raw-peer.js'
import { closeNodes, echo, news, startNode, type TestNode, until } from '../../support/network/transport.js'

const echoId = '/didledger/07070707/echo/1'
const newsId = '/didledger/07070707/news/1'
const greeting = '\x13/multistream/1.0.0\n'
const sockets: Socket[] = []
const raws: RawPeer[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const peer of raws.splice(0)) await peer.stop()
  await closeNodes()
})

async function hostile(...key: Parameters<typeof rawPeer>): Promise<RawPeer> {
  const peer = await rawPeer(...key)
  raws.push(peer)
  return peer
}

function rawSocket(node: TestNode): Socket {
  const socket = connect(node.transport.port, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  return socket
}

/** A node with an honest neighbour; `works` checks that they still talk. */
async function besieged(limits: NonNullable<Parameters<typeof startNode>[0]>['limits'] = {}) {
  const node = await startNode({ limits })
  // Streams that rest must not be ended by the other side at the moment of a request.
  const honest = await startNode({ limits: { askerIdle: 50 } })
  const link = await honest.transport.dial(node.address)
  const works = async (): Promise<void> => {
    expect(await link.request(echo, Uint8Array.of(1, 2))).toEqual(Uint8Array.of(1, 2))
  }
  await works()
  return { node, honest, link, works }
}

interface InsideStream {
  readonly status: string
  send(bytes: Uint8Array): boolean
  abort(error: Error): void
}

interface InsideMuxer {
  createStream(): Promise<InsideStream>
  sendFrame(header: object, data?: object): void
}

/** The muxer of a connection, which its type leaves out. */
const muxerOf = (connection: object): InsideMuxer => Reflect.get(connection, 'muxer')

/** The streams that a peer opened at a node. */
function streamsAt(node: TestNode, peer: RawPeer): readonly { readonly protocol: string }[] {
  const link = node.owner.links.find((one) => one.peer === peer.peerId.toString()) as Libp2pLink | undefined
  return (link?.connection.streams ?? []).filter(({ direction }) => direction === 'inbound')
}

/** Whether a message of the peer goes to our node. */
function gossips({ services: { gossip } }: RawPeer): boolean {
  const streamsOutbound: ReadonlyMap<string, unknown> = Reflect.get(gossip, 'streamsOutbound')
  return streamsOutbound.size > 0 && gossip.getSubscribers(newsId).length > 0
}

const ids = (count: number) => Array.from({ length: count }, () => randomBytes(32))

/** Sends our node a frame of gossip as it is. */
function frame({ services: { gossip } }: RawPeer, rpc: object): void {
  const streamsOutbound: ReadonlyMap<string, unknown> = Reflect.get(gossip, 'streamsOutbound')
  const sendRpc: (peer: string, rpc: object) => boolean = Reflect.get(gossip, 'sendRpc')
  for (const peer of streamsOutbound.keys()) sendRpc.call(gossip, peer, rpc)
}

const prefix = (length: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(length)
  return bytes
}

describe('a node among hostile peers', () => {
  it('gives a peer few streams of a protocol, and ends those that are left open', async () => {
    const { node, works } = await besieged({ answererIdle: 2_000 })
    const peer = await hostile()
    const connection = await rawConnection(peer, node)
    const opened = await Promise.allSettled(Array.from({ length: 100 }, () => connection.newStream(echoId)))
    expect(opened.some(({ status }) => status === 'fulfilled')).toBe(true)
    const ofEcho = () => streamsAt(node, peer).filter(({ protocol }) => protocol === echoId).length
    await until(() => ofEcho() <= 2)
    await works()
    await until(() => ofEcho() === 0)
    await works()
  })

  it('has a bound for streams without a protocol, and ends them', async () => {
    const { node, works } = await besieged({ negotiationTime: 500 })
    const peer = await hostile()
    const muxer = muxerOf(await rawConnection(peer, node))
    await Promise.all(Array.from({ length: 100 }, () => muxer.createStream()))
    await until(() => streamsAt(node, peer).length > 50)
    expect(streamsAt(node, peer).length).toBeLessThanOrEqual(64)
    await works()
    await until(() => streamsAt(node, peer).filter(({ protocol }) => protocol === '').length === 0)
  })

  it.each([
    [
      'opens and resets streams without end',
      async (muxer: InsideMuxer) => {
        for (let i = 0; i < 600; i++) (await muxer.createStream()).abort(new Error('away'))
      },
    ],
    [
      'pings without end',
      async (muxer: InsideMuxer) => {
        for (let i = 0; i < 600; i++) muxer.sendFrame({ type: 2, flag: 1, streamID: 0, length: i })
        await Promise.resolve()
      },
    ],
    [
      'announces a frame of 2 GiB',
      async (muxer: InsideMuxer) => {
        muxer.sendFrame({ type: 0, flag: 0, streamID: 1, length: 2 ** 31 }, Buffer.alloc(10))
        await Promise.resolve()
      },
    ],
  ])('parts with a peer that %s', async (_what, attack) => {
    const { node, works } = await besieged()
    const peer = await hostile()
    const connection = await rawConnection(peer, node)
    await until(() => node.owner.links.length === 2)
    await attack(muxerOf(connection)).catch(() => {})
    await until(() => node.owner.links.length === 1)
    await works()
  })

  it('ends a stream that announces more than a request may have, or brings it too slowly', async () => {
    const { node, works } = await besieged({ frameTime: 200 })
    const peer = await hostile()
    const connection = await rawConnection(peer, node)
    let asked = 0
    node.owner.answering = (_link, _protocol, body) => Promise.resolve(body).finally(() => asked++)
    for (const bytes of [prefix(2 ** 32 - 1), prefix(echo.request + 1), prefix(10), prefix(1).subarray(0, 2)]) {
      const stream = await connection.newStream(echoId)
      stream.send(bytes)
      await until(() => stream.status !== 'open')
    }
    const stream = await connection.newStream(echoId)
    stream.send(Buffer.concat([prefix(echo.request), Buffer.alloc(echo.request)]))
    await until(() => asked === 1)
    await works()
  })

  it('gives up on a peer that does not take its answers', async () => {
    const { node, works } = await besieged({ frameTime: 200, frameRate: 2 ** 24 })
    const peer = await hostile()
    const connection = await rawConnection(peer, node)
    node.owner.answering = (link, _protocol, body) =>
      Promise.resolve(link.peer === peer.peerId.toString() ? new Uint8Array(echo.answer) : body)
    const stream = await connection.newStream(echoId)
    stream.pause()
    stream.send(prefix(0))
    await until(() => streamsAt(node, peer).some(({ protocol }) => protocol === echoId))
    await until(() => streamsAt(node, peer).every(({ protocol }) => protocol !== echoId))
    await works()
  })

  it('holds so many bytes of answers that are not read, and drops those of the link that reads least', async () => {
    const { node, works } = await besieged({ answersUnsent: echo.answer * 1.5 })
    const connections = [await rawConnection(await hostile(), node), await rawConnection(await hostile(), node)]
    node.owner.answering = (_link, _protocol, body) =>
      Promise.resolve(body.length === 0 ? new Uint8Array(echo.answer) : body)
    const streams: { readonly status: string }[] = []
    for (const connection of connections) {
      const stream = await connection.newStream(echoId)
      stream.pause()
      stream.send(prefix(0))
      streams.push(stream)
      await new Promise((resolve) => setTimeout(resolve, 1_500))
    }
    await until(() => streams[0]?.status !== 'open')
    expect(streams[1]?.status).toBe('open')
    await works()
  })

  it('is not kept from its neighbours by 200 connections that say nothing', async () => {
    const { node, works } = await besieged({ handshakeTime: 30_000, hostConnects: 1000 })
    const silent = Array.from({ length: 200 }, () => rawSocket(node))
    const open = () => silent.filter(({ destroyed }) => !destroyed).length
    await until(() => silent.every(({ connecting }) => !connecting))
    await works()
    await until(() => open() <= 16)
    const newcomer = await startNode()
    const link = await newcomer.transport.dial(node.address)
    expect(await link.request(echo, Uint8Array.of(3))).toEqual(Uint8Array.of(3))
    await works()
  })

  it('ends a connection that says nothing, or goes on about protocols', async () => {
    const { node, works } = await besieged({ handshakeTime: 500 })
    const silent = rawSocket(node)
    const start = performance.now()
    const chatty = rawSocket(node)
    chatty.resume().write(`${greeting}${'\x03ls\n'.repeat(300)}`)
    await until(() => chatty.destroyed)
    expect(silent.destroyed).toBe(false)
    await until(() => silent.destroyed)
    expect(performance.now() - start).toBeGreaterThan(450)
    await works()
  })

  it('ends a stream that goes on about protocols', async () => {
    const { node, works } = await besieged()
    const peer = await hostile()
    const muxer = muxerOf(await rawConnection(peer, node))
    const stream = await muxer.createStream()
    const elapsed = stopwatch()
    stream.send(Buffer.from(`${greeting}${'\x03ls\n'.repeat(300)}`))
    await until(() => stream.status !== 'open')
    expect(elapsed()).toBeLessThan(transportLimits.negotiationTime)
    await works()
  })

  it('takes so many connections of a host in a second', async () => {
    const { node, works } = await besieged({ hostConnects: 20 })
    const silent = Array.from({ length: 40 }, () => rawSocket(node))
    await until(() => silent.filter(({ destroyed }) => destroyed).length >= 20)
    await works()
  })

  it('survives garbage', async () => {
    const { node, works } = await besieged()
    for (const bytes of [
      randomBytes(5000),
      'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
      greeting,
      `${greeting}\x07/noise\n`,
      Buffer.concat([Buffer.from(`${greeting}\x07/noise\n`), randomBytes(300)]),
      Buffer.concat([Buffer.from(`${greeting}\x07/noise\n`), Buffer.from([0xff, 0xff]), Buffer.alloc(70_000)]),
      `${greeting}${'\x03ls\n'.repeat(2000)}`,
      '\xff'.repeat(100_000),
    ]) {
      const socket = rawSocket(node)
      await new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
      if (bytes.length % 2 === 0) socket.resetAndDestroy()
    }
    await works()
  })

  it('wants keys of one kind only', async () => {
    const { node, works } = await besieged()
    const peer = await hostile('secp256k1')
    await rawConnection(peer, node).catch(() => {})
    await works()
    expect(node.owner.links).toHaveLength(1)
    expect(node.owner.left).toEqual([])
  })

  it('parts with a peer whose gossip is too long, and tells nobody', async () => {
    const { node, honest, works } = await besieged()
    const peer = await hostile()
    await rawConnection(peer, node)
    await until(() => gossips(peer))
    await peer.services.gossip.publish(newsId, new Uint8Array(news.size + 1))
    await until(() => node.owner.links.length === 1)
    expect([node.owner.heardMessages, honest.owner.heardMessages]).toEqual([[], []])
    await works()
  })

  it.each([
    ['ids that it has', { ihave: [{ topicID: newsId, messageIDs: ids(400) }] }],
    ['ids that it wants', { iwant: [{ messageIDs: ids(400) }] }],
    ['ids that it knows', { idontwant: [{ messageIDs: ids(400) }] }],
    ['ids that are long', { iwant: [{ messageIDs: [new Uint8Array(25_600)] }] }],
    ['grafts', { graft: Array.from({ length: 20 }, () => ({ topicID: newsId })) }],
    ['prunes', { prune: Array.from({ length: 20 }, () => ({ topicID: newsId, peers: [] })) }],
    ['subscriptions', undefined],
  ])('parts with a peer that tells %s without end', async (_what, control) => {
    const { node, works } = await besieged()
    const peer = await hostile()
    await rawConnection(peer, node)
    await until(() => gossips(peer))
    const subscriptions = Array.from({ length: control === undefined ? 20 : 0 }, () => ({
      topic: newsId,
      subscribe: true,
    }))
    for (let i = 0; i < 10; i++) frame(peer, { subscriptions, messages: [], ...(control && { control }) })
    await peer.services.gossip.publish(newsId, Buffer.from('in time'))
    await until(() => node.owner.heardMessages.includes('in time'))
    expect(node.owner.flooded).toEqual([])
    for (let i = 0; i < 100; i++) frame(peer, { subscriptions, messages: [], ...(control && { control }) })
    await until(() => node.owner.links.length === 1)
    expect(node.owner.flooded.map((link) => link.peer)).toEqual([peer.peerId.toString()])
    await works()
  })

  it('judges so many messages of a neighbour at a time, and can hear the others from somebody else', async () => {
    const { node, honest, works } = await besieged({ gossipPending: 5 })
    const peer = await hostile()
    await rawConnection(peer, node)
    await until(() => gossips(peer))
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    node.owner.judging = async (text): Promise<GossipResult> => {
      if (text.startsWith('flood')) await gate
      return 'accept'
    }
    const gossip = peer.services.gossip
    for (let i = 0; i < 20; i++) await gossip.publish(newsId, Buffer.from(`flood ${i}`))
    await gossip.publish(newsId, Buffer.from('vote'))
    await until(() => node.owner.heardMessages.length === 5)
    // The flood would have hidden the vote, had it counted as heard.
    await until(() => {
      honest.transport.broadcast(news, Buffer.from('vote'))
      return node.owner.heardMessages.includes('vote')
    })
    expect(node.owner.heardMessages.filter((text) => text.startsWith('flood'))).toHaveLength(5)
    release()
    await works()
  })
})
