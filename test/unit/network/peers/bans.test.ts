import { beforeEach, describe, expect, it } from 'vitest'
import { Bans } from '../../../../src/network/peers/bans.js'
import { PeerRows } from '../../../../src/network/peers/peer-rows.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { memoryStore, quietLog } from '../../../support/builders/chain.js'
import { keyOf } from '../../../support/network/peers-world.js'

let database: Database
let rows: PeerRows
let writes: number
const clock = { now: 1_000 }
const open = () => Bans.open(database, rows, () => clock.now)
beforeEach(async () => {
  database = await Database.over(memoryStore())
  rows = new PeerRows({ database, tip: { header: { height: 0, hash: zeroHash } } }, quietLog())
  writes = 0
  const { write } = rows
  rows.write = (change) => (writes++, write.call(rows, change))
  clock.now = 1_000
})

describe('a ban', () => {
  it('holds until its time, of a key wherever it is, and of a site whatever its key', async () => {
    const bans = await open()
    await bans.add('key', toHex(keyOf(1)).toUpperCase(), 2_000, 'of a key')
    await bans.add('host', '2001:DB8:1:1::7', 3_000, 'of a site')
    const found = () => [
      bans.find(keyOf(1), '9.9.9.9')?.reason,
      bans.find(keyOf(2), '2001:db8:1:1::8')?.reason,
      bans.find(undefined, '2001:db8:1:1::8')?.reason,
      bans.find(keyOf(2), '9.9.9.9')?.reason,
    ]
    expect(found()).toEqual(['of a key', 'of a site', 'of a site', undefined])
    expect((await open()).list()).toEqual(bans.list())
    clock.now = 1_999
    expect(found()[0]).toBe('of a key')
    clock.now = 2_000
    expect(found()).toEqual([undefined, 'of a site', 'of a site', undefined])
    expect(bans.list().map(({ reason }) => reason)).toEqual(['of a site'])
  })

  it('is of a key in whatever case it is written', async () => {
    const bans = await open()
    const key = toHex(keyOf(0xab))
    await bans.add('key', key.toUpperCase(), 2_000, 'x')
    expect([bans.list()[0]?.subject, bans.find(keyOf(0xab), '9.9.9.9')?.reason]).toEqual([key, 'x'])
    expect(await bans.remove(key.toUpperCase())).toBe(true)
  })

  it('is never of a host of this machine or a private network', async () => {
    const bans = await open()
    for (const host of ['127.0.0.1', '10.0.0.1', 'fe80::1']) {
      await bans.add('host', host, 2_000, 'x')
      bans.suspect(host, 2_000)
      expect(bans.suspects(host)).toBe(false)
    }
    expect([bans.list(), writes]).toEqual([[], 0])
  })

  it('can be taken back once, while it holds', async () => {
    const bans = await open()
    for (let i = 1; i < 4; i++) await bans.add('key', toHex(keyOf(i)), 2_000, 'x')
    clock.now = 1_999
    expect([await bans.remove(toHex(keyOf(1))), await bans.remove(toHex(keyOf(1)))]).toEqual([true, false])
    clock.now = 2_000
    expect(await bans.remove(toHex(keyOf(2)))).toBe(false)
    clock.now = 1_000
    expect((await open()).list().map(({ subject }) => subject)).toEqual([toHex(keyOf(3))])
  })

  it('is written when it changes alone', async () => {
    const bans = await open()
    bans.expire()
    expect(writes).toBe(0)
    await bans.add('key', toHex(keyOf(1)), 2_000, 'x')
    await bans.add('key', toHex(keyOf(1)), 2_000, 'again')
    await open()
    expect(writes).toBe(1)
    clock.now = 2_000
    bans.expire()
    bans.expire()
    expect(writes).toBe(2)
  })
})

describe('a suspect host', () => {
  it('is one of its site until its time, or until it is taken back', async () => {
    const bans = await open()
    bans.suspect('2001:db8:1:1::7', 2_000)
    bans.suspect('8.8.8.8', 2_000)
    expect(['2001:db8:1:1::8', '2001:db8:1:2::7', '8.8.8.8'].map((host) => bans.suspects(host))).toEqual([
      true,
      false,
      true,
    ])
    await bans.remove('8.8.8.8')
    expect(bans.suspects('8.8.8.8')).toBe(false)
    clock.now = 2_000
    expect(bans.suspects('2001:db8:1:1::8')).toBe(false)
  })

  it('is one of the last thousand', async () => {
    const bans = await open()
    const host = (i: number) => `9.9.${i >> 8}.${i & 255}`
    for (let i = 0; i < 1000; i++) bans.suspect(host(i), 2_000)
    expect(bans.suspects(host(0))).toBe(true)
    bans.suspect(host(0), 3_000)
    bans.suspect(host(1000), 2_000)
    expect([0, 1, 2, 1000].map((i) => bans.suspects(host(i)))).toEqual([true, false, true, true])
  })
})
