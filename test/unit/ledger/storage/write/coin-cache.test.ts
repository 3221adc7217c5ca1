import { describe, expect, it } from 'vitest'
import { type Coin, CoinChanges } from '../../../../../src/ledger/consensus/ledger.js'
import { outputKey } from '../../../../../src/base/primitives/input.js'
import { CoinCache } from '../../../../../src/ledger/storage/write/coin-cache.js'
import { CoinRows } from '../../../../../src/ledger/storage/write/coin-rows.js'
import { Database } from '../../../../../src/ledger/storage/database.js'
import { Overlay } from '../../../../../src/ledger/storage/write/overlay.js'
import { FaultyStore } from '../../../../support/fakes/faulty-store.js'
import { memoryStore } from '../../../../support/builders/chain.js'
import { cacheFault } from '../../../../support/assert/row-invariants.js'

const name = (number: number) => outputKey('t'.repeat(32), number)
const coin = (value: bigint, owner = 7): Coin => {
  return { height: 1, coinbase: false, value, outputLock: 0, owner: String.fromCharCode(owner).repeat(21) }
}
const info = { kind: 'block', height: 1, hash: new Uint8Array(32) } as const

describe('Coins and balances in memory', () => {
  it('are the last ones written, within the bound', () => {
    const cache = new CoinCache(3)
    for (let i = 0; i < 5; i++) cache.created(name(i), coin(BigInt(i)))
    expect([0, 1, 2, 3, 4].map((i) => cache.coin(name(i))?.value)).toEqual([undefined, undefined, 2n, 3n, 4n])
    cache.spent(name(3))
    expect(cache.coin(name(3))).toBeUndefined()
    for (let i = 0; i < 5; i++) cache.changed(`${i}`, { sum: BigInt(i), count: 1 })
    expect(cache.sizes).toEqual({ coins: 2, balances: 3 })
    cache.clear()
    expect(cache.sizes).toEqual({ coins: 0, balances: 0 })
  })

  it('are what the rows are, once those are written', async () => {
    const database = await Database.over(memoryStore())
    const first = new Overlay(database)
    for (let i = 0; i < 4; i++) first.coins.create(name(i), coin(5n, i % 2))
    expect(database.coins?.sizes).toEqual({ coins: 0, balances: 0 })
    await first.commit(info, { sync: false })
    const second = new Overlay(database)
    expect(second.knownCoin(name(1))).toMatchObject({ value: 5n })
    expect(second.knownCoin(name(9))).toBeUndefined()
    for (const i of [0, 1, 2]) second.coins.spend(name(i), coin(5n, i % 2))
    second.coins.create(name(9), coin(3n, 1))
    expect([name(1), name(9)].map((key) => second.knownCoin(key)?.value)).toEqual([undefined, 3n])
    await second.commit(info, { sync: false })
    expect(database.coins?.sizes).toEqual({ coins: 2, balances: 2 })
    expect(await cacheFault(database)).toBeUndefined()
  })

  it('are not shown while readers are held at earlier rows', async () => {
    const database = await Database.over(memoryStore())
    database.hold()
    const overlay = new Overlay(database.newest)
    overlay.coins.create(name(1), coin(5n))
    await overlay.commit(info, { sync: false })
    expect(new Overlay(database).knownCoin(name(1))).toBeUndefined()
    const held = { getMany: (wanted: Buffer[]) => database.getMany(wanted), coins: database.coins }
    const changes = new CoinChanges()
    changes.spend(name(1), coin(5n))
    await expect(CoinRows.of(changes, held)).rejects.toThrow(/readers are held/)
    expect(new Overlay(database.newest).knownCoin(name(1))).toMatchObject({ value: 5n })
    database.release()
    expect(new Overlay(database).knownCoin(name(1))).toMatchObject({ value: 5n })
  })

  it('are forgotten when a batch fails', async () => {
    const store = new FaultyStore()
    const database = await Database.over(store)
    const overlay = new Overlay(database)
    overlay.coins.create(name(1), coin(5n))
    await overlay.commit(info, { sync: false })
    const next = new Overlay(database)
    next.coins.create(name(2), coin(5n))
    store.lasts = store.writes
    await expect(next.commit(info, { sync: false })).rejects.toThrow()
    expect(database.newest.coins.sizes).toEqual({ coins: 0, balances: 0 })
  })
})
