import { EventEmitter } from 'node:events'
import type { Code } from '../../src/base/errors/error-codes.js'
import type { Link } from '../../src/network/link.js'
import { peeringOptions } from '../../src/node/library/peering-options.js'
import { AddressBook } from '../../src/network/peers/address-book.js'
import { staleAfter, takeAddresses } from '../../src/network/peers/address-exchange.js'
import { Apart } from '../../src/network/peers/apart.js'
import { Bans } from '../../src/network/peers/bans.js'
import { givingWay } from '../../src/network/peers/inbound-places.js'
import { Merits } from '../../src/network/peers/merits.js'
import { MisbehaviourScores } from '../../src/network/peers/misbehaviour-scores.js'
import { PeerConnections, type PeersEvents } from '../../src/network/peers/peer-connections.js'
import { PeerRecord } from '../../src/network/peers/peer-record.js'
import { PeerRows } from '../../src/network/peers/peer-rows.js'
import { penaltyOf } from '../../src/network/penalties.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { sha256, zeroHash } from '../../src/base/primitives/hash.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { Database } from '../../src/ledger/storage/database.js'
import { memoryStore, quietLog } from '../support/builders/chain.js'
import { configOf } from '../support/builders/config.js'
import { ManualTime } from '../support/fakes/manual-time.js'
import { idleLink, idleStatus } from '../support/fakes/stubs.js'
import { testSpec } from '../support/builders/spec.js'
import { keyOf, PeersWorld } from '../support/network/peers-world.js'
import { each, everyDoor, limit, mib } from './limit.js'

const start = 1_800_000_000_000
const key = (i: number) => sha256(`key ${i}`)
const listed = (count: number) => Array.from({ length: count }, (_, i) => `192.0.2.${i}:20338`)

/** Rows of peers over an empty database. */
async function emptyRows() {
  const database = await Database.over(memoryStore())
  const tip = { header: { height: 0, hash: zeroHash } }
  return { database, rows: new PeerRows({ database, tip }, quietLog()) }
}

/** A book without addresses that keeps what it has: of two choices at random it takes the first. */
async function emptyBook(now = () => start): Promise<AddressBook> {
  const { database, rows } = await emptyRows()
  const random = { bytes: (length: number) => new Uint8Array(length) }
  return AddressBook.open(database, { rows, now, random, publicKey: zeroHash, staleAfter })
}

/** A book that learns so many addresses. */
async function learning(count: number, host: (i: number) => string): Promise<string | undefined> {
  const book = await emptyBook()
  let refused = 0
  each(count, (i) => void (book.learn({ host: host(i), port: 1 }) || refused++))
  return refused === 0 ? undefined : `${refused} address is not taken`
}

async function bans(now = () => start): Promise<Bans> {
  const { database, rows } = await emptyRows()
  return Bans.open(database, rows, now)
}

/** A connection, which a test can see closed. */
function openLink(i: number, host: string): Link {
  const link = { ...idleLink, publicKey: key(i), peer: `peer ${i}`, inbound: true, host, port: 1000 + i, closed: false }
  return Object.assign(link, { close: () => void (link.closed = true) })
}

/** Connections of a node with two places for others. */
async function connections(time = new ManualTime()) {
  const options = {
    clock: time,
    timers: time,
    log: quietLog(),
    publicKey: zeroHash,
    common: { genesis: zeroHash, spec: { name: 'test', upgradesDigest: () => zeroHash } },
    inbound: 2,
    perHost: 8,
    bans: await bans(() => time.now()),
    scores: new MisbehaviourScores(() => time.now()),
    events: new EventEmitter<PeersEvents>(),
    ownStatus: () => idleStatus,
    expected: () => 0,
    named: () => false,
    namedByKey: () => false,
  }
  return { time, all: new PeerConnections(options) }
}

/** A peer whose clock only the test moves. */
function record() {
  const clock = { time: start }
  const penalties: Code[] = []
  const link = openLink(1, '1.1.1.1')
  const sink = {
    now: () => clock.time,
    penalise: (_: PeerRecord, code: Code) => void penalties.push(code),
    delivered: () => {},
    closing: () => {},
  }
  return { clock, penalties, link, peer: new PeerRecord(link, idleStatus, sink, 256) }
}

type Kind = 'request' | 'gossip'

/** Messages of a peer at once, after those before and a second's wait. */
function messages(kind: Kind, count: number, before = 0): string | undefined {
  const { peer, clock, penalties } = record()
  each(before, () => peer.allowsMessage(kind, 0))
  clock.time += before > 0 ? 1000 : 0
  each(count, () => peer.allowsMessage(kind, 0))
  return penalties[0]
}

/** Bytes of a message of a peer, a second after those before. */
function bytes(size: number, before = 0): string | undefined {
  const { peer, clock, penalties } = record()
  if (before > 0) peer.allowsMessage('request', before)
  clock.time += before > 0 ? 1000 : 0
  peer.allowsMessage('request', size)
  return penalties[0]
}

