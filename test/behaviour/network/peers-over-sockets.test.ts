import { EventEmitter } from 'node:events'
import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { afterEach, describe, expect, it } from 'vitest'
import type { ChainChange } from '../../../src/ledger/chain/chain.js'
import { openTransport } from '../../../src/network/open-transport.js'
import { PeerManager } from '../../../src/network/peers/peer-manager.js'
import type { NodeTransport } from '../../../src/network/transport/transport-options.js'
import { protocols, topics } from '../../../src/network/wire/all-messages.js'
import { fromUtf8, toHex } from '../../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../../src/base/primitives/genesis.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { memoryStore, quietLog } from '../../support/builders/chain.js'
import { until } from '../../support/network/test-network.js'
import { chat, echo } from '../../support/network/peers-world.js'
import { type SpecOverrides, testSpec } from '../../support/builders/spec.js'

interface Opened {
  readonly peers: PeerManager
  readonly transport: NodeTransport
  readonly publicKey: Uint8Array
  address: string
  close(): Promise<void>
}

let open: Opened[] = []
afterEach(async () => {
  await Promise.all(open.map((node) => node.close()))
  open = []
})

/** Peers over real sockets of this machine. */
async function node(
  options: { peers?: string[]; spec?: SpecOverrides; inbound?: number; outbound?: number } = {},
): Promise<Opened> {
  const { peers: told = [], inbound = 32, outbound = 8 } = options
  const spec = parseSpec(testSpec({ validators: [], producer: 'miners', ...options.spec }))
  const genesis = genesisBlock(spec)
  const env = systemEnv(quietLog())
  const secretKey = randomBytes(32)
  const publicKey = ed25519.getPublicKey(secretKey)
  const transport = await openTransport({
    secretKey,
    genesis: genesis.header.hash,
    protocols: [...protocols, echo.protocol],
    topics: [...topics, chat.topic],
    hosts: ['127.0.0.1'],
    port: 0,
    env,
  })
  const database = await Database.over(memoryStore())
  const tip = { header: genesis.header, chainWork: 0n }
  const chain = {
    spec,
    genesis,
    tip,
    events: new EventEmitter<{ change: [ChainChange]; fatal: [Error] }>(),
    database,
    prunes: false,
    prunedHeight: 0,
    prunesDocuments: false,
    supersededHeight: 0,
  }
  const settings = { peers: told, inbound, outbound }
  const peers = await PeerManager.open({ ...env, transport, publicKey, chain, settings })
  peers.serve(echo, async (_, question) => question)
  await peers.start()
  const close = async () => {
    await peers.close()
    await database.close()
  }
  const opened = { peers, transport, publicKey, address: `127.0.0.1:${transport.port}`, close }
  open.push(opened)
  return opened
}

const sees = (one: Opened, other: Opened) =>
  one.peers.all().some(({ link }) => Buffer.from(link.publicKey).equals(other.publicKey))

const meet = (one: Opened, other: Opened) =>
  until('a connection', 15, async () => (sees(one, other) && sees(other, one) ? true : 'none'))

describe('peers over sockets', () => {
  it('meet, ask, tell, learn addresses, and show where they are', async () => {
    const a = await node()
    const b = await node({ peers: [a.address] })
    const c = await node({ peers: [`/ip4/127.0.0.1/tcp/${a.transport.port}/p2p/${a.transport.peer}`] })
    await meet(a, b)
    await meet(a, c)
    // They heard of each other from the first.
    await meet(b, c)
    const [first] = b.peers.all()
    expect(await first?.ask(echo, fromUtf8('hello')).then(toHex)).toBe(toHex(fromUtf8('hello')))
    const heard: string[] = []
    for (const one of [a, c]) {
      one.peers.listen(chat, async (_, message) => {
        heard.push(Buffer.from(message).toString())
        return 'accept'
      })
    }
    await until('gossip', 20, async () => {
      b.peers.broadcast(chat, randomBytes(8))
      return heard.length >= 2 ? true : `${heard.length} messages`
    })
    const shown = a.peers.neighbors()
    expect(shown.map(({ address }) => address).sort()).toEqual([b.address, c.address].sort())
    expect(shown.every(({ external }) => external)).toBe(true)
    expect(shown.map(({ name }) => name).sort()).toEqual([b.transport.peer, c.transport.peer].sort())
  })

  it('of another chain learn why they part', async () => {
    const a = await node({ spec: { name: 'other' } })
    const b = await node({ peers: [a.address] })
    const codes = (one: Opened) => one.peers.lastRefusals.map(({ code }) => code)
    await until('a reason', 10, async () => (codes(b).includes('peer-genesis') && codes(a).length > 0 ? true : 'none'))
    expect([...new Set([...codes(a), ...codes(b)])]).toEqual(['peer-genesis'])
    expect([a.peers.all(), b.peers.all()]).toEqual([[], []])
  })

  it('are told when there is no room, and when they are banned', async () => {
    const a = await node({ inbound: 1 })
    const b = await node({ peers: [a.address], outbound: 0 })
    await meet(a, b)
    const c = await node({ outbound: 0 })
    await expect(c.peers.connect(a.address)).rejects.toMatchObject({ code: 'peer-crowded' })
    await a.peers.ban(toHex(b.publicKey))
    await until('the end', 10, async () => (sees(b, a) ? 'still there' : true))
    await c.peers.connect(a.address)
    expect(sees(c, a)).toBe(true)
    await expect(b.peers.connect(a.address)).rejects.toMatchObject({ name: 'LinkError' })
  })

  it('come back when a node comes back, and meet once when both connect at the same time', async () => {
    const a = await node()
    const b = await node()
    await Promise.allSettled([a.peers.connect(b.address), b.peers.connect(a.address)])
    await meet(a, b)
    expect([a.peers.all().length, b.peers.all().length]).toEqual([1, 1])
    a.peers.all()[0]?.link.close()
    await until('the end', 10, async () => (b.peers.all().length === 0 ? true : 'still there'))
    await meet(a, b)
  })

  it('do not connect with themselves', async () => {
    const a = await node()
    await expect(a.peers.connect(a.address)).rejects.toMatchObject({ name: 'LinkError' })
    expect(a.peers.all()).toEqual([])
  })
})
