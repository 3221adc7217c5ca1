import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  concerns,
  endpointText,
  groupOf,
  parseEndpoint,
  plainHost,
  siteOf,
  reachOf,
} from '../../../src/network/address/ip-address.js'
import { AddressBook, type BookOptions } from '../../../src/network/peers/address-book.js'
import { staleAfter } from '../../../src/network/peers/address-exchange.js'
import { Bans } from '../../../src/network/peers/bans.js'
import { MisbehaviourScores } from '../../../src/network/peers/misbehaviour-scores.js'
import { PeerRows } from '../../../src/network/peers/peer-rows.js'
import { drawn, randomBelow } from '../../../src/network/peers/random-choice.js'
import { zeroHash } from '../../../src/base/primitives/hash.js'
import { TokenBucket } from '../../../src/base/runtime/token-bucket.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { runs } from '../../support/builders/arbitraries.js'
import { memoryStore, quietLog } from '../../support/builders/chain.js'
import { keyOf } from '../../support/network/peers-world.js'

describe('an address', () => {
  it.each([
    ['1.2.3.4:5', '1.2.3.4', 5],
    ['[2001:DB8::1]:65535', '2001:db8::1', 65535],
    ['[::ffff:1.2.3.4]:80', '1.2.3.4', 80],
    ['node.example:20338', 'node.example', 20338],
    ['/ip4/1.2.3.4/tcp/5', '1.2.3.4', 5],
    ['/ip6/::1/tcp/5/p2p/12D3KooW', '::1', 5],
    ['/dns4/node.example/tcp/7', 'node.example', 7],
  ])('%s', (text, host, port) => {
    expect(parseEndpoint(text)).toEqual({ host, port })
  })

  it.each(['', 'x', ':5', '1.2.3.4', '1.2.3.4:0', '1.2.3.4:65536', '1.2.3.4:05', '::1:5', '[1.2.3.4]:5', '[x]:5'])(
    '%s is none',
    (text) => {
      expect(parseEndpoint(text)).toBeUndefined()
    },
  )

  it.each(['/ip6/1.2.3.4/tcp/5', '/ip4/1.2.3.4/udp/5', '/ip4/1.2.3.4'])('%s is none', (text) => {
    expect(parseEndpoint(text)).toBeUndefined()
  })

  it('is written as it is read', () => {
    const host = fc.oneof(fc.ipV4(), fc.ipV6().map(plainHost))
    fc.assert(
      fc.property(host, fc.integer({ min: 1, max: 65535 }), (name, port) => {
        expect(parseEndpoint(endpointText({ host: name, port }))).toEqual({ host: name, port })
        expect(typeof groupOf(name)).toBe('string')
      }),
      runs,
    )
  })

  it.each([
    ['127.0.0.1', 'machine', 'machine'],
    ['::1', 'machine', 'machine'],
    ['10.9.8.7', 'network', 'network'],
    ['172.31.0.1', 'network', 'network'],
    ['172.32.0.1', 'world', '172.32'],
    ['192.168.3.4', 'network', 'network'],
    ['169.254.1.1', 'network', 'network'],
    ['100.64.0.1', 'network', 'network'],
    ['fd12::1', 'network', 'network'],
    ['fe80::1%eth0', 'network', 'network'],
    ['8.8.4.4', 'world', '8.8'],
    ['2001:db8:5::1', 'world', '2001:db8'],
    ['2001::', 'world', '2001:0'],
    ['64:ff9b::1.2.3.4', 'world', '64:ff9b'],
    ['0.0.0.0', undefined, '0.0.0.0'],
    ['224.0.0.1', undefined, '224.0.0.1'],
    ['255.255.255.255', undefined, '255.255.255.255'],
    ['::', undefined, '::'],
    ['ff02::1', undefined, 'ff02::1'],
    ['example.org', undefined, 'example.org'],
  ])('%s reaches %s and is of group %s', (host, reach, group) => {
    expect([reachOf(host), groupOf(host)]).toEqual([reach, group])
  })

  it.each([
    ['8.8.4.4', '8.8.4.4'],
    ['::ffff:8.8.4.4', '8.8.4.4'],
    ['::FFFF:0808:0404', '8.8.4.4'],
    ['0:0:0:0:0:ffff:8.8.4.4', '8.8.4.4'],
    ['FD12:0:0::0001', 'fd12::1'],
    ['fe80:0::1%eth0', 'fe80::1%eth0'],
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['fd12::1', 'fd12::1'],
    ['2001:DB8:5:6:7::8', '2001:db8:5:6::/64'],
    ['2001:db8:5:6::', '2001:db8:5:6::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['example.org', 'example.org'],
  ])('%s is of the site %s', (host, site) => {
    expect(siteOf(host)).toBe(site)
  })

  it('concerns those that are as near', () => {
    const hosts = ['127.0.0.1', '10.0.0.1', '8.8.8.8', 'x']
    const table = hosts.map((address) => hosts.map((other) => (concerns(address, other) ? 1 : 0)).join(''))
    expect(table).toEqual(['1000', '1100', '1110', '0000'])
  })
})

describe('a bucket', () => {
  const step = fc.record({ wait: fc.integer({ min: -60_000, max: 3000 }), amount: fc.integer({ min: 1, max: 30 }) })

  it('lets through its burst and what flowed in since, and no more; a clock that is set back fills nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        // A thousandth of a unit flows in each millisecond: whole numbers throughout.
        const bucket = new TokenBucket(1, 50, 0)
        let [now, thousandths] = [0, 50_000]
        for (const { wait, amount } of steps) {
          now += wait
          thousandths = Math.min(50_000, thousandths + Math.max(0, wait))
          // Sums of thousandths may be off by a rounding where they meet the amount.
          if (Math.abs(thousandths - 1000 * amount) < 1) return
          expect(bucket.has(amount, now)).toBe(thousandths >= 1000 * amount)
          if (bucket.take(amount, now)) thousandths -= 1000 * amount
        }
        expect(bucket.take(50, now + 50_000)).toBe(true)
        expect(bucket.has(0.01, now + 50_000)).toBe(false)
      }),
      runs,
    )
  })

  it('lets through as much as there is, and not a unit more', () => {
    const bucket = new TokenBucket(10, 50, 0)
    expect([bucket.take(51, 0), bucket.take(50, 0), bucket.take(1, 99), bucket.take(1, 100)]).toEqual([
      false,
      true,
      false,
      true,
    ])
    expect([bucket.take(1, -3_600_000), bucket.take(1, -3_599_901), bucket.take(1, -3_599_900)]).toEqual([
      false,
      false,
      true,
    ])
  })
})

