import { describe, expect, it, vi } from 'vitest'
import type { Link } from '../../../../src/network/link.js'
import type { KnownAddress } from '../../../../src/network/peers/address-book.js'
import { dialOrder, Dialer, type DialerOptions } from '../../../../src/network/peers/dialer.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'
import { quietLog } from '../../../support/builders/chain.js'
import { idleLink } from '../../../support/fakes/stubs.js'

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

describe('a dial', () => {
  it('that ends after the node has stopped makes no peer', async () => {
    let arrive = (_: Link) => {}
    const transport = { dial: () => new Promise<Link>((resolve) => (arrive = resolve)) }
    const connections = { open: vi.fn(), peerOf: () => undefined, ofKey: () => undefined }
    const options = { transport, connections, book: { failed: () => {} }, log: quietLog() }
    const dialer = new Dialer(options as unknown as DialerOptions)
    const dialled = expect(dialer.dial(known(1, 0, false))).rejects.toMatchObject({ failure: 'closed' })
    dialer.close()
    const close = vi.fn()
    arrive({ ...idleLink, close })
    await dialled
    expect([connections.open.mock.calls.length, close.mock.calls.length]).toEqual([0, 1])
  })
})
