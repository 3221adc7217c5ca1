import { randomBytes } from 'node:crypto'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { multiaddr } from '@multiformats/multiaddr'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Link } from '../../src/network/link.js'
import { addressesExchange } from '../../src/network/wire/addresses-message.js'
import { blocksExchange } from '../../src/network/wire/blocks-message.js'
import { headersExchange } from '../../src/network/wire/headers-message.js'
import { statusExchange } from '../../src/network/wire/status-message.js'
import { craft, craftBlock, genesisCoin } from '../support/builders/blocks.js'
import { HostilePeer, type RawStream } from '../support/fakes/hostile-peer.js'
import { until } from '../support/network/test-network.js'
import { Directories } from '../support/process/spawn.js'
import { type RawPeer, rawPeer } from '../support/client/raw-peer.js'
import { ended, expectBounds, pause, Siege, Victim } from '../support/process/attacked-node.js'

const directories = new Directories()
let siege: Siege
const sockets: Socket[] = []
const raws: RawPeer[] = []
const servers: Server[] = []

beforeAll(async () => {
  // All attackers of a test have one address; what one address may have is a test of its own.
  siege = await Siege.open(directories, 300, {}, ['--inbound-per-host', '1000'])
})
afterAll(async () => {
  await siege.close()
  directories.remove()
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) server.close()
  await Promise.all(raws.splice(0).map(async (peer) => peer.stop()))
  await siege.disperse()
})

/** A peer that keeps to the rules is let in, as soon as the rush is over. */
async function expectWelcome(): Promise<void> {
  const peer = await HostilePeer.of(siege.source)
  await until('a connection of somebody new', 10, async () => {
    const link = await peer.join(siege.victim.address)
    return link.closed ? 'closed' : true
  })
  await peer.close()
}

/** A question as it goes over a stream. */
function frame(body: Uint8Array): Buffer {
  const prefix = Buffer.alloc(4)
  prefix.writeUInt32LE(body.length)
  return Buffer.concat([prefix, body])
}

function endpoint(address: string): { host: string; port: number } {
  const [, , host = '', , port = ''] = address.split('/')
  return { host, port: Number(port) }
}

