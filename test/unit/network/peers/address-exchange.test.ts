import { describe, expect, it } from 'vitest'
import { AddressBook } from '../../../../src/network/peers/address-book.js'
import { addressesFor, listensAt, staleAfter, takeAddresses } from '../../../../src/network/peers/address-exchange.js'
import { PeerRecord } from '../../../../src/network/peers/peer-record.js'
import { PeerRows } from '../../../../src/network/peers/peer-rows.js'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { memoryStore, quietLog } from '../../../support/builders/chain.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'
import { idleLink, idleStatus } from '../../../support/fakes/stubs.js'
import { keyOf } from '../../../support/network/peers-world.js'

const now = 1_800_000_000_000
const hour = 60 * 60 * 1000

async function bookAt(time: () => number): Promise<AddressBook> {
  const database = await Database.over(memoryStore())
  const rows = new PeerRows({ database, tip: { header: { height: 0, hash: zeroHash } } }, quietLog())
  return AddressBook.open(database, { rows, now: time, random: new SeededRandom(1), publicKey: keyOf(0), staleAfter })
}

const sink = { now: () => now, penalise: () => {}, delivered: () => {}, closing: () => {} }
const peerAt = (host: string, number: number, changes: object = {}, listenPort = 7, slots = 256) => {
  const link = { ...idleLink, host, port: 50_000 + number, publicKey: keyOf(number), inbound: true, ...changes }
  return new PeerRecord(link, { ...idleStatus, listenPort }, sink, slots)
}

describe('where a peer listens', () => {
  it('is where it was dialled, else the port that it states, if any', () => {
    expect(listensAt(peerAt('::ffff:8.8.8.8', 1, { inbound: false }))).toEqual({ host: '8.8.8.8', port: 50_001 })
    expect(listensAt(peerAt('::ffff:8.8.8.8', 1))).toEqual({ host: '8.8.8.8', port: 7 })
    expect(listensAt(peerAt('8.8.8.8', 1, {}, 0))).toBeUndefined()
  })
})

describe('the addresses for a peer', () => {
  it('are those connected within 30 days, with a key, and those of the other peers', async () => {
    let time = now - staleAfter
    const book = await bookAt(() => time)
    const met = (host: string, number: number) => book.connected(book.configure(`${host}:1`), keyOf(number))
    met('9.0.0.1', 1)
    time += 1
    met('9.0.0.2', 2)
    time = now - 5_500
    met('9.0.0.3', 3)
    met('no.host.at.all', 4)
    book.connected(book.configure('/unix/5'), keyOf(5))
    book.configure('9.0.0.6:1')
    const requester = peerAt('9.0.0.7', 7)
    const peers = [requester, peerAt('9.0.0.8', 8), peerAt('9.0.0.9', 9, {}, 0)]
    const found = addressesFor(requester, peers, book, now, new SeededRandom(2))
    const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000)
    expect([...found].sort((a, b) => (a.address < b.address ? -1 : 1))).toEqual([
      { address: '9.0.0.2:1', publicKey: keyOf(2), lastSeen: seconds(now - staleAfter + 1) },
      { address: '9.0.0.3:1', publicKey: keyOf(3), lastSeen: seconds(now) - 6 },
      { address: '9.0.0.8:7', publicKey: keyOf(8), lastSeen: seconds(now) },
    ])
  })
})

describe('the addresses of a peer', () => {
  const told = (host: string, lastSeen: number, number = 50) => ({
    address: `${host}:1`,
    publicKey: keyOf(number),
    lastSeen,
  })
  const taken = async (addresses: readonly ReturnType<typeof told>[], slots = 256) => {
    const book = await bookAt(() => now)
    book.learn({ host: '9.0.0.1', port: 1 }, { publicKey: keyOf(1) })
    const sender = peerAt('9.9.9.9', 9, {}, 7, slots)
    const count = takeAddresses(sender, addresses, book, now)
    expect(book.size).toBe(1 + count)
    return { count, hosts: book.addresses().map(({ endpoint }) => endpoint?.host), left: sender.mayAddAddress }
  }

  it.each([
    ['now', now / 1000, 1],
    ['almost 30 days ago', (now - staleAfter) / 1000 + 1, 1],
    ['30 days ago', (now - staleAfter) / 1000, 0],
    ['not quite an hour ahead', (now + hour) / 1000 - 1, 1],
    ['an hour ahead', (now + hour) / 1000, 0],
  ])('are taken where a node was there %s', async (_, lastSeen, count) => {
    expect((await taken([told('8.0.0.1', lastSeen)])).count).toBe(count)
  })

  it('are those that can be reached, are new, and have room', async () => {
    const some = ['8.0.0.1', '10.0.0.1', '9.0.0.1', 'name.example', 'no address', '8.0.0.2', '8.0.0.3'].map((host, i) =>
      told(host, now / 1000, 60 + i),
    )
    expect(await taken(some)).toEqual({ count: 3, hosts: ['9.0.0.1', '8.0.0.1', '8.0.0.2', '8.0.0.3'], left: true })
    expect(await taken(some, 2)).toEqual({ count: 2, hosts: ['9.0.0.1', '8.0.0.1', '8.0.0.2'], left: false })
  })
})