describe('points', () => {
  it('add up, go away with time, and are kept for a bounded number of keys', () => {
    let now = 0
    const points = new MisbehaviourScores(() => now)
    expect(points.add(keyOf(1), 60)).toBe(60)
    now += 60_000
    expect(points.of(keyOf(1))).toBe(55)
    now += 11 * 60_000
    expect([points.of(keyOf(1)), points.add(keyOf(1), 10)]).toEqual([0, 10])
    for (let i = 2; i < 4200; i++) points.add(keyOf(i), 1)
    expect([points.of(keyOf(1)), points.of(keyOf(4199))]).toEqual([0, 1])
    points.forget(keyOf(4199))
    expect(points.of(keyOf(4199))).toBe(0)
  })

  it('are kept for as many keys as there is room for, those of the last offences', () => {
    const points = new MisbehaviourScores(() => 0)
    for (let i = 0; i < 4096; i++) points.add(keyOf(i), 1)
    expect(points.of(keyOf(0))).toBe(1)
    points.add(keyOf(0), 1)
    points.add(keyOf(4096), 1)
    expect([0, 1, 2, 4096].map((i) => points.of(keyOf(i)))).toEqual([2, 0, 1, 1])
  })

  it('go away as fast however often they are added to, and not while the clock is set back', () => {
    const step = fc.record({ wait: fc.integer({ min: -5_000, max: 30_000 }), more: fc.integer({ min: 1, max: 4 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let [now, given] = [0, 1_000]
        const points = new MisbehaviourScores(() => now)
        points.add(keyOf(1), given)
        let lowest = 0
        for (const { wait, more } of steps) {
          now += wait
          lowest = Math.max(lowest, Math.floor(Math.max(0, now) / 12_000))
          given += more
          expect(points.add(keyOf(1), more)).toBe(given - lowest)
        }
        expect(points.of(keyOf(1))).toBe(given - lowest)
      }),
      runs,
    )
  })
})

describe('chance', () => {
  it('draws each item once, and no more than asked for', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer()), fc.nat(20), fc.infiniteStream(fc.nat(255)), (items, count, bytes) => {
        const random = { bytes: (length: number) => Uint8Array.from({ length }, () => bytes.next().value as number) }
        const some = drawn(random, items, count)
        expect(some.length).toBe(Math.min(count, items.length))
        expect(new Set(some).size).toBe(some.length)
        expect(items).toEqual(expect.arrayContaining(some))
        expect(randomBelow(random, count + 1)).toBeLessThanOrEqual(count)
      }),
      runs,
    )
  })
})

