import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addressesExchange, type PeerAddress } from '../../../src/network/wire/addresses-message.js'
import { keyOf, PeersWorld, type TestNode } from '../../support/network/peers-world.js'

let world: PeersWorld
beforeEach(() => {
  world = new PeersWorld()
})
afterEach(() => world.close())

async function told(asker: TestNode, teller: TestNode): Promise<string[]> {
  const asked = asker.peer(teller).ask(addressesExchange, undefined)
  await world.run(10)
  return (await asked).map(({ address }) => address).sort()
}

const seconds = () => Math.floor(world.time.now() / 1000)
const listed = (count: number, address: (i: number) => string): PeerAddress[] =>
  Array.from({ length: count }, (_, i) => ({ address: address(i), publicKey: keyOf(1000 + i), lastSeen: seconds() }))

describe('addresses', () => {
  it('are told of nodes that listen, at the host they were seen at', async () => {
    const seed = await world.open({ outbound: 0 })
    const listens = await world.open({ peers: [seed.address], outbound: 0 })
    await world.open({ peers: [seed.address], port: 0, outbound: 0 })
    const asker = await world.open({ peers: [seed.address], outbound: 0 })
    await world.run(2_000)
    expect(seed.peers.all().length).toBe(3)
    expect(await told(asker, seed)).toEqual([listens.address])
  })

  it('are asked of those that were dialled, at once and every ten minutes, and of no others', async () => {
    const seed = await world.open({ outbound: 0 })
    const node = await world.open({ peers: [seed.address], outbound: 0 })
    const asked = new Map([seed, node].map((one) => [one, 0]))
    for (const one of [seed, node]) {
      one.peers.serve(addressesExchange, async () => {
        asked.set(one, (asked.get(one) ?? 0) + 1)
        return []
      })
    }
    await world.run(2_000)
    expect([...asked.values()]).toEqual([1, 0])
    await world.run(30 * 60_000)
    expect([...asked.values()]).toEqual([4, 0])
  })

  it('are chosen again only after a while, however often a peer asks', async () => {
    const seed = await world.open({ outbound: 0 })
    const asker = await world.open({ peers: [seed.address], outbound: 0 })
    await world.run(20_000)
    expect(await told(asker, seed)).toEqual([])
    const listens = await world.open({ peers: [seed.address], outbound: 0 })
    await world.run(2_000)
    expect(await told(asker, seed)).toEqual([])
    await world.run(10_000)
    expect(await told(asker, seed)).toEqual([listens.address])
  })

  it('that reach less far than the other side are neither told nor believed', async () => {
    const seed = await world.open({ host: '127.0.0.1', outbound: 0 })
    const machine = await world.open({ host: '127.0.0.1', port: 20001, peers: [seed.address], outbound: 0 })
    const network = await world.open({ host: '10.0.0.7', peers: [seed.address], outbound: 0 })
    const far = await world.open({ host: '8.8.8.8', peers: [seed.address], outbound: 0 })
    await world.run(2_000)
    expect(await told(far, seed)).toEqual([])
    expect(await told(network, seed)).toEqual([far.address])
    expect(await told(machine, seed)).toEqual([network.address, far.address].sort())
  })

  it('are taken from a peer only so many, of one group only so many, and never names', async () => {
    const liar = await world.open({ outbound: 0 })
    const answers = [
      listed(256, (i) => `5.5.0.${i}:20338`),
      listed(256, (i) => `20.${i}.0.1:20338`).map((one, i) => ({ ...one, publicKey: keyOf(5000 + i) })),
      listed(256, (i) => `30.${i}.0.1:20338`).map((one, i) => ({ ...one, publicKey: keyOf(9000 + i) })),
    ]
    let asked = 0
    liar.peers.serve(addressesExchange, async () => answers[asked++] ?? [])
    const node = await world.open({ peers: [liar.address] })
    await world.run(100)
    const dialled = () => new Set(node.transport.dialled.filter((address) => address !== liar.address))
    await world.run(40 * 60_000)
    expect(asked).toBe(5)
    const groups = [...dialled()].map((address) => address.split('.')[0])
    expect(groups.filter((group) => group === '5').length).toBeLessThanOrEqual(64)
    expect(dialled().size).toBeLessThanOrEqual(256)
    expect(dialled().size).toBeGreaterThan(50)
    const names = await world.open({ outbound: 0 })
    names.peers.serve(addressesExchange, async () => [
      ...listed(10, (i) => `host${i}.example:20338`),
      ...listed(10, (i) => `10.0.0.${i}:20338`),
      ...listed(10, (i) => `127.0.0.${i}:20338`),
      ...listed(10, (i) => `0.0.0.${i}:20338`),
      ...listed(10, (i) => `40.1.2.${i}:99999`),
      ...listed(3, (i) => `41.1.2.${i}:20338`).map((one) => ({ ...one, lastSeen: 5 })),
      ...listed(3, (i) => `42.1.2.${i}:20338`).map((one) => ({ ...one, lastSeen: 0xffffffff })),
    ])
    const careful = await world.open({ peers: [names.address] })
    await world.run(60_000)
    expect(new Set(careful.transport.dialled)).toEqual(new Set([names.address]))
  })

  it('do not push out where a node was met', async () => {
    const friend = await world.open({ host: '6.6.6.6', outbound: 0 })
    const liar = await world.open({ outbound: 0 })
    liar.peers.serve(addressesExchange, async () => [
      { address: '66.6.6.6:20338', publicKey: friend.publicKey, lastSeen: seconds() },
    ])
    const node = await world.open({ peers: [friend.address] })
    await world.run(2_000)
    await node.stop()
    const again = await world.open({ number: 3, store: node.store, peers: [liar.address] })
    await world.run(5_000)
    expect(again.sees(friend, liar)).toBe(true)
    expect(again.transport.dialled).not.toContain('66.6.6.6:20338')
  })
})
