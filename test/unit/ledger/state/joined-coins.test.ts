import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import { JoinedCoins, ownerLane } from '../../../../src/ledger/state/joined-coins.js'
import { Spool } from '../../../../src/ledger/state/spool.js'
import { type Key, tables } from '../../../../src/ledger/storage/rows/tables.js'
import type { RowBuffer } from '../../../../src/ledger/storage/write/row-buffer.js'
import { memoryScratch } from '../../../support/builders/memory-scratch.js'

interface Coin {
  readonly owner: Uint8Array
  readonly value: bigint
}

const digest = (n: number) => createHash('sha256').update(String(n)).digest()

/** A program hash of a prefix; with `crowded` its first bytes are those of all others. */
function ownerOf(n: number, prefix = 0x21, crowded = false): Uint8Array {
  return Buffer.concat([Buffer.of(prefix), Buffer.alloc(crowded ? 5 : 0, 7), digest(n).subarray(0, crowded ? 15 : 20)])
}

/** Rows by their keys in hex, written at once or as late as a target may. */
class Target {
  readonly rows = new Map<string, Buffer>()
  readonly order: string[] = []
  #gathered: (readonly [string, Buffer])[] = []
  reads = 0

  putRow({ key, value }: RowBuffer): void {
    this.#gathered.push([key.toString('hex'), Buffer.from(value)])
  }

  async writeFull(): Promise<void> {
    if (this.#gathered.length > 1000) await this.written()
  }

  written(): Promise<void> {
    for (const [key, value] of this.#gathered) {
      this.rows.set(key, value)
      this.order.push(key)
    }
    this.#gathered = []
    return Promise.resolve()
  }

  getMany(keys: Key[]): Promise<(Buffer | undefined)[]> {
    this.reads += keys.length
    return Promise.resolve(keys.map((key) => this.rows.get(key.toString('hex'))))
  }
}

/** The rows that coins make, and those that their tables say. */
async function joined(coins: readonly Coin[], held?: number) {
  const target = new Target()
  const spool = new Spool(await memoryScratch(), ownerLane, held)
  const expected = new Map<string, Buffer>()
  const balances = new Map<string, { sum: bigint; count: number }>()
  const chunk = coins.map(({ owner, value }, i) => {
    const outpoint = { txid: digest(i), index: i % 5 }
    const coin = { value, owner: mapKey(owner), height: i % 70_000, coinbase: i % 2 === 0, outputLock: i }
    const row = [tables.coin.key(outpoint), Buffer.from(tables.coin.encode(coin))] as const
    expected.set(row[0].toString('hex'), row[1])
    const owned = tables.addressCoin.key(owner, coin.height, outpoint)
    expected.set(owned.toString('hex'), Buffer.from(tables.addressCoin.encode(value)))
    const { sum, count } = balances.get(coin.owner) ?? { sum: 0n, count: 0 }
    balances.set(coin.owner, { sum: sum + value, count: count + 1 })
    return Buffer.concat(row)
  })
  for (const [owner, balance] of balances) {
    expected.set(tables.balance.key(owner).toString('hex'), Buffer.from(tables.balance.encode(balance)))
  }
  const rows = new JoinedCoins(target, spool)
  for (let i = 0; i < chunk.length; i += 500) await rows.take(Buffer.concat(chunk.slice(i, i + 500)))
  await rows.end()
  await target.written()
  expect(new Map([...target.rows].sort())).toEqual(new Map([...expected].sort()))
  return target
}

describe('coins of a state', () => {
  it('make their rows, those by owner, and balances', async () => {
    const prefixes = [0x21, 0x12, 0x67]
    const coins = Array.from({ length: 3000 }, (_, i) => ({
      owner: ownerOf(i % 700, prefixes[i % 3]),
      value: BigInt(i) << 40n,
    }))
    const { order, reads } = await joined(coins)
    const owned = order.filter((key) => key.startsWith('09'))
    expect(owned.map((key) => key.slice(0, 14))).toEqual(owned.map((key) => key.slice(0, 14)).sort())
    expect(reads).toBe(0)
  })

  it('sum to balances of more owners with equal first bytes than are in memory', async () => {
    const owners = 5000
    const coins = Array.from({ length: 15_000 }, (_, i) => ({
      owner: ownerOf((i * 7) % owners, 0x21, true),
      value: 3n,
    }))
    const { reads } = await joined([...coins, { owner: ownerOf(1), value: 1n }])
    expect(reads).toBeGreaterThan(0)
  })

  it('sum to balances of as many owners with equal first bytes as are in memory', async () => {
    const coins = Array.from({ length: 4096 }, (_, i) => ({ owner: ownerOf(i, 0x21, true), value: 3n }))
    await joined(coins)
  })

  it('sum to balances where a lane is longer than memory', async () => {
    // Four pieces of 16 KiB at once; a third of 20,000 coins are of one owner, a third of others of its lane.
    const near = (n: number) => Buffer.concat([ownerOf(0).subarray(0, 2), digest(n).subarray(0, 19)])
    const owners = [() => near(0), (i: number) => near(i % 5001), (i: number) => ownerOf(i % 900)] as const
    const coins = Array.from({ length: 20_000 }, (_, i) => {
      return { owner: (owners[i % 3] as (i: number) => Uint8Array)(i), value: BigInt(i) }
    })
    const { reads } = await joined(coins, 64 * 1024)
    expect(reads).toBeGreaterThan(0)
    await joined(
      coins.filter((_, i) => i % 3 === 0),
      64 * 1024,
    )
  })

  it('make no rows where there are none', async () => {
    expect((await joined([])).rows.size).toBe(0)
  })
})