/** Takes an address that was last seen at a time, by a clock. */
async function taking(lastSeen: number, now: number): Promise<string | undefined> {
  const address = { address: '8.8.1.1:1', publicKey: key(1), lastSeen: lastSeen / 1000 }
  const taken = takeAddresses(record().peer, [address], await emptyBook(() => now), now)
  return taken === 1 ? undefined : 'the address is not taken'
}

export const peerLimits = [
  limit({
    name: 'network/network-options.maxListedPeers',
    unit: 'count',
    value: 64,
    feed: everyDoor(
      (n) => void configOf(JSON.stringify({ network: { peers: listed(n) } }), { command: 'start' }),
      (n) => void peeringOptions({ peers: listed(n) }, parseSpec(testSpec())),
    ),
    refusal: /network.peers is not a list of 1 to 64[^]*peers: a list of at most 64 addresses/,
  }),
  limit({
    name: 'network/peers/address-book.mostAddresses',
    unit: 'count',
    value: 2000,
    feed: (n) => learning(n, (i) => `${11 + Math.floor(i / 200)}.${i % 200}.1.1`),
    refusal: '1 address is not taken',
  }),
  limit({
    name: 'network/peers/address-book.addressesOfGroup',
    unit: 'count',
    value: 64,
    feed: (n) => learning(n, (i) => `8.8.${i}.1`),
    refusal: '1 address is not taken',
  }),
  limit({
    name: 'network/peers/address-exchange.staleAfter',
    unit: 'ms',
    value: 30 * 24 * 60 * 60 * 1000,
    // Seen in the last of so many milliseconds.
    feed: (n) => taking(start, start + n - 1),
    refusal: 'the address is not taken',
  }),
  limit({
    name: 'network/peers/address-exchange.clockTolerance',
    unit: 'ms',
    value: 60 * 60 * 1000,
    feed: (n) => taking(start, start - n + 1),
    refusal: 'the address is not taken',
  }),
  limit({
    name: 'network/peers/apart.mostApart',
    unit: 'count',
    value: 256,
    feed: (n) => {
      const apart = new Apart(() => start)
      each(n, (i) => apart.part(key(i)))
      return apart.has(key(0)) ? undefined : 'the oldest has left'
    },
    refusal: 'the oldest has left',
  }),
  limit({
    name: 'network/peers/bans.mostBans',
    unit: 'count',
    value: 1000,
    feed: async (n) => {
      const all = await bans()
      for (let i = 0; i < n; i++) await all.add('key', toHex(key(i)), start + 1000 + i, 'reason')
      return all.find(key(0), '1.1.1.1') === undefined ? 'the ban that ends first has left' : undefined
    },
    refusal: 'the ban that ends first has left',
  }),
  limit({
    name: 'network/peers/bans.mostSuspects',
    unit: 'count',
    value: 1000,
    feed: async (n) => {
      const all = await bans()
      each(n, (i) => all.suspect(`8.${Math.floor(i / 200)}.${i % 200}.1`, start + 1000))
      return all.suspects('8.0.0.1') ? undefined : 'the oldest has left'
    },
    refusal: 'the oldest has left',
  }),
  limit({
    name: 'network/peers/bans.banReason',
    unit: 'bytes',
    value: 200,
    feed: async (n) => {
      const all = await bans()
      await all.add('key', toHex(key(1)), start + 1000, 'x'.repeat(n))
      return all.list()[0]?.reason.length === n ? undefined : 'the reason is cut'
    },
    refusal: 'the reason is cut',
  }),
  limit({
    name: 'network/peers/inbound-places.inboundPerHost',
    unit: 'count',
    value: 8,
    feed: async (n) => {
      const world = new PeersWorld()
      try {
        const hub = await world.open({ outbound: 0 })
        for (let i = 0; i < n; i++) {
          await world.open({ host: '8.8.8.8', port: 20_000 + i, peers: [hub.address], outbound: 0 })
        }
        await world.run(3_000)
        const { length } = hub.peers.all()
        return length === n ? undefined : `${length} connections`
      } finally {
        await world.close()
      }
    },
    refusal: '8 connections',
  }),
  limit({
    name: 'network/peers/inbound-places.slowHandshake',
    unit: 'ms',
    value: 2_000,
    // A handshake in the last of so many milliseconds keeps its place.
    feed: (n) => {
      const waiting = [{ host: '1.1.1.1', since: start - n + 1 }]
      return givingWay(waiting, '2.2.2.2', start) === undefined ? undefined : 'another one takes its place'
    },
    refusal: 'another one takes its place',
  }),
  limit({
    name: 'network/peers/merits.mostMerits',
    unit: 'count',
    value: 1024,
    feed: (n) => {
      const merits = new Merits(() => start)
      each(n, (i) => merits.note(key(i), 'block'))
      return merits.lately(key(0)) ? undefined : 'the oldest has left'
    },
    refusal: 'the oldest has left',
  }),
  limit({
    name: 'network/peers/misbehaviour-scores.banPoints',
    unit: 'points',
    value: 100,
    // Points of one rule, and a time in which all but the last of so many points are left.
    feed: async (n) => {
      const time = new ManualTime(start)
      const { all } = await connections(time)
      const link = openLink(1, '1.1.1.1')
      all.connected(link)
      all.answerStatus(link, idleStatus)
      const peer = all.peerOf(link) as PeerRecord
      const step = penaltyOf('tx-malformed')
      for (let i = 0; i < 9; i++) all.penalise(peer, 'tx-malformed')
      // 90 points fade to so many that one more penalty makes n - 1.
      await time.advance(12_000 * (9 * step - (n - 1 - step)))
      all.penalise(peer, 'tx-malformed')
      return link.closed ? 'banned' : undefined
    },
    refusal: 'banned',
  }),
  limit({
    name: 'network/peers/misbehaviour-scores.forgivenEvery',
    unit: 'ms',
    value: 12_000,
    // Forgiven after so many milliseconds, and not sooner.
    beyond: 11_999,
    feed: (n) => {
      const clock = { time: start }
      const scores = new MisbehaviourScores(() => clock.time)
      scores.add(key(1), 1)
      clock.time += n
      return scores.of(key(1)) === 0 ? undefined : 'the point still counts'
    },
    refusal: 'the point still counts',
  }),
  limit({
    name: 'network/peers/misbehaviour-scores.mostScored',
    unit: 'count',
    value: 4096,
    feed: (n) => {
      const scores = new MisbehaviourScores(() => start)
      each(n, (i) => scores.add(key(i), 1))
      return scores.of(key(0)) === 1 ? undefined : 'the oldest has left'
    },
    refusal: 'the oldest has left',
  }),
  limit({
    name: 'network/peers/peer-connections.inboundSlack',
    unit: 'count',
    value: 8,
    feed: async (n) => {
      const { all } = await connections()
      const links = Array.from({ length: 2 + n }, (_, i) => openLink(i, `${10 + i}.1.1.1`))
      links.forEach((link) => all.connected(link))
      return links.some(({ closed }) => closed) ? 'closed without a word' : undefined
    },
    refusal: 'closed without a word',
  }),
  limit({
    name: 'network/peers/peer-connections.handshakeTimeout',
    unit: 'ms',
    value: 10_000,
    feed: async (n) => {
      const { all, time } = await connections()
      const link = openLink(1, '1.1.1.1')
      all.connected(link)
      await time.advance(n - 1)
      return link.closed ? 'closed' : undefined
    },
    refusal: 'closed',
  }),
  limit({
    name: 'network/peers/peer-connections.addressesTaken',
    unit: 'count',
    value: 256,
    feed: async (n) => {
      const { all } = await connections()
      const link = openLink(1, '1.1.1.1')
      all.connected(link)
      all.answerStatus(link, idleStatus)
      const peer = all.peerOf(link) as PeerRecord
      const addresses = Array.from({ length: n }, (_, i) => ({
        address: `${11 + (i % 90)}.${Math.floor(i / 90)}.1.1:1`,
        publicKey: keyOf(i),
        lastSeen: start / 1000,
      }))
      const taken = takeAddresses(peer, addresses, await emptyBook(), start)
      return taken === n ? undefined : `${taken} addresses are taken`
    },
    refusal: '256 addresses are taken',
  }),
  limit({
    name: 'network/peers/peer-record.silenceLimit',
    unit: 'ms',
    value: 60_000,
    // Silence is counted in heartbeats of a second.
    beyond: 61_000,
    feed: (n) => {
      const { peer, link } = record()
      each(n / 1000, () => peer.beat())
      return link.closed ? peer.closeReason : undefined
    },
    refusal: 'nothing came from it for a minute',
  }),
  limit({
    name: 'network/peers/peer-record.requestRate',
    unit: 'count/s',
    value: 100,
    feed: (n) => messages('request', n, 500),
    refusal: 'peer-flood',
  }),
  limit({
    name: 'network/peers/peer-record.requestBurst',
    unit: 'count',
    value: 500,
    feed: (n) => messages('request', n),
    refusal: 'peer-flood',
  }),
  limit({
    name: 'network/peers/peer-record.gossipRate',
    unit: 'count/s',
    value: 500,
    feed: (n) => messages('gossip', n, 2000),
    refusal: 'peer-flood',
  }),
  limit({
    name: 'network/peers/peer-record.gossipBurst',
    unit: 'count',
    value: 2000,
    feed: (n) => messages('gossip', n),
    refusal: 'peer-flood',
  }),
  limit({
    name: 'network/peers/peer-record.byteRate',
    unit: 'bytes/s',
    value: 2 * mib,
    feed: (n) => bytes(n, 16 * mib),
    refusal: 'peer-flood',
  }),
  limit({
    name: 'network/peers/peer-record.byteBurst',
    unit: 'bytes',
    value: 16 * mib,
    feed: (n) => bytes(n),
    refusal: 'peer-flood',
  }),
]
