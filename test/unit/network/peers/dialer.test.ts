import { describe, expect, it } from 'vitest'
import type { KnownAddress } from '../../../../src/network/peers/address-book.js'
import { dialOrder } from '../../../../src/network/peers/dialer.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'

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
    const all = orders(false)
    const proven = all.filter((order) => isSorted(order, ({ seen }) => seen === 0)).length
    const unproven = all.filter((order) => isSorted(order, ({ seen }) => seen > 0)).length
    expect(proven + unproven).toBe(all.length)
    expect(Math.min(proven, unproven)).toBeGreaterThan(5)
  })

  it('ends with those that prune where they would be of no use', () => {
    for (const order of orders(true)) expect(isSorted(order, ({ prunes }) => prunes)).toBe(true)
    expect(orders(false).every((order) => isSorted(order, ({ prunes }) => prunes))).toBe(false)
  })
})
