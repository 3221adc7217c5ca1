import { beforeEach, describe, expect, it } from 'vitest'
import { AddressBook, type KnownAddress, retryDelay } from '../../../../src/network/peers/address-book.js'
import { peerName } from '../../../../src/network/address/peer-identity.js'
import { PeerRows } from '../../../../src/network/peers/peer-rows.js'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { memoryStore, quietLog } from '../../../support/builders/chain.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'
import { keyOf } from '../../../support/network/peers-world.js'

/** A book over a database in memory; what it writes is counted. */
class Shelf {
  now = 1_000_000
  writes = 0
  readonly #rows: PeerRows

  constructor(readonly database: Database) {
    this.#rows = new PeerRows({ database, tip: { header: { height: 0, hash: zeroHash } } }, quietLog())
    const { write } = this.#rows
    this.#rows.write = (change) => (this.writes++, write.call(this.#rows, change))
  }

  open(random = new SeededRandom(1)): Promise<AddressBook> {
    return AddressBook.open(this.database, {
      ...{ rows: this.#rows, now: () => this.now, random, publicKey: keyOf(0), staleAfter: 1_000_000 },
    })
  }
}

let shelf: Shelf
let book: AddressBook
beforeEach(async () => {
  shelf = new Shelf(await Database.over(memoryStore()))
  book = await shelf.open()
})

const listed = (of: AddressBook) => of.addresses().map(({ address }) => address)
const learnt = (host: string, key: number): KnownAddress => {
  expect(book.learn({ host, port: 1 }, { publicKey: keyOf(key) })).toBe(true)
  return book.addresses().at(-1) as KnownAddress
}

describe('an address', () => {
  it('is due again when its wait is over, from half a second to a second after the first failure', () => {
    const known = learnt('1.1.1.1', 1)
    expect(book.due(known)).toBe(true)
    book.failed(known)
    const wait = known.retryAt - shelf.now
    expect([wait > 500, wait <= 1_000]).toEqual([true, true])
    shelf.now += wait - 1
    expect(book.due(known)).toBe(false)
    shelf.now += 1
    expect(book.due(known)).toBe(true)
  })

  it('waits for half of the doubled time at least, whatever the chance', () => {
    for (let failures = 1; failures < 14; failures++) {
      const full = Math.min(600_000, 1_000 * 2 ** (failures - 1))
      const waits = Array.from({ length: 100 }, (_, seed) =>
        retryDelay({ failures, configured: false }, new SeededRandom(seed)),
      )
      expect(Math.min(...waits)).toBeGreaterThan(full / 2)
      expect(Math.max(...waits)).toBeLessThanOrEqual(full)
      expect(new Set(waits).size).toBeGreaterThan(50)
    }
  })

  it('that is to wait for long does not come earlier because it fails meanwhile', () => {
    const known = learnt('1.1.1.1', 1)
    book.postpone(known)
    const { retryAt } = known
    expect(retryAt).toBe(shelf.now + 600_000)
    book.failed(known)
    expect(known.retryAt).toBe(retryAt)
  })

  it('waits no longer, and is dialled no more often, because the clock was set back', () => {
    const known = learnt('1.1.1.1', 1)
    shelf.now += 3_600_000
    for (let i = 0; i < 5; i++) book.failed(known)
    shelf.now -= 3_600_000
    expect(book.due(known)).toBe(true)
    book.failed(known)
    expect(book.due(known)).toBe(false)
    expect(known.retryAt - shelf.now).toBeLessThanOrEqual(32_000)
  })

  it('waits a second after a connection, and begins anew after one that lasted', () => {
    const known = learnt('1.1.1.1', 1)
    for (let i = 0; i < 5; i++) book.failed(known)
    book.connected(known, keyOf(1))
    expect(known).toMatchObject({ failures: 5, seen: shelf.now, retryAt: shelf.now + 1_000 })
    shelf.now += 40_000
    book.stable(known)
    expect(known).toMatchObject({ failures: 0, seen: shelf.now })
    book.failed(known)
    expect(known.retryAt).toBeLessThanOrEqual(shelf.now + 1_000)
  })

  it('is given up after some failures where no node ever was, not after the first', () => {
    const known = learnt('1.1.1.1', 1)
    for (let i = 0; i < 7; i++) book.failed(known)
    expect(listed(book)).toEqual(['1.1.1.1:1'])
    book.failed(known)
    expect(listed(book)).toEqual([])
  })
})

describe('a configured node', () => {
  const named = (key: number, host: string) => [book.names(keyOf(key), host), book.namesKey(keyOf(key))]

  it('is named by its host until a node was connected there, and by the key of that node then', () => {
    const known = book.configure('1.1.1.1:1')
    expect([named(1, '::ffff:1.1.1.1'), named(1, '2.2.2.2')]).toEqual([
      [true, false],
      [false, false],
    ])
    book.connected(known, keyOf(1))
    expect([named(1, '2.2.2.2'), named(2, '1.1.1.1')]).toEqual([
      [true, true],
      [false, false],
    ])
  })

  it('is named by the key in its address', () => {
    book.configure(`/ip4/1.1.1.1/tcp/1/p2p/${peerName(keyOf(7))}`)
    expect([named(7, '2.2.2.2'), named(8, '1.1.1.1')]).toEqual([
      [true, true],
      [false, false],
    ])
  })

  it('is one that the operator named: not one that was learnt, or is no longer configured', () => {
    const known = learnt('1.1.1.1', 1)
    book.connected(known, keyOf(1))
    expect([named(1, '1.1.1.1'), book.configuredAt('1.1.1.1')]).toEqual([[false, false], 0])
    book.configure('1.1.1.1:1')
    book.configure('1.1.1.1:2')
    book.configure('no.address')
    expect([named(1, '1.1.1.1'), book.configuredAt('1.1.1.1')]).toEqual([[true, true], 2])
    known.configured = false
    expect(book.configuredAt('1.1.1.1')).toBe(1)
    expect([book.isConfigured('1.1.1.1:1'), book.isConfigured('1.1.1.1:2')]).toEqual([false, true])
  })
})

describe('a full group of addresses', () => {
  const fill = () => Array.from({ length: 64 }, (_, i) => learnt(`5.5.0.${i}`, i + 1))
  const another = () => book.learn({ host: '5.5.1.1', port: 1 }, { publicKey: keyOf(100) })

  it('takes another for one at which no node was ever met, the one that failed most', () => {
    const known = fill()
    for (const i of [20, 7, 7, 40]) book.failed(known[i] as KnownAddress)
    expect(another()).toBe(true)
    expect(book.size).toBe(64)
    expect(listed(book)).not.toContain('5.5.0.7:1')
  })

  it('takes another now and then where none of them failed', () => {
    fill()
    const taken = Array.from({ length: 40 }, (_, i) => book.learn({ host: `5.5.2.${i}`, port: 1 }))
    expect(taken.filter(Boolean).length).toBeGreaterThan(5)
    expect(taken.filter(Boolean).length).toBeLessThan(35)
    expect(book.size).toBe(64)
  })

  it('takes none for those where a node was met lately, or is not missed yet', () => {
    const known = fill()
    known.forEach((one, i) => book.connected(one, keyOf(i + 1)))
    const [, met, missed] = known as [KnownAddress, KnownAddress, KnownAddress]
    for (let i = 0; i < 8; i++) book.failed(met)
    for (let i = 0; i < 7; i++) book.failed(missed)
    shelf.now += 1_000_000
    book.stable(known[0] as KnownAddress)
    expect(another()).toBe(false)
    met.seen = shelf.now
    shelf.now += 1
    expect(another()).toBe(false)
    book.failed(missed)
    expect(another()).toBe(true)
    expect(listed(book)).not.toContain('5.5.0.2:1')
  })
})

describe('the rows of a book', () => {
  it('have the key of each node, and come back', async () => {
    learnt('1.1.1.1', 1)
    await book.flush()
    const again = await shelf.open()
    expect(again.addresses()).toEqual([
      expect.objectContaining({ address: '1.1.1.1:1', publicKey: Buffer.from(keyOf(1)), seen: 0, failures: 0 }),
    ])
  })

  it('are written where something changed, and only then', async () => {
    await book.flush()
    expect(shelf.writes).toBe(0)
    const known = learnt('1.1.1.1', 1)
    await book.flush()
    await book.flush()
    expect(shelf.writes).toBe(1)
    book.failed(known)
    await book.flush()
    expect((await shelf.open()).addresses()).toMatchObject([{ failures: 1 }])
    book.connected(known, keyOf(1))
    await book.flush()
    shelf.now += 40_000
    book.stable(known)
    await book.flush()
    expect((await shelf.open()).addresses()).toMatchObject([{ failures: 0, seen: shelf.now }])
    book.forget(known)
    await book.flush()
    expect((await shelf.open()).size).toBe(0)
  })

  it('of a node that another took the place of are deleted', async () => {
    const known = learnt('1.1.1.1', 1)
    await book.flush()
    book.connected(known, keyOf(2))
    await book.flush()
    expect((await shelf.open()).addresses()).toMatchObject([{ publicKey: Buffer.from(keyOf(2)) }])
  })

  it('name the address where a node was met, not one where another says that it is', async () => {
    learnt('1.1.1.1', 1)
    const met = learnt('1.1.1.2', 1)
    const configured = book.configure('1.1.1.1:1')
    book.connected(met, keyOf(1))
    expect(listed(book)).toEqual([configured.address, met.address])
    await book.flush()
    expect(listed(await shelf.open())).toEqual(['1.1.1.2:1'])
  })
})