describe('what is known of peers', () => {
  async function parts() {
    const database = await Database.over(memoryStore())
    const tip = { header: { height: 0, hash: zeroHash } }
    const rows = new PeerRows({ database, tip }, quietLog())
    let now = 1_000_000
    const options: BookOptions = {
      rows,
      now: () => now,
      random: { bytes: (length) => new Uint8Array(length).fill(1) },
      publicKey: keyOf(0),
      staleAfter,
    }
    return { database, rows, options, wait: (ms: number) => (now += ms), now: () => now }
  }

  it('is bounded, and comes back from the database', async () => {
    const { database, options } = await parts()
    const book = await AddressBook.open(database, options)
    for (let i = 0; i < 3000; i++) {
      book.learn({ host: `${10 + (i % 80)}.${Math.floor(i / 80)}.0.1`, port: 1 + i }, { publicKey: keyOf(i) })
    }
    expect(book.size).toBe(2000)
    await book.flush()
    expect((await database.keys(tables.peer.range())).length).toBeLessThanOrEqual(2000)
    const [place] = book.addresses()
    if (place?.publicKey === undefined) throw new Error('no place')
    book.connected(place, place.publicKey)
    await book.flush()
    const again = await AddressBook.open(database, options)
    expect(again.size).toBe(book.size)
    expect(again.addresses().find(({ address }) => address === place.address)).toMatchObject({ seen: 1_000_000 })
  })

  it('gives up where nobody ever was, but not where somebody was or should be', async () => {
    const { database, options } = await parts()
    const book = await AddressBook.open(database, options)
    book.learn({ host: '1.1.1.1', port: 1 }, { publicKey: keyOf(1) })
    book.learn({ host: '2.2.2.2', port: 1 }, { publicKey: keyOf(2) })
    const wanted = book.configure('3.3.3.3:1')
    const [never, once] = book.addresses()
    if (never === undefined || once === undefined) throw new Error('no places')
    book.connected(once, keyOf(2))
    for (let i = 0; i < 300; i++) [never, once, wanted].forEach((place) => book.failed(place))
    expect(book.addresses().map(({ address }) => address)).toEqual(['2.2.2.2:1', '3.3.3.3:1'])
    await book.flush()
    const again = await AddressBook.open(database, options)
    expect(again.addresses()).toMatchObject([{ address: '2.2.2.2:1', failures: 255 }])
  })

  it('makes room where nobody has been met for long, and not where somebody was lately', async () => {
    const { database, options, wait } = await parts()
    const book = await AddressBook.open(database, options)
    for (let i = 0; i < 64; i++) {
      const place = book.configure(`5.5.0.${i}:1`)
      book.connected(place, keyOf(i + 1))
      place.configured = false
    }
    wait(29 * 24 * 3_600_000)
    for (const place of book.addresses()) for (let i = 0; i < 8; i++) book.failed(place)
    expect(book.learn({ host: '5.5.1.1', port: 1 }, { publicKey: keyOf(100) })).toBe(false)
    wait(2 * 24 * 3_600_000)
    expect(book.learn({ host: '5.5.1.1', port: 1 }, { publicKey: keyOf(100) })).toBe(true)
    expect(book.size).toBe(64)
  })

  it('follows a node that moved, and does not wait for ever when the clock is set back', async () => {
    const { database, options, wait } = await parts()
    const book = await AddressBook.open(database, options)
    expect(book.learn({ host: '9.9.9.9', port: 9 }, { publicKey: keyOf(0) })).toBe(false)
    book.learn({ host: '1.1.1.1', port: 1 }, { publicKey: keyOf(1) })
    // Nobody met it there: that may be a lie which is to keep the true address out.
    expect(book.learn({ host: '1.1.1.3', port: 1 }, { publicKey: keyOf(1) })).toBe(true)
    const moved = book.configure('1.1.1.2:1')
    book.connected(moved, keyOf(1))
    expect(book.addresses()).toEqual([moved])
    expect(book.learn({ host: '1.1.1.3', port: 1 }, { publicKey: keyOf(1) })).toBe(false)
    await book.flush()
    expect((await AddressBook.open(database, options)).addresses()).toMatchObject([{ address: '1.1.1.2:1' }])
    book.postpone(moved)
    expect(book.due(moved)).toBe(false)
    wait(-3_600_000)
    expect(book.due(moved)).toBe(true)
  })

  it('takes hosts that an earlier version banned for a guest for suspect, and private ones for nothing', async () => {
    const { database, rows, now } = await parts()
    const until = now() + 60_000
    const stored = [
      ['9.9.1.1', 'peer-flood: more than a peer may send (gossip)'],
      ['9.9.1.2', 'by hand'],
      ['10.0.0.1', 'by hand'],
    ] as const
    await rows.write((overlay) => {
      for (const [host, reason] of stored) {
        overlay.put(tables.ban.key(Buffer.from(host)), tables.ban.encode({ kind: 'host', until, reason }))
      }
    })
    const bans = await Bans.open(database, rows, now)
    expect(bans.list().map(({ subject }) => subject)).toEqual(['9.9.1.2'])
    expect(stored.map(([host]) => bans.suspects(host))).toEqual([true, false, false])
    expect((await database.keys(tables.ban.range())).length).toBe(1)
    await bans.remove('9.9.1.1')
    expect(bans.suspects('9.9.1.1')).toBe(false)
  })

  it('holds a bounded number of bans', async () => {
    const { database, rows, now } = await parts()
    const bans = await Bans.open(database, rows, now)
    for (let i = 0; i < 1100; i++)
      await bans.add('host', `9.9.${i >> 8}.${i & 255}`, now() + 1000 + i, 'x\n'.repeat(500))
    expect(bans.list().length).toBe(1000)
    expect(bans.find(undefined, '9.9.0.0')).toBeUndefined()
    expect(bans.find(keyOf(1), '9.9.1.0')?.reason.length).toBe(200)
    expect((await database.keys(tables.ban.range())).length).toBe(1000)
    // A shorter ban does not replace a longer one.
    await bans.add('host', '9.9.4.0', now() + 1, 'short')
    expect(bans.find(undefined, '9.9.4.0')?.reason).not.toBe('short')
    // One that would end before all of them is not kept, in the database neither.
    await bans.add('host', '8.8.8.8', now() + 1, 'shortest')
    expect(bans.find(undefined, '8.8.8.8')).toBeUndefined()
    expect((await database.keys(tables.ban.range())).length).toBe(1000)
  })
  it('prolongs a ban, over a restart too, and never shortens one', async () => {
    const { database, rows, now, wait } = await parts()
    const bans = await Bans.open(database, rows, now)
    const key = keyOf(3)
    const subject = Buffer.from(key).toString('hex')
    await bans.add('key', subject, now() + 1000, 'first')
    await bans.add('key', subject.toUpperCase(), now() + 5000, 'again')
    await bans.add('key', subject, now() + 5000, 'as long')
    await bans.add('key', subject, now() + 2000, 'shorter')
    const expected = [{ kind: 'key', subject, until: now() + 5000, reason: 'again' }]
    expect([bans.list(), (await Bans.open(database, rows, now)).list()]).toEqual([expected, expected])
    wait(4999)
    bans.expire()
    expect(bans.find(key, '9.9.9.9')?.reason).toBe('again')
    wait(1)
    expect([bans.find(key, '9.9.9.9'), bans.list()]).toEqual([undefined, []])
    bans.expire()
    await rows.write(() => {})
    expect(await database.keys(tables.ban.range())).toEqual([])
  })
})
