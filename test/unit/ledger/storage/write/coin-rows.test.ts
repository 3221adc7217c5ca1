import { describe, expect, it } from 'vitest'
import { type Coin, CoinChanges } from '../../../../../src/ledger/consensus/ledger.js'
import { outpointKey } from '../../../../../src/base/primitives/input.js'
import { finish } from '../../../../../src/base/primitives/steps.js'
import { BatchRows } from '../../../../../src/ledger/storage/write/batch-rows.js'
import { CoinCache } from '../../../../../src/ledger/storage/write/coin-cache.js'
import { CoinRows, loadInParts } from '../../../../../src/ledger/storage/write/coin-rows.js'
import { tables } from '../../../../../src/ledger/storage/rows/tables.js'

const outpoint = (number: number) => ({ txid: new Uint8Array(32).fill(number), index: 0 })
const coin = (owner: number, value: bigint, height = 1): Coin => {
  return { height, coinbase: false, value, outputLock: 0, owner: String.fromCharCode(owner).repeat(21) }
}
const address = (owner: number) => new Uint8Array(21).fill(owner)
const name = (number: number) => outpointKey(outpoint(number))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Rows before, by the key in hex. */
function rowsBefore(balances: Readonly<Record<number, bigint>>) {
  const rows = new Map(
    Object.entries(balances).map(([owner, sum]) => {
      return [hex(tables.balance.key(address(Number(owner)))), tables.balance.encode({ sum, count: 1 })]
    }),
  )
  const get = (key: Buffer) => rows.get(hex(key))
  return { get, getMany: (wanted: Buffer[]) => Promise.resolve(wanted.map(get)), coins: new CoinCache() }
}

async function written(coins: CoinChanges, balances: Readonly<Record<number, bigint>>): Promise<Map<string, string>> {
  const made = await CoinRows.of(coins, rowsBefore(balances))
  const rows = new Map<string, string>()
  const batch = new BatchRows({
    put: (key, sealed) => void rows.set(hex(key), hex(sealed.subarray(0, -4))),
    del: (key) => void rows.set(hex(key), 'gone'),
    write: () => Promise.resolve(),
  })
  finish(made.steps(batch))
  return rows
}

describe('The rows of changed coins', () => {
  it('are those of coins that came, went, or moved to another height, and of the balances', async () => {
    const coins = new CoinChanges()
    coins.spend(name(1), coin(7, 10n))
    coins.create(name(2), coin(8, 9n))
    // A block left the chain, and another one has the same transaction.
    coins.spend(name(3), coin(9, 5n, 4))
    coins.create(name(3), coin(9, 5n, 6))
    const rows = await written(coins, { 7: 10n, 9: 5n })
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries([
        [hex(tables.coin.key(outpoint(1))), 'gone'],
        [hex(tables.addressCoin.key(address(7), 1, outpoint(1))), 'gone'],
        [hex(tables.coin.key(outpoint(2))), hex(tables.coin.encode(coin(8, 9n)))],
        [hex(tables.addressCoin.key(address(8), 1, outpoint(2))), hex(tables.addressCoin.encode(9n))],
        [hex(tables.addressCoin.key(address(9), 4, outpoint(3))), 'gone'],
        [hex(tables.coin.key(outpoint(3))), hex(tables.coin.encode(coin(9, 5n, 6)))],
        [hex(tables.addressCoin.key(address(9), 6, outpoint(3))), hex(tables.addressCoin.encode(5n))],
        [hex(tables.balance.key(address(7))), 'gone'],
        [hex(tables.balance.key(address(8))), hex(tables.balance.encode({ sum: 9n, count: 1 }))],
      ]),
    )
  })

  it('are none of a coin that came and went', async () => {
    const coins = new CoinChanges()
    coins.create(name(1), coin(7, 10n))
    coins.spend(name(1), coin(7, 10n))
    expect((await written(coins, {})).size).toBe(0)
    expect(coins.get(name(1))).toBe(null)
  })

  it('are not made where a balance would fall below zero', async () => {
    const coins = new CoinChanges()
    coins.spend(name(1), coin(7, 10n))
    await expect(CoinRows.of(coins, rowsBefore({ 7: 9n }))).rejects.toThrow(/below zero/)
    await expect(CoinRows.of(coins, rowsBefore({}))).rejects.toThrow(/below zero/)
  })
})

describe('Rows that are loaded in parts', () => {
  it('are so many calls of so many at a time, and those of a failure are not left behind', async () => {
    let [running, most] = [0, 0]
    const sizes: number[] = []
    const load = async (some: readonly number[]) => {
      most = Math.max(most, ++running)
      sizes.push(some.length)
      await new Promise((resolve) => setTimeout(resolve, 1))
      running--
      if (some.includes(9_000)) throw new Error('the disk reports an error')
    }
    await loadInParts(
      Array.from({ length: 5_000 }, (_, i) => i),
      load,
    )
    expect(most).toBeLessThanOrEqual(4)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(5_000)
    const wanted = Array.from({ length: 20_000 }, (_, i) => i)
    await expect(loadInParts(wanted, load)).rejects.toThrow('the disk reports an error')
  })
})