describe('a node and peers', () => {
  it('that open streams and leave them', async () => {
    const { source, victim } = siege
    const peers = await Promise.all(Array.from({ length: 12 }, () => HostilePeer.of(source)))
    const seen = await siege.during(async () => {
      const links: Link[] = []
      for (const peer of peers) links.push(await peer.join(victim.address))
      // Without a protocol, with one, and in the middle of a question.
      await Promise.all(
        links.map(async (link, i) => {
          const peer = peers[i] as HostilePeer
          const connection = HostilePeer.connection(link)
          for (let n = 0; n < 30; n++) await connection.muxer.createStream()
          for (const { protocol } of [headersExchange, blocksExchange, addressesExchange, statusExchange]) {
            const stream = await connection.newStream(peer.protocolId(protocol))
            stream.send(Buffer.of(200))
          }
        }),
      )
      await pause(1000)
      // More and more of them.
      await Promise.all(
        links
          .map(async (link) => {
            const { muxer } = HostilePeer.connection(link)
            for (let n = 0; n < 1000 && !link.closed; n++) {
              const stream = await muxer.createStream()
              if (n % 2 === 0) stream.abort(new Error('away'))
            }
            await ended(link, 60)
          })
          .map((one) => one.catch(() => {})),
      )
      for (const link of links) await ended(link, 60)
    })
    await expectWelcome()
    // 12 connections, and 512 streams of each until it is closed.
    expectBounds(seen, { cpu: 6 })
  })

  it('that ask for blocks and never read them', async () => {
    const { source, victim } = siege
    // Eight of it fill an answer.
    const outputs = Array.from({ length: 8000 }, () => ({ to: 12, value: 1000n }))
    const large = craft(
      source.spec,
      [genesisCoin(source.chain)],
      [...outputs, { to: 10, value: 99_000_000_000n }],
      [10],
    )
    // The pool takes none as large.
    const block = craftBlock(source.chain, { transactions: [large] })
    if (block.bytes.length < 500_000) throw new Error('the block is too small')
    await source.accept(block)
    await siege.bring()
    await siege.caughtUp()
    const peers = await Promise.all(Array.from({ length: 20 }, () => HostilePeer.of(source)))
    const asked = blocksExchange.question.encode(Array.from({ length: 8 }, () => block.header.hash))
    const streams: RawStream[] = []
    const seen = await siege.during(async () => {
      const links: Link[] = []
      for (const peer of peers) links.push(await peer.join(victim.address))
      for (let round = 0; round < 2; round++) {
        for (const [i, link] of links.entries()) {
          const id = (peers[i] as HostilePeer).protocolId(blocksExchange.protocol)
          const stream = await HostilePeer.connection(link).newStream(id)
          stream.pause()
          for (let n = 0; n < 4; n++) stream.send(frame(asked))
          streams.push(stream)
        }
      }
      await pause(4000)
    })
    // 64 MiB of answers that nobody takes, as much again while they are made; 160 MiB are asked for.
    expectBounds(seen, { grown: 140, cpu: 9 })
    await expectWelcome()
  })

  it('that open 1000 connections and say nothing', async () => {
    const { victim } = siege
    const { host, port } = endpoint(victim.address)
    const before = await victim.metric('process_open_fds')
    let most = 0
    const seen = await siege.during(async () => {
      for (let i = 0; i < 1000; i++) {
        const socket = connect(port, host).on('error', () => {})
        if (i % 3 === 0) socket.write('\x13/multistream/1.0.0\n')
        if (i % 3 === 1) socket.write(randomBytes(500))
        sockets.push(socket)
      }
      for (let look = 0; look < 15; look++) {
        most = Math.max(most, await victim.metric('process_open_fds'))
        await pause(200)
      }
      await expectWelcome()
    })
    // 16 without a key, 40 with one; the rest is for the connections of the test itself.
    expect(most - before).toBeLessThan(70)
    expectBounds(seen)
  })

  it('that open 1000 connections with proved keys', async () => {
    const { victim } = siege
    for (let i = 0; i < 50; i++) raws.push(await rawPeer())
    const address = multiaddr(victim.address)
    const before = await victim.metric('process_open_fds')
    let most = 0
    const seen = await siege.during(async () => {
      const dials = raws.flatMap((peer) => Array.from({ length: 20 }, () => peer.dial(address, { force: true })))
      const results = Promise.allSettled(dials)
      for (let look = 0; look < 20; look++) {
        most = Math.max(most, await victim.metric('process_open_fds'))
        await pause(200)
      }
      await results
      await Promise.all(raws.splice(0).map(async (peer) => peer.stop()))
      await expectWelcome()
    })
    // 16 without a key, 40 with one; the rest is for the connections of the test itself.
    expect(most - before).toBeLessThan(70)
    expectBounds(seen, { cpu: 5 })
  })

  it('that are more than it takes', async () => {
    const { source, victim } = siege
    const peers = await Promise.all(Array.from({ length: 45 }, () => HostilePeer.of(source)))
    const seen = await siege.during(async () => {
      const reasons: string[] = []
      for (const peer of peers) await peer.join(victim.address).catch((error: Error) => reasons.push(error.message))
      expect(reasons).toHaveLength(13)
      expect(reasons).toContain('peer-crowded')
      expect(await victim.get<number>('node/connectioncount')).toBe(33)
      await siege.disperse()
    })
    await expectWelcome()
    expectBounds(seen, { cpu: 5 })
  })

  it('that come from one address and are more than half of all', async () => {
    const { source, genesis, honest } = siege
    const peers = await Promise.all(Array.from({ length: 45 }, () => HostilePeer.of(source)))
    const victim = await Victim.start(directories.fresh('shared'), genesis, [honest.line.p2p[0] as string])
    try {
      const links: Link[] = []
      for (const peer of peers) {
        const link = await peer.join(victim.address).catch(() => undefined)
        if (link !== undefined) links.push(link)
      }
      // Of 32 places, and none of them gave way to a later one.
      expect(links.map(({ closed }) => closed)).toEqual(Array.from({ length: 16 }, () => false))
    } finally {
      await victim.node.stop('SIGKILL')
    }
  })

  it('that tell addresses where nobody is', async () => {
    const { source, victim } = siege
    const held = new Set<Socket>()
    let dials = 0
    const trap = createServer((socket) => {
      dials++
      held.add(
        socket
          .resume()
          .on('error', () => {})
          .on('close', () => held.delete(socket)),
      )
      sockets.push(socket)
    })
    servers.push(trap)
    await new Promise<void>((resolve) => trap.listen(0, '0.0.0.0', resolve))
    const { port } = trap.address() as AddressInfo
    const tellers = await Promise.all(Array.from({ length: 4 }, () => HostilePeer.of(source, { port: 0 })))
    let most = 0
    const seen = await siege.during(async () => {
      for (const [i, teller] of tellers.entries()) {
        teller.answering(addressesExchange, () =>
          Array.from({ length: 256 }, (_, n) => ({
            address: `127.1.${i}.${n}:${port}`,
            publicKey: randomBytes(32),
            lastSeen: Math.floor(Date.now() / 1000),
          })),
        )
        await victim.node.admin('addpeer', { address: `127.0.0.1:${teller.transport.port}` })
      }
      for (let look = 0; look < 40; look++) {
        most = Math.max(most, held.size)
        await pause(200)
      }
    })
    expect(dials).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(2)
    expectBounds(seen)
  })
})

describe('a node that starts among liars', () => {
  it('learns the chain from the one that is honest', async () => {
    const { source, genesis, honest } = siege
    await siege.mine()
    const lies = { chainWork: 1n << 200n, tipHash: randomBytes(32), tipHeight: 100_000 }
    const never = () => new Promise<never>(() => {})
    const liars = await Promise.all([
      HostilePeer.of(source, { port: 0, status: lies }),
      HostilePeer.of(source, { port: 0, status: lies }),
      HostilePeer.of(source, { port: 0 }),
      HostilePeer.of(source, { port: 0 }),
      HostilePeer.of(source, { port: 0 }),
    ])
    const [mute, empty, stingy, slow, wrong] = liars as [
      HostilePeer,
      HostilePeer,
      HostilePeer,
      HostilePeer,
      HostilePeer,
    ]
    mute.answering(headersExchange, never)
    empty.answering(headersExchange, () => [])
    stingy.answering(blocksExchange, (hashes) => hashes.map(() => new Uint8Array(0)))
    slow.answering(blocksExchange, never)
    wrong.answering(blocksExchange, (hashes) => hashes.map(() => source.chain.genesis.bytes))
    const peers = liars.map(({ transport }) => `127.0.0.1:${transport.port}`)
    const victim = await Victim.start(directories.fresh('late'), genesis, [...peers, honest.line.p2p[0] as string])
    try {
      await siege.caughtUp(victim, 20)
    } finally {
      await victim.node.stop('SIGKILL')
    }
  })
})
