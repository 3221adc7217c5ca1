import { describe, expect, it } from 'vitest'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { equalBytes } from '../../../../src/base/primitives/bytes.js'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { type Link, LinkError, type Transport } from '../../../../src/network/link.js'
import { AddressBook, type KnownAddress } from '../../../../src/network/peers/address-book.js'
import type { Bans } from '../../../../src/network/peers/bans.js'
import { dialOrder, Dialer } from '../../../../src/network/peers/dialer.js'
import type { PeerConnections } from '../../../../src/network/peers/peer-connections.js'
import type { PeerRecord } from '../../../../src/network/peers/peer-record.js'
import { PeerRows } from '../../../../src/network/peers/peer-rows.js'
import { services, type Status } from '../../../../src/network/wire/status-message.js'
import { memoryStore, quietLog } from '../../../support/builders/chain.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'
import { ManualTime, rest } from '../../../support/fakes/manual-time.js'
import { idleLink, idleStatus } from '../../../support/fakes/stubs.js'
import { keyOf } from '../../../support/network/peers-world.js'

function known(number: number, seen: number, prunes: boolean): KnownAddress {
  const address = `${number}.${number}.0.1:20338`
  return {
    ...{ address, endpoint: undefined, group: `${number}.${number}`, configured: false, local: false },
    ...{ publicKey: undefined, prunes, seen, failures: 0, retryAt: 0 },
  }
}

const addresses = Array.from({ length: 12 }, (_, i) => known(i, i % 3 === 0 ? 0 : 1, i % 3 === 1))
const isSorted = (order: readonly KnownAddress[], rank: (one: KnownAddress) => boolean) =>
  order.every((one, i) => i === 0 || Number(rank(order[i - 1] as KnownAddress)) <= Number(rank(one)))
const orders = (wholeFirst: boolean) =>
  Array.from({ length: 40 }, (_, seed) => dialOrder(addresses, new SeededRandom(seed), wholeFirst))

describe('the order of dials', () => {
  it.each([false, true])('has each address once, in another order each time: %s', (wholeFirst) => {
    const all = orders(wholeFirst)
    for (const order of all) expect(new Set(order)).toEqual(new Set(addresses))
    for (const order of all) expect(order).toHaveLength(addresses.length)
    expect(new Set(all.map((order) => order.map(({ address }) => address).join())).size).toBeGreaterThan(30)
  })

  it('begins as often with those connected before as with others', () => {
    const all = Array.from({ length: 400 }, (_, seed) => dialOrder(addresses, new SeededRandom(seed), false))
    const proven = all.filter((order) => isSorted(order, ({ seen }) => seen === 0)).length
    const unproven = all.filter((order) => isSorted(order, ({ seen }) => seen > 0)).length
    expect(proven + unproven).toBe(all.length)
    expect(Math.min(proven, unproven)).toBeGreaterThan(160)
  })

  it('ends with those that prune where they would be of no use', () => {
    for (const order of orders(true)) expect(isSorted(order, ({ prunes }) => prunes)).toBe(true)
    expect(orders(false).every((order) => isSorted(order, ({ prunes }) => prunes))).toBe(false)
  })
})

/** What a dialer dials, and what comes of it as the test says. */
class Scene {
  readonly time: ManualTime
  readonly book: AddressBook
  readonly dialer: Dialer
  readonly dialled: string[] = []
  readonly peers: PeerRecord[] = []
  readonly apart: Uint8Array[] = []
  readonly log: { level: string; address: unknown; reason: unknown }[] = []
  bannedHost = ''
  height = 0
  readonly #ends = new Map<string, { resolve: (link: Link) => void; reject: (error: unknown) => void }>()
  /** What those that are dialled say of themselves. */
  services = idleStatus.services
  /** Why the handshake of a connection fails. */
  refusal: Error | undefined

