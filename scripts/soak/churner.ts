/**
 * Peers that come and go: `churner.ts SPEC ADDRESS RATE`, forked by soak.ts. So many visits begin a second, each of another kind
 * and with a new key. Reports how many of which kind have ended, and how many failed.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { blocksExchange } from '../../src/network/wire/blocks-message.js'
import { headersExchange } from '../../src/network/wire/headers-message.js'
import { poolExchange } from '../../src/network/wire/pool-message.js'
import { displayHash } from '../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../src/base/primitives/genesis.js'
import { parseSpec } from '../../src/base/primitives/spec.js'
import { rawPeer } from '../../test/support/client/raw-peer.js'
import { LightPeer } from '../bench/light-peer.js'

/** Maximum concurrent visits: a node drops the oldest of 17 connections of one host without a key. */
const most = 14

const [file = '', address = '', rate = ''] = process.argv.slice(2)
const spec = parseSpec(readFileSync(file, 'utf8'))
const genesis = genesisBlock(spec).header.hash
const protocolPrefix = `/didledger/${displayHash(genesis).slice(0, 8)}`
const port = Number(/\/tcp\/(\d+)/.exec(address)?.[1])

const kinds: Readonly<Record<string, () => Promise<void>>> = {
  /** Requests all data, receives gossip for a while, and disconnects. */
  whole: () =>
    withPeer(async (peer) => {
      const link = await peer.join(address)
      const units = await peer.ask(link, headersExchange, { locator: [genesis], count: 100 })
      const hashes = units.slice(-10).map(({ header }) => header.hash)
      await peer.ask(link, blocksExchange, hashes)
      await peer.ask(link, poolExchange, undefined)
      await setTimeout(1500)
    }),
  /** Disconnects after the handshake. */
  brief: () => withPeer(async (peer) => void (await peer.join(address))),
  /** Proves a key and sends nothing more. */
  silent: () =>
    withPeer(async (peer) => {
      await peer.dial(address)
      await setTimeout(1500)
    }),
  /** A connection, sometimes with a few bytes, that never becomes one of a peer. */
  halfOpen: async () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    if (Math.random() < 0.5) socket.write('\x13/multistream/1.0.0\n')
    await Promise.race([once(socket, 'close'), setTimeout(Math.random() * 3000)])
    socket.destroy()
  },
  /** Opens streams, begins a frame on each and leaves them open. */
  streams: () =>
    withRawPeer(async (open) => {
      for (const name of ['headers', 'headers', 'blocks', 'pool']) {
        await open(`${protocolPrefix}/${name}/1`).catch(() => {})
      }
      await setTimeout(1500)
    }),
  /** Disconnects in the middle of a request. */
  torn: () =>
    withRawPeer(async (open, connection) => {
      await open(`${protocolPrefix}/blocks/1`).catch(() => {})
      connection.abort(new Error('gone'))
    }),
}

const counts: Record<string, number> = Object.fromEntries(Object.keys(kinds).map((name) => [name, 0]))
let underWay = 0
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())
for (let turn = 0; ; turn++) {
  await setTimeout(1000 / Number(rate))
  if (underWay < most) void visit(turn)
  if (turn % 50 === 0) process.send?.({ counts })
}

async function visit(turn: number): Promise<void> {
  const names = Object.keys(kinds)
  const name = names[turn % names.length] as string
  underWay++
  try {
    await kinds[name]?.()
    counts[name] = (counts[name] ?? 0) + 1
  } catch (error) {
    // The node may be busy, or full.
    const reason = `${name} in vain (${(error as Error).message.slice(0, 60)})`
    counts[reason] = (counts[reason] ?? 0) + 1
  }
  underWay--
}

async function withPeer(run: (peer: LightPeer) => Promise<void>): Promise<void> {
  const peer = await LightPeer.open(spec)
  try {
    await run(peer)
  } finally {
    await peer.close()
  }
}

async function withRawPeer(
  run: (open: (protocol: string) => Promise<void>, connection: { abort(error: Error): void }) => Promise<void>,
): Promise<void> {
  const peer = await rawPeer()
  try {
    const connection = await peer.dial(multiaddr(address))
    const open = async (protocol: string) => {
      const stream = await connection.newStream([protocol])
      // The length of a frame that never follows.
      stream.send(Uint8Array.of(64, 0, 0, 0))
    }
    await run(open, connection)
  } finally {
    await peer.stop()
  }
}
