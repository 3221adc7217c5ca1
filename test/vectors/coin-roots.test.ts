import { afterAll, describe, expect, it } from 'vitest'
import { hex, toHex } from '../../src/base/primitives/bytes.js'
import { CoinHasher, coinRoot } from '../../src/ledger/consensus/coin-root.js'
import { openVectors } from '../support/builders/vectors.js'

interface Vectors {
  readonly genesis: string
  readonly cases: readonly {
    readonly about: string
    readonly height: number
    readonly coins: readonly string[]
    /** Rows of table 1d. */
    readonly sideChains: readonly string[]
    readonly root: string
  }[]
  readonly repeated: readonly {
    readonly coin: string
    readonly times: number
    readonly height: number
    readonly root: string
  }[]
}

const { data, finish } = openVectors<Vectors>('coin-roots.json', { descriptive: ['about'] })
afterAll(() => finish())

/** The root over rows, in hex. */
function rootOf(height: number, rows: Uint8Array, sideChains = new Uint8Array(0)): string {
  const hasher = new CoinHasher()
  hasher.add(rows)
  return toHex(coinRoot(hex(data.genesis), height, { ...hasher.finish(), sideChains }))
}

describe('the root of all coins', () => {
  it.each(data.cases.map((one) => [one.about, one] as const))('of %s', (_, { height, coins, sideChains, root }) => {
    const [rows, proved] = [coins, sideChains].map((all) => Buffer.concat(all.map(hex)))
    expect(rootOf(height, rows as Buffer, proved)).toBe(root)
  })

  it.each(data.repeated.map((one) => [one.times, one] as const))('of %i coins', (times, { coin, height, root }) => {
    expect(rootOf(height, Buffer.alloc(times * 73, hex(coin)))).toBe(root)
  })
})