  constructor(book: AddressBook, outbound: number, time: ManualTime) {
    this.book = book
    this.time = time
    const isKey = (key: Uint8Array) => (other: Uint8Array) => equalBytes(key, other)
    const connections = {
      all: () => this.peers,
      ofKey: (key: Uint8Array) => this.peers.find(({ link }) => isKey(key)(link.publicKey)),
      peerOf: (link: Link) => this.peers.find((peer) => peer.link === link),
      isApart: (key: Uint8Array) => this.apart.some(isKey(key)),
      open: (link: Link) => {
        if (this.refusal !== undefined) return Promise.reject(this.refusal)
        return Promise.resolve(this.joins(link, { services: this.services }))
      },
    }
    const noted =
      (level: string) =>
      ({ address, reason, error }: Record<string, unknown>) =>
        void this.log.push({ level, address, reason: reason ?? error })
    this.dialer = new Dialer({
      ...{ clock: time, random: new SeededRandom(5), outbound, height: () => this.height, book },
      log: { debug: noted('debug'), info: noted('info'), warn: noted('warn'), error: noted('error') },
      transport: {
        dial: (address: string) => {
          this.dialled.push(address)
          return new Promise<Link>((resolve, reject) => this.#ends.set(address, { resolve, reject }))
        },
      } as unknown as Transport,
      bans: { find: (_: unknown, host: string) => (host === this.bannedHost ? {} : undefined) } as unknown as Bans,
      connections: connections as unknown as PeerConnections,
    })
  }

  static async of(outbound: number): Promise<Scene> {
    const time = new ManualTime()
    const database = await Database.over(memoryStore())
    const rows = new PeerRows({ database, tip: { header: { height: 0, hash: zeroHash } } }, quietLog())
    const random = new SeededRandom(3)
    const options = { rows, now: () => time.now(), random, publicKey: keyOf(0), staleAfter: 1e9 }
    return new Scene(await AddressBook.open(database, options), outbound, time)
  }

  /** Makes so many addresses known, each in a group of its own. */
  learn(count: number, from = 1): void {
    for (let i = from; i < from + count; i++) this.book.learn({ host: `${i}.1.0.1`, port: 1 }, { publicKey: keyOf(i) })
  }

  at(address: string): KnownAddress {
    const found = this.book.addresses().find((known) => known.address === address)
    if (found === undefined) throw new TypeError(`${address} is not known`)
    return found
  }

  /** The peer of a link. */
  joins(link: Link, status: Partial<Status> = {}): PeerRecord {
    const since = this.time.now()
    const close = () => void this.peers.splice(this.peers.indexOf(peer), 1)
    const peer = { link, since, close, status: { ...idleStatus, tipHeight: 0, ...status } } as unknown as PeerRecord
    this.peers.push(peer)
    return peer
  }

  /** The dial of an address comes to a node. */
  async arrives(address: string, number: number): Promise<Link & { closed: boolean }> {
    const link = { ...idleLink, host: address.split(':')[0] ?? '', publicKey: keyOf(number), closed: false }
    link.close = () => void (link.closed = true)
    this.#ends.get(address)?.resolve(link)
    await rest()
    return link
  }

  async fails(address: string, error: unknown = new LinkError('unreachable', 'for the test')): Promise<void> {
    this.#ends.get(address)?.reject(error)
    await rest()
  }
}

const addressOf = (i: number) => `${i}.1.0.1:1`
const numberOf = (address: string) => Number(address.split('.')[0])

describe('the dials of a node', () => {
  it('is busy while a dial is on its way or due', async () => {
    const scene = await Scene.of(4)
    expect(scene.dialer.isBusy).toBe(false)
    scene.learn(2)
    expect(scene.dialer.isBusy).toBe(true)
    scene.dialer.fill()
    expect([...scene.dialled].sort()).toEqual([addressOf(1), addressOf(2)])
    await scene.arrives(addressOf(1), 1)
    expect(scene.dialer.isBusy).toBe(true)
    await scene.fails(addressOf(2))
    expect(scene.dialer.isBusy).toBe(false)
  })

  it('go to all configured addresses, whatever places there are', async () => {
    const scene = await Scene.of(0)
    for (let i = 1; i < 8; i++) scene.book.configure(addressOf(i))
    scene.learn(3, 20)
    scene.dialer.fill()
    expect(scene.dialled).toEqual([1, 2, 3, 4, 5, 6, 7].map(addressOf))
    scene.dialer.fill()
    expect(scene.dialled).toHaveLength(7)
  })

  it('go to others while there are places, four at once, those to configured ones not counted', async () => {
    const scene = await Scene.of(6)
    for (let i = 101; i < 104; i++) scene.book.configure(addressOf(i))
    scene.learn(20)
    const others = () => scene.dialled.filter((address) => numberOf(address) < 100)
    scene.dialer.fill()
    expect(others()).toHaveLength(4)
    scene.dialer.fill()
    expect(others()).toHaveLength(4)
    for (const address of [...scene.dialled]) await scene.arrives(address, numberOf(address))
    expect(scene.peers).toHaveLength(7)
    scene.dialer.fill()
    expect(others()).toHaveLength(6)
    for (const address of others().slice(4)) await scene.arrives(address, numberOf(address))
    for (let i = 0; i < 3; i++) scene.dialer.fill()
    expect(others()).toHaveLength(6)
    // Those that come in take no place.
    scene.joins({ ...idleLink, inbound: true, publicKey: keyOf(200) })
    scene.peers.splice(3, 1)
    scene.dialer.fill()
    expect(others()).toHaveLength(7)
  })

  it('go to none where there are more peers than places', async () => {
    const scene = await Scene.of(2)
    scene.learn(20)
    for (let i = 50; i < 53; i++) scene.joins({ ...idleLink, host: `${i}.1.0.1`, publicKey: keyOf(i) })
    scene.dialer.fill()
    expect(scene.dialled).toEqual([])
  })

  it('go to two of a group at most, dials and peers together', async () => {
    const scene = await Scene.of(8)
    for (let i = 1; i < 9; i++) scene.book.learn({ host: `7.7.0.${i}`, port: 1 }, { publicKey: keyOf(i) })
    scene.dialer.fill()
    expect(scene.dialled).toHaveLength(2)
    scene.dialer.fill()
    expect(scene.dialled).toHaveLength(2)
    for (const [i, address] of [...scene.dialled].entries()) await scene.arrives(address, 100 + i)
    scene.dialer.fill()
    expect(scene.dialled).toHaveLength(2)
    scene.peers.pop()
    scene.dialer.fill()
    expect(scene.dialled).toHaveLength(3)
  })

  it('go to another address as soon as one ends, past those that go on and those that are peers already', async () => {
    const scene = await Scene.of(8)
    for (let i = 20; i < 30; i++) {
      const known = scene.book.configure(addressOf(i))
      scene.book.connected(known, keyOf(i))
      Object.assign(known, { configured: false, retryAt: 0 })
      scene.joins({ ...idleLink, inbound: true, publicKey: keyOf(i) })
    }
    scene.learn(4)
    scene.dialer.fill()
    expect(scene.dialled).toHaveLength(4)
    scene.learn(1, 5)
    await scene.fails(scene.dialled[0] as string)
    scene.dialer.fill()
    expect(scene.dialled.slice(4)).toEqual([addressOf(5)])
  })

  it('keep half of the places for nodes with all blocks, configured ones not counted', async () => {
    const scene = await Scene.of(4)
    scene.services = services.recentBlocks
    scene.book.configure(addressOf(9))
    scene.learn(4)
    scene.dialer.fill()
    for (const address of [...scene.dialled]) await scene.arrives(address, numberOf(address))
    const met = scene.peers.map(({ link }) => link.host)
    expect(met).toEqual(scene.dialled.slice(0, 3).map((address) => address.split(':')[0]))
    const sentAway = scene.dialled.slice(3).map((address) => scene.at(address))
    expect(sentAway).toMatchObject([{ retryAt: scene.time.now() + 600_000, prunes: true }, { prunes: true }])
    scene.services = services.wholeChain
    scene.learn(2, 30)
    scene.dialer.fill()
    for (const address of scene.dialled.slice(5)) await scene.arrives(address, numberOf(address))
    expect(scene.peers).toHaveLength(5)
  })

  it('go to any number of a local network that were found there', async () => {
    const scene = await Scene.of(8)
    for (let i = 1; i < 5; i++) scene.book.learn({ host: `192.168.0.${i}`, port: 1 }, { local: true })
    scene.dialer.fill()
    expect(scene.dialled).toHaveLength(4)
  })

  it('go to no address that waits, is connected, apart or banned; a key that was never met says nothing', async () => {
    const scene = await Scene.of(8)
    for (const i of [1, 2, 3, 4, 5, 6]) scene.book.configure(addressOf(i))
    for (const i of [1, 2, 3, 4]) {
      const known = scene.at(addressOf(i))
      scene.book.connected(known, keyOf(i))
      known.retryAt = 0
    }
    scene.at(addressOf(1)).retryAt = scene.time.now() + 1
    scene.joins({ ...idleLink, inbound: true, publicKey: keyOf(2) })
    scene.joins({ ...idleLink, inbound: true, publicKey: keyOf(6) })
    scene.apart.push(keyOf(3), keyOf(6))
    scene.bannedHost = '5.1.0.1'
    scene.at(addressOf(6)).publicKey = keyOf(6)
    scene.dialer.fill()
    expect(scene.dialled).toEqual([4, 6].map(addressOf))
    await scene.time.advance(1)
    scene.dialer.fill()
    expect(scene.dialled).toEqual([4, 6, 1].map(addressOf))
  })

  it('begin with nodes that have all blocks where a peer is further ahead than the others keep', async () => {
    for (const [ahead, first] of [
      [288, 'mixed'],
      [289, 'whole'],
    ] as const) {
      const scene = await Scene.of(4)
      scene.height = 1_000
      scene.joins({ ...idleLink, host: '99.1.0.1', inbound: true, publicKey: keyOf(99) }, { tipHeight: 1_000 + ahead })
      scene.joins({ ...idleLink, host: '98.1.0.1', inbound: true, publicKey: keyOf(98) }, { tipHeight: 5 })
      scene.learn(40)
      for (let i = 1; i <= 36; i++) scene.at(addressOf(i)).prunes = true
      scene.dialer.fill()
      const whole = scene.dialled.filter((address) => numberOf(address) > 36)
      expect([whole.length === 4 ? 'whole' : 'mixed', scene.dialled.length]).toEqual([first, 4])
    }
  })
})

describe('a dial', () => {
  const dial = (scene: Scene, address: string) => {
    const dialled = scene.dialer.dial(scene.book.configure(address)).catch((error: unknown) => error)
    return dialled
  }

  it('that ends after the node has stopped makes no peer', async () => {
    const scene = await Scene.of(8)
    const dialled = dial(scene, addressOf(1))
    scene.dialer.close()
    const link = await scene.arrives(addressOf(1), 1)
    expect(await dialled).toMatchObject({ failure: 'closed' })
    expect([scene.peers.length, link.closed]).toEqual([0, true])
  })

  it('is one for all who ask for it meanwhile, and none where the node of the address is a peer', async () => {
    const scene = await Scene.of(8)
    const both = [dial(scene, addressOf(1)), dial(scene, addressOf(1))]
    await scene.arrives(addressOf(1), 1)
    const [peer] = scene.peers
    expect(await Promise.all(both)).toEqual([peer, peer])
    expect(await dial(scene, addressOf(1))).toBe(peer)
    expect(scene.dialled).toHaveLength(1)
  })

  it('goes out where only others say that the address is that of a peer', async () => {
    const scene = await Scene.of(8)
    scene.joins({ ...idleLink, publicKey: keyOf(1) })
    scene.learn(1)
    void dial(scene, addressOf(1))
    expect(scene.dialled).toEqual([addressOf(1)])
  })

  it('notes whom it met, whether that node prunes, and how long it stayed', async () => {
    const scene = await Scene.of(8)
    void dial(scene, addressOf(1))
    await scene.arrives(addressOf(1), 1)
    const [known, [peer]] = [scene.at(addressOf(1)), scene.peers]
    expect(known).toMatchObject({ publicKey: keyOf(1), seen: scene.time.now(), prunes: false })
    expect(scene.dialer.addressOf(peer as PeerRecord)).toBe(known)
    await scene.time.advance(29_999)
    known.failures = 4
    scene.dialer.left(peer as PeerRecord)
    expect([known.failures, scene.dialer.addressOf(peer as PeerRecord)]).toEqual([5, undefined])
    scene.dialer.left(peer as PeerRecord)
    expect(known.failures).toBe(5)
  })

  it('is no failure after half a minute of connection', async () => {
    const scene = await Scene.of(8)
    void dial(scene, addressOf(1))
    await scene.arrives(addressOf(1), 1)
    const [known, [peer]] = [scene.at(addressOf(1)), scene.peers]
    known.failures = 4
    await scene.time.advance(30_000)
    scene.dialer.left(peer as PeerRecord)
    expect(known).toMatchObject({ failures: 1, seen: scene.time.now() })
  })

  it('that is refused closes the connection and counts as a failure', async () => {
    const scene = await Scene.of(8)
    scene.refusal = new RuleError('peer-genesis', 'for the test')
    const dialled = dial(scene, addressOf(1))
    const link = await scene.arrives(addressOf(1), 1)
    expect(await dialled).toBe(scene.refusal)
    expect([link.closed, scene.at(addressOf(1))]).toMatchObject([true, { failures: 1, seen: 0 }])
  })

  it('that meets a node which is a peer already is none: the address is that of the peer', async () => {
    const scene = await Scene.of(8)
    scene.joins({ ...idleLink, inbound: true, publicKey: keyOf(1) })
    scene.refusal = new RuleError('peer-self', 'for the test')
    void dial(scene, addressOf(1))
    const link = await scene.arrives(addressOf(1), 1)
    const known = scene.at(addressOf(1))
    expect([link.closed, known]).toMatchObject([true, { failures: 0, publicKey: keyOf(1), seen: scene.time.now() }])
    known.retryAt = 0
    scene.dialer.fill()
    expect(scene.dialled).toHaveLength(1)
  })

  it('of the node itself forgets the address, and says so to those who configured it', async () => {
    const scene = await Scene.of(8)
    scene.learn(1)
    void scene.dialer.dial(scene.at(addressOf(1))).catch(() => {})
    void dial(scene, addressOf(2))
    for (const i of [1, 2]) await scene.fails(addressOf(i), new LinkError('self', 'for the test'))
    expect(scene.book.size).toBe(0)
    expect(scene.log.map(({ level, address }) => `${level} ${String(address)}`)).toEqual([
      `debug ${addressOf(1)}`,
      `warn ${addressOf(2)}`,
    ])
  })

  it('of the node itself is no warning beside another address that is configured', async () => {
    const scene = await Scene.of(8)
    scene.book.configure(addressOf(1))
    void dial(scene, addressOf(2))
    await scene.fails(addressOf(2), new LinkError('self', 'for the test'))
    expect(scene.log.map(({ level, address }) => `${level} ${String(address)}`)).toEqual([`info ${addressOf(2)}`])
  })

  it('of the node itself by a configured name is tried again, and said once: the name may stand for others by then', async () => {
    const scene = await Scene.of(8)
    const name = 'nodes.example:20338'
    scene.book.configure(name)
    for (let attempt = 1; attempt <= 3; attempt++) {
      scene.dialer.fill()
      expect(scene.dialled).toEqual(new Array(attempt).fill(name))
      await scene.fails(name, new LinkError('self', 'for the test'))
      await scene.time.advance(60_000)
    }
    expect(scene.log.map(({ level, address }) => `${level} ${String(address)}`)).toEqual([`warn ${name}`])
  })

  it('is not begun to a configured address that is banned, which is said once', async () => {
    const scene = await Scene.of(8)
    scene.book.configure(addressOf(5))
    scene.bannedHost = '5.1.0.1'
    for (let i = 0; i < 3; i++) scene.dialer.fill()
    expect(scene.dialled).toEqual([])
    expect(scene.log).toEqual([{ level: 'warn', address: addressOf(5), reason: 'it is banned' }])
    scene.bannedHost = ''
    scene.dialer.fill()
    expect(scene.dialled).toEqual([addressOf(5)])
  })
})

describe('a failed dial', () => {
  const refused = new RuleError('peer-genesis', 'another chain')
  const closed = new LinkError('closed', 'gone')
  const gone = new LinkError('unreachable', 'not there')

  /** Levels at which the failures of dials of one address are logged, one after the other. */
  async function levelsOf(errors: readonly unknown[], isConfigured = true): Promise<string[]> {
    const scene = await Scene.of(8)
    scene.learn(1)
    if (isConfigured) scene.book.configure(addressOf(1))
    for (const error of errors) {
      const known = scene.at(addressOf(1))
      const dialled = scene.dialer.dial(known).catch((failure: unknown) => failure)
      await scene.fails(addressOf(1), error)
      expect(await dialled).toBe(error)
    }
    return scene.log.map(({ level }) => level)
  }

  it.each<[string, readonly unknown[], string]>([
    ['a refusal at once', [refused, refused, refused], 'warn debug debug'],
    ['an unreachable node the third time', [gone, gone, gone, gone], 'debug debug warn debug'],
    ['each kind of failure once', [gone, gone, gone, closed, closed, refused], 'debug debug warn warn debug warn'],
    ['another refusal as well', [refused, new RuleError('peer-version', 'older')], 'warn warn'],
    ['what is no failure of a link', [gone, gone, new Error('a mistake')], 'debug debug warn'],
  ])('warns of %s, where the address is configured', async (_, errors, levels) => {
    expect((await levelsOf(errors)).join(' ')).toBe(levels)
    expect(new Set(await levelsOf(errors, false))).toEqual(new Set(['debug']))
  })

  it('warns again after a connection, or when the address is configured anew, and not once the node stops', async () => {
    const scene = await Scene.of(8)
    const fails = async () => {
      void scene.dialer.dial(scene.book.configure(addressOf(1))).catch(() => {})
      await scene.fails(addressOf(1), refused)
      return scene.log.at(-1)?.level
    }
    expect([await fails(), await fails()]).toEqual(['warn', 'debug'])
    scene.dialer.drop(scene.at(addressOf(1)))
    expect(scene.book.size).toBe(0)
    expect([await fails(), await fails()]).toEqual(['warn', 'debug'])
    void scene.dialer.dial(scene.at(addressOf(1)))
    await scene.arrives(addressOf(1), 1)
    scene.peers.pop()
    expect(await fails()).toBe('warn')
    scene.dialer.drop(scene.at(addressOf(1)))
    expect(scene.book.isConfigured(addressOf(1))).toBe(false)
    scene.dialer.close()
    expect(await fails()).toBe('debug')
  })

  it('of the node itself is an error in the log, with what went wrong', async () => {
    const scene = await Scene.of(8)
    scene.book.configure(addressOf(1))
    scene.book.configure(addressOf(2))
    scene.dialer.fill()
    await scene.fails(addressOf(1), 'no error at all')
    await scene.fails(addressOf(2), gone)
    expect(scene.log.filter(({ level }) => level === 'error')).toEqual([
      { level: 'error', address: addressOf(1), reason: 'no error at all' },
    ])
    expect(scene.log.map(({ level, reason }) => [level, reason])).toEqual([
      ['debug', 'no error at all'],
      ['error', 'no error at all'],
      ['debug', 'not there'],
    ])
  })
})
