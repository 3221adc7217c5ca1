import { randomBytes } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Link } from '../../src/network/link.js'
import { protocols } from '../../src/network/wire/all.js'
import { blocksExchange } from '../../src/network/wire/blocks.js'
import { blockSubject, headersExchange, type HeaderUnit } from '../../src/network/wire/headers.js'
import { poolExchange } from '../../src/network/wire/pool.js'
import { statusExchange } from '../../src/network/wire/status.js'
import { transactionsExchange, transactionSubject } from '../../src/network/wire/transactions.js'
import { auxPowBytes } from '../../src/primitives/auxpow.js'
import { Header } from '../../src/primitives/header.js'
import { solved } from '../support/blocks.js'
import { HostilePeer } from '../support/hostile-peer.js'
import { until } from '../support/network.js'
import { Directories } from '../support/process.js'
import { pause, type Seen, Siege } from '../support/siege.js'

const megabyte = 1024 * 1024
const directories = new Directories()
let siege: Siege

beforeAll(async () => {
  siege = await Siege.open(directories, 60)
})
afterAll(async () => {
  await siege.close()
  directories.remove()
})

function report(name: string, seen: Seen): void {
  console.log(name, JSON.stringify({ ...seen, peak: Math.round(seen.peak / megabyte), grown: Math.round(seen.grown / megabyte) }))
}

/** Joins again and again, as long as it is let in; resolves with how often it was. */
async function persist(peer: HostilePeer, act: (link: Link) => Promise<unknown>, most = 30): Promise<number> {
  const { victim } = siege
  for (let joined = 0; joined < most; joined++) {
    const link = await peer.join(victim.address).catch(() => undefined)
    if (link === undefined) return joined
    await act(link)
    await until('the end of the connection', 15, () => Promise.resolve(link.closed ? true : 'open'))
  }
  throw new Error('it is let in however often it comes back')
}

describe('a node attacked by a peer', () => {
  it('baseline', async () => {
    report('baseline', await siege.during(() => pause(3000)))
  })

  it('that sends frames of any length', async () => {
    const peer = await HostilePeer.of(siege.source)
    const seen = await siege.during(async () => {
      const link = await peer.join(siege.victim.address)
      const connection = HostilePeer.connection(link)
      for (const protocol of protocols) {
        for (const length of [2 ** 32 - 1, protocol.request + 1]) {
          const stream = await connection.newStream(peer.protocolId(protocol))
          const prefix = Buffer.alloc(4)
          prefix.writeUInt32LE(length)
          stream.send(prefix)
          await until('the end of the stream', 5, () => Promise.resolve(stream.status === 'open' ? 'open' : true))
        }
      }
    })
    report('frames', seen)
  })

  it('whose headers never end', async () => {
    const { chain, } = siege.source
    const peer = await HostilePeer.of(siege.source, { status: { chainWork: 1n << 200n, tipHash: randomBytes(32), tipHeight: 1_000_000 } })
    const { bits } = chain.tip.header
    let tip = chain.tip.header
    peer.answering(headersExchange, ({ locator, count }) => {
      const units: HeaderUnit[] = []
      for (let i = 0; i < count; i++) {
        const header = new Header({ version: 0, previous: tip.hash, merkleRoot: randomBytes(32), time: tip.time + 1, bits, nonce: 0, height: tip.height + 1 })
        units.push({ header, auxPow: auxPowBytes(solved(header)), confirm: new Uint8Array(0), size: 400 })
        tip = header
      }
      return units
    })
    peer.answering(blocksExchange, (hashes) => hashes.map(() => new Uint8Array(0)))
    const seen = await siege.during(async () => {
      const times = await persist(peer, () => { tip = chain.tip.header; return Promise.resolve() })
      console.log('joined', times, Object.fromEntries(peer.asked), await siege.victim.banOf(peer))
    })
    report('headers', seen)
  })
})
