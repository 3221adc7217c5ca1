import { randomBytes } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { ed25519 } from '@noble/curves/ed25519.js'
import { afterEach, describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { LinkError } from '../../../../src/network/link.js'
import type { Libp2pLink } from '../../../../src/network/transport/libp2p-link.js'
import { stopwatch } from '../../../support/process/patience.js'
import { closeNodes, echo, startNode, type TestNode, until } from '../../../support/network/transport.js'

const servers: Server[] = []

afterEach(async () => {
  await closeNodes()
  for (const server of servers.splice(0)) server.close()
})

/** Where Yamux sends to. */
interface Inside {
  readonly muxer: { createStream(): Promise<unknown>; readonly maConn: { writeStatus: string } }
}

async function dialFailure(node: TestNode, address: string): Promise<LinkError> {
  const error: unknown = await node.transport.dial(address).catch((reason: unknown) => reason)
  if (!(error instanceof LinkError)) throw new Error(`no LinkError: ${String(error)}`)
  return error
}

/** A server that takes connections and says nothing; the port. */
async function silentServer(host = '127.0.0.1'): Promise<number> {
  const server = createServer()
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return (server.address() as AddressInfo).port
}

describe('a link', () => {
  it('that ends while a stream is being opened takes nobody down with it', async () => {
    const [a, b] = [await startNode(), await startNode()]
    const { connection } = (await a.transport.dial(b.address)) as Libp2pLink
    const uncaught: unknown[] = []
    const note = (error: unknown) => void uncaught.push(error)
    process.on('uncaughtExceptionMonitor', note)
    try {
      const muxer: Inside['muxer'] = Reflect.get(connection, 'muxer')
      const opening = muxer.createStream()
      // The socket is gone, and whoever used it hears of that in a moment.
      muxer.maConn.writeStatus = 'closed'
      await opening
      await new Promise((resolve) => setImmediate(resolve))
      connection.abort(new Error('broken off'))
      await until(() => a.owner.links.length === 0)
    } finally {
      process.off('uncaughtExceptionMonitor', note)
    }
    expect(uncaught).toEqual([])
  })
})

describe('a dial', () => {
  it('opens one link on both sides, which know each other by key', async () => {
    const secretKey = randomBytes(32)
    const [a, b] = [await startNode({ secretKey }), await startNode()]
    const link = await a.transport.dial(b.address)
    expect(a.owner.links).toEqual([link])
    expect(link).toMatchObject({ inbound: false, host: '127.0.0.1', port: b.transport.port, closed: false })
    expect(link.peer).toBe(b.transport.peer)
    await until(() => b.owner.links.length === 1)
    const [back] = b.owner.links
    expect(back).toMatchObject({ inbound: true, host: '127.0.0.1', peer: a.transport.peer })
    expect(back?.port).not.toBe(a.transport.port)
    expect(back?.publicKey).toEqual(ed25519.getPublicKey(secretKey))
  })

  it.each(['host:port', 'multiaddr', 'multiaddr with the peer', 'host name'])('takes a %s', async (kind) => {
    const [a, b] = [await startNode(), await startNode()]
    const { port, peer } = b.transport
    const addresses: Record<string, string> = {
      'host:port': b.address,
      multiaddr: `/ip4/127.0.0.1/tcp/${port}`,
      'multiaddr with the peer': `/ip4/127.0.0.1/tcp/${port}/p2p/${peer}`,
      'host name': `localhost:${port}`,
    }
    expect(b.transport.addresses).toEqual([addresses['multiaddr with the peer']])
    const link = await a.transport.dial(addresses[kind] as string)
    expect(link).toMatchObject({ peer, host: '127.0.0.1', port })
  })

  it('reaches a node over IPv6, on the same port as over IPv4', async () => {
    const [a, b] = [await startNode({ port: undefined }), await startNode({ hosts: ['127.0.0.1', '::1'] })]
    expect(a.transport).toMatchObject({ port: 0, addresses: [] })
    const link = await a.transport.dial(`[::1]:${b.transport.port}`)
    expect(link).toMatchObject({ host: '::1', port: b.transport.port })
    await until(() => b.owner.links.length === 1)
    expect(b.owner.links[0]).toMatchObject({ host: '::1', inbound: true })
  })

  it.each([
    ['127.0.0.1:1', 'unreachable', '127.0.0.1:1 cannot be reached: nothing listens there'],
    ['no such host', 'unreachable', 'no such host is no address of a node'],
    ['no-such-host.invalid:1', 'unreachable', 'the host no-such-host.invalid is not known'],
    ['/ip4/127.0.0.1/udp/1', 'unreachable', '/ip4/127.0.0.1/udp/1 is no address of a node'],
  ])('to %s fails: %s', async (address, failure, message) => {
    expect(await dialFailure(await startNode(), address)).toMatchObject({ failure, message })
  })

  it('to the node itself fails, with and without its name', async () => {
    const a = await startNode()
    for (const address of [a.address, a.transport.addresses[0] as string]) {
      expect(await dialFailure(a, address)).toMatchObject({
        failure: 'self',
        message: `${address} is this node itself`,
      })
    }
    expect(a.owner.links).toEqual([])
  })

  it('to another node than the address names fails', async () => {
    const [a, b, c] = [await startNode(), await startNode(), await startNode()]
    const address = `/ip4/127.0.0.1/tcp/${b.transport.port}/p2p/${c.transport.peer}`
    const answers = `${b.transport.peer} answers there; if that is the one you mean, put it behind /p2p/`
    const message = `${address} is another node: ${answers}`
    expect(await dialFailure(a, address)).toMatchObject({ failure: 'refused', message })
  })

  it('to a server of something else fails', async () => {
    const server = createHttpServer()
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const error = await dialFailure(await startNode(), address)
    expect(error).toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('what listens there is no node'),
    })
  })

  it('to somebody who says nothing fails after a while', async () => {
    const a = await startNode({ limits: { dialTime: 300, addressTime: 200 } })
    const error = await dialFailure(a, `127.0.0.1:${await silentServer()}`)
    expect(error.failure).toBe('timeout')
    expect(error.message).toMatch(/does not answer in time$/)
  })

  it('gives up an address long before the whole dial', async () => {
    const a = await startNode({ limits: { dialTime: 600_000, addressTime: 200 } })
    const error = await dialFailure(a, `127.0.0.1:${await silentServer()}`)
    expect(error.failure).toBe('timeout')
  })

  it('under way rejects when the transport closes', async () => {
    const a = await startNode()
    const failed = dialFailure(a, `127.0.0.1:${await silentServer()}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const elapsed = stopwatch()
    await a.close()
    expect((await failed).failure).toBe('closed')
    expect(elapsed()).toBeLessThan(2000)
    expect((await dialFailure(a, '127.0.0.1:1')).failure).toBe('closed')
  })

  it.each([
    ['by the side that dials', 'a', false],
    ['by the side that dials, for its key', 'a', true],
    ['by the other side', 'b', false],
    ['by the other side, for the key', 'b', true],
  ] as const)('is refused %s', async (_by, who, withKey) => {
    const nodes = { a: await startNode(), b: await startNode() }
    const asked: boolean[] = []
    nodes[who].owner.admitted = ({ publicKey, inbound, host }) => {
      expect({ inbound, host }).toEqual({ inbound: who === 'b', host: '127.0.0.1' })
      asked.push(publicKey !== undefined)
      return withKey && publicKey === undefined
    }
    const error = await dialFailure(nodes.a, nodes.b.address)
    expect(error.failure).toBe('refused')
    // The side that dials asks once more, to tell its own refusal from one of the other side.
    const own = `${nodes.b.address} is banned by this node: listbans shows it, removeban ends it`
    if (who === 'a') expect(error.message).toBe(own)
    else expect(error.message).toMatch(/it may have banned this node|what listens there is no node$/)
    expect(error.message).not.toMatch(/gater|\[object|ECONN|EPIPE/)
    expect(new Set(asked)).toEqual(new Set(withKey ? [false, true] : [false]))
    expect([nodes.a.owner, nodes.b.owner].flatMap(({ links, left }) => [...links, ...left])).toEqual([])
  })
})

describe('one link to a peer', () => {
  it('is what several dials lead to', async () => {
    const [a, b] = [await startNode(), await startNode({ hosts: ['127.0.0.1', '::1'] })]
    const { port, peer } = b.transport
    const addresses = [b.address, b.address, `[::1]:${port}`, `/ip4/127.0.0.1/tcp/${port}/p2p/${peer}`]
    const links = await Promise.all(addresses.map((address) => a.transport.dial(address)))
    links.push(await a.transport.dial(`[::1]:${port}`), await a.transport.dial(b.address))
    expect(new Set(links).size).toBe(1)
    await until(() => b.owner.links.length === 1)
    expect(a.owner).toMatchObject({ links: [links[0]], left: [] })
    expect(b.owner.left).toEqual([])
  })

  it('stays when both dial at the same time, and gossip and requests go over it', async () => {
    for (let round = 0; round < 10; round++) {
      const [a, b] = [await startNode(), await startNode()]
      const [ab, ba] = await Promise.all([a.transport.dial(b.address), b.transport.dial(a.address)])
      await until(() => a.owner.links.length === 1 && b.owner.links.length === 1)
      await until(() => a.owner.links[0]?.inbound !== b.owner.links[0]?.inbound)
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect([a.owner.links.length, b.owner.links.length]).toEqual([1, 1])
      expect([ab.peer, ba.peer]).toEqual([b.transport.peer, a.transport.peer])
      const body = Uint8Array.of(round)
      expect(await a.owner.links[0]?.request(echo, body)).toEqual(body)
      expect(await b.owner.links[0]?.request(echo, body)).toEqual(body)
      await Promise.all([a.close(), b.close()])
    }
  })

  it('gives way to a new one of a node that came back', async () => {
    const secretKey = randomBytes(32)
    const b = await startNode()
    const first = await startNode({ secretKey })
    await first.transport.dial(b.address)
    await until(() => b.owner.links.length === 1)
    const [old] = b.owner.links
    const again = await startNode({ secretKey })
    const link = await again.transport.dial(b.address)
    await until(() => b.owner.left.length === 1)
    expect([b.owner.left, b.owner.reasons]).toEqual([[old], ['there is a newer connection to it']])
    expect(b.owner.links).toHaveLength(1)
    expect(old?.closed).toBe(true)
    expect(await link.request(echo, Uint8Array.of(1))).toEqual(Uint8Array.of(1))
  })

  it('can be closed and opened again, fifty times', async () => {
    const [a, b] = [await startNode(), await startNode({ limits: { hostConnects: 1000 } })]
    for (let round = 0; round < 50; round++) {
      const link = await a.transport.dial(b.address)
      await until(() => b.owner.links.length === 1)
      const side = round % 2 === 0 ? link : b.owner.links[0]
      side?.close()
      expect(side?.closed).toBe(true)
      await until(() => a.owner.links.length === 0 && b.owner.links.length === 0)
    }
    expect([a.owner.left.length, b.owner.left.length]).toEqual([50, 50])
  })
})

describe('listening', () => {
  it('on a port that is taken says which', async () => {
    const port = await silentServer()
    const failed: unknown = await startNode({ port }).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(UserError)
    expect((failed as Error).message).toBe(
      `port ${port} of 127.0.0.1 is in use; stop what listens there, or use --port-base N`,
    )
  })

  it('on an address of another machine says so', async () => {
    const failed: unknown = await startNode({ hosts: ['192.0.2.1'] }).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(UserError)
    expect((failed as Error).message).toBe('the address 192.0.2.1 does not exist on this machine')
  })

  it('ends with the transport: the port is free again', async () => {
    const a = await startNode()
    const { port } = a.transport
    await Promise.all([a.close(), a.close()])
    const b = await startNode({ port })
    expect(b.transport.port).toBe(port)
  })
})
