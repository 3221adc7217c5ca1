/**
 * Peers that come and go: `churner.ts SPEC ADDRESS RATE`, forked by soak.ts. So many visits begin a second, each of another kind
 * and with a new key.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { genesisBlock } from '../../src/base/primitives/genesis.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { blocksExchange } from '../../src/network/wire/blocks-message.js'
import { headersExchange } from '../../src/network/wire/headers-message.js'
import { poolExchange } from '../../src/network/wire/pool-message.js'
import { HostilePeer, type RawConnection } from '../../test/support/fakes/hostile-peer.js'
import { lightPeer } from '../bench/light-peer.js'
import { portOf } from './hostile/scene.js'
import { carryOut } from './rounds.js'

/** Maximum concurrent visits: a node drops the oldest of 17 connections of one host without a key. */
const most = 14
/** Milliseconds of a visit. */
const stay = 1500

const [file = '', address = '', rate = ''] = process.argv.slice(2)
const spec = parseSpec(readFileSync(file, 'utf8'))
const genesis = genesisBlock(spec).header.hash

const kinds = {
  /** Requests all data, receives gossip for a while, and disconnects. */
  whole: () =>
    withPeer(async (peer) => {
      const link = await peer.join(address)
      const units = await peer.ask(link, headersExchange, { locator: [genesis], count: 100 })
      const hashes = units.slice(-10).map(({ header }) => header.hash)
      await peer.ask(link, blocksExchange, hashes)
      await peer.ask(link, poolExchange, undefined)
      await setTimeout(stay)
    }),
  /** Disconnects after the handshake. */
  brief: () => withPeer((peer) => peer.join(address)),
  /** Proves a key and sends nothing more. */
  silent: () =>
    withPeer(async (peer) => {
      await peer.transport.dial(address)
      await setTimeout(stay)
    }),
  /** A connection, sometimes with a few bytes, that never becomes one of a peer. */
  halfOpen: async () => {
    const socket = connect(portOf(address), '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    if (Math.random() < 0.5) socket.write('\x13/multistream/1.0.0\n')
    await Promise.race([once(socket, 'close'), setTimeout(Math.random() * 3000)])
    socket.destroy()
  },
  /** Opens streams, begins a frame on each and leaves them open. */
  streams: () =>
    withPeer(async (peer) => {
      for (const exchange of [headersExchange, headersExchange, blocksExchange, poolExchange]) {
        await begin(peer, exchange).catch(() => {})
      }
      await setTimeout(stay)
    }),
  /** Disconnects in the middle of a request. */
  torn: () => withPeer(async (peer) => (await begin(peer, blocksExchange)).abort(new Error('gone'))),
}

await carryOut(kinds, 1000 / Number(rate), (_, underWay) => underWay.length < most)

async function withPeer(run: (peer: HostilePeer) => Promise<unknown>): Promise<void> {
  const peer = await lightPeer(spec)
  try {
    await run(peer)
  } finally {
    await peer.close()
  }
}

/** Sends the length of a frame that never follows, on a stream of a peer that is connected or connects. */
async function begin(
  peer: HostilePeer,
  { protocol }: typeof headersExchange | typeof blocksExchange | typeof poolExchange,
) {
  const link = [...peer.links][0] ?? (await peer.transport.dial(address))
  const connection: RawConnection = HostilePeer.connection(link)
  const stream = await connection.newStream(peer.protocolId(protocol))
  stream.send(Uint8Array.of(64, 0, 0, 0))
  return connection
}
