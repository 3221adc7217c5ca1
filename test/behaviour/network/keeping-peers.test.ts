import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { retryDelay } from '../../../src/network/peers/address-book.js'
import { PeersWorld, type TestNode } from '../../support/network/peers-world.js'

let world: PeersWorld
beforeEach(() => {
  world = new PeersWorld()
})
afterEach(() => world.close())

const outbound = (node: TestNode) => node.peers.neighbors().filter(({ external }) => !external)

describe('keeping peers', () => {
  it('opens as many connections as it wants, from one address it was told, and keeps them when some go', async () => {
    const seed = await world.open()
    const others: TestNode[] = []
    for (let i = 0; i < 9; i++) others.push(await world.open({ peers: [seed.address], outbound: 0 }))
    const node = await world.open({ peers: [seed.address], outbound: 4 })
    await world.run(20_000)
    // Those to addresses that it was told come on top.
    expect(outbound(node).length).toBe(5)
    const lost = others.filter((other) => node.sees(other)).slice(0, 2)
    for (const other of lost) await other.stop()
    await world.run(30_000)
    expect(outbound(node).length).toBe(5)
    expect(node.sees(seed)).toBe(true)
    expect(seed.peers.all().length).toBeGreaterThanOrEqual(8)
  })

  it('opens no more than two connections to one group of addresses, those it was told excepted', async () => {
    const hosts = ['7.7.0.1', '7.7.0.2', '7.7.1.3', '7.7.1.4', '7.8.0.1']
    const others: TestNode[] = []
    for (const host of hosts) others.push(await world.open({ host, outbound: 0 }))
    const seed = await world.open({ peers: others.map(({ address }) => address), outbound: 0 })
    await world.run(10_000)
    const node = await world.open({ peers: [seed.address] })
    await world.run(60_000)
    expect(outbound(node).filter(({ address }) => address.startsWith('7.7.')).length).toBe(2)
    expect(node.sees(others[4] as TestNode)).toBe(true)
    const told = await world.open({ peers: others.map(({ address }) => address) })
    await world.run(10_000)
    expect(outbound(told).filter(({ address }) => address.startsWith('7.7.')).length).toBe(4)
  })

  it('gives half of its places at most to nodes that prune, those it was told to connect to excepted', async () => {
    const seed = await world.open({ outbound: 0, prunes: true })
    for (let i = 0; i < 6; i++) await world.open({ peers: [seed.address], outbound: 0, prunes: true })
    const node = await world.open({ peers: [seed.address], outbound: 4 })
    await world.run(60_000)
    const [others, whole] = [() => outbound(node).filter(({ address }) => address !== seed.address), [] as TestNode[]]
    expect(node.sees(seed)).toBe(true)
    expect(others()).toHaveLength(2)
    for (let i = 0; i < 3; i++) whole.push(await world.open({ peers: [seed.address], outbound: 0 }))
    // Once it has asked for addresses again.
    await world.run(700_000)
    expect(others()).toHaveLength(4)
    expect(whole.filter((one) => node.sees(one)).length).toBeGreaterThanOrEqual(2)
  })

  it('looks elsewhere before it returns to those that prune, while it lacks what they have given up', async () => {
    const height = 1000
    const seed = await world.open({ outbound: 0, height })
    const [pruned, whole] = [[] as TestNode[], [] as TestNode[]]
    for (let i = 0; i < 6; i++)
      pruned.push(await world.open({ peers: [seed.address], outbound: 0, height, prunes: true }))
    const node = await world.open({ peers: [seed.address], outbound: 2 })
    await world.run(60_000)
    // It has met them all, and has kept one.
    expect(pruned.filter(({ name }) => node.happened.includes(`joined ${name}`))).toHaveLength(6)
    for (let i = 0; i < 4; i++) whole.push(await world.open({ peers: [seed.address], outbound: 0, height }))
    await world.run(1_400_000)
    const dial = vi.spyOn(node.transport, 'dial')
    for (let i = 0; i < 3; i++) {
      const [present, ...more] = whole.filter((one) => node.sees(one))
      expect([present?.address, more]).toEqual([expect.any(String), []])
      await present?.stop()
      dial.mockClear()
      while (dial.mock.calls.length === 0) await world.run(1_000)
      const [[first] = []] = dial.mock.calls
      expect(whole.map(({ address }) => address)).toContain(first)
      await world.run(3_000)
    }
  })

  it('says once that nobody is where it was told to connect, and again after somebody was', async () => {
    const there = await world.open()
    const node = await world.open({ peers: [there.address] })
    const warnings = () => node.log.filter(({ level }) => level === 'warn').map(({ fields }) => fields['address'])
    await world.run()
    await there.stop()
    await world.run(2_000)
    expect(warnings()).toEqual([])
    await world.run(120_000)
    expect(warnings()).toEqual([there.address])
    await world.open({ number: 1 })
    await world.run(600_000)
    expect(node.peers.all()).toHaveLength(1)
    await world.nodes.at(-1)?.stop()
    await world.run(120_000)
    expect(warnings()).toEqual([there.address, there.address])
  })

  it('comes back to where somebody was, half as often each time', async () => {
    const gone = await world.open()
    const before = await world.open({ peers: [gone.address] })
    await world.run()
    await gone.stop()
    await before.stop()
    const node = await world.open({ number: 2, store: before.store })
    await world.run(10_000)
    const early = node.transport.dialled.length
    expect(early).toBeGreaterThanOrEqual(3)
    expect(early).toBeLessThanOrEqual(6)
    await world.run(3_600_000)
    const hour = node.transport.dialled.length
    expect(hour).toBeLessThan(early + 30)
    await world.run(3_600_000)
    // Six to twelve attempts an hour: every five to ten minutes.
    expect(node.transport.dialled.length - hour).toBeGreaterThanOrEqual(5)
    expect(node.transport.dialled.length - hour).toBeLessThanOrEqual(13)
  })

  it('does not wait long for nodes that it was told to connect to', async () => {
    const node = await world.open({ peers: ['3.3.3.3:1'] })
    await world.run(3_600_000)
    const before = node.transport.dialled.length
    await world.run(60_000)
    expect(node.transport.dialled.length - before).toBeGreaterThanOrEqual(4)
    expect(node.transport.dialled.length - before).toBeLessThanOrEqual(9)
  })

  it('waits twice as long after each failure, and ten minutes at most', () => {
    const least = { bytes: (length: number) => new Uint8Array(length) }
    const most = { bytes: (length: number) => new Uint8Array(length).fill(255) }
    const waits = (configured: boolean, random = least) =>
      [1, 2, 3, 4, 10, 11, 200].map((failures) => retryDelay({ failures, configured }, random))
    expect(waits(false)).toEqual([1000, 2000, 4000, 8000, 512_000, 600_000, 600_000])
    expect(waits(true)).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
    for (const [i, wait] of waits(false, most).entries()) {
      expect(wait).toBeGreaterThan((waits(false)[i] as number) / 2 - 1)
      expect(wait).toBeLessThanOrEqual(waits(false)[i] as number)
    }
  })

  it('does not hurry back to a peer that hangs up at once', async () => {
    const a = await world.open()
    const b = await world.open({ peers: [a.address] })
    a.peers.events.on('joined', (peer) => peer.close('unfriendly'))
    await world.run(60_000)
    expect(b.transport.dialled.length).toBeLessThan(12)
    expect(b.happened.length).toBeGreaterThan(4)
  })

  it('gives up a peer from which nothing comes for a minute, and nobody gets banned for that', async () => {
    const a = await world.open()
    const b = await world.open({ peers: [a.address] })
    const c = await world.open({ peers: [a.address] })
    await world.run(5_000)
    world.network.weather.passes = (from, to) => from !== b.transport.node && to !== b.transport.node
    await world.run(50_000)
    expect(a.sees(b)).toBe(true)
    await world.run(15_000)
    expect([a.sees(b), b.sees(a), a.sees(c)]).toEqual([false, false, true])
    expect([...a.peers.listBans(), ...b.peers.listBans()]).toEqual([])
    world.network.weather.passes = () => true
    await world.run(60_000)
    expect([a.sees(b), b.sees(a)]).toEqual([true, true])
  })

  it('tells of a new tip at once, but not more than once a second', async () => {
    const a = await world.open()
    const b = await world.open({ peers: [a.address] })
    const heights: number[] = []
    b.peers.events.on('status', ({ status }) => heights.push(status.tipHeight))
    await world.run(5_000)
    for (let height = 1; height <= 10; height++) {
      a.grow(height)
      await world.run(100)
    }
    await world.run(1_500)
    expect(heights[0]).toBe(1)
    expect(heights.at(-1)).toBe(10)
    expect(heights.length).toBeLessThanOrEqual(4)
    expect(b.peer(a).status.tipHeight).toBe(10)
  })

  it('remembers where it was connected when it is opened again', async () => {
    const a = await world.open()
    const b = await world.open({ peers: [a.address] })
    await world.run(2_000)
    await b.stop()
    const again = await world.open({ number: 2, store: b.store })
    await world.run(2_000)
    expect(again.sees(a)).toBe(true)
  })

  it('remembers where those listen who came to it', async () => {
    const a = await world.open({ outbound: 1 })
    const b = await world.open({ peers: [a.address], outbound: 0 })
    await world.open({ peers: [a.address], outbound: 0, port: 0 })
    await world.run(2_000)
    await a.stop()
    const again = await world.open({ number: 1, store: a.store, port: 30_000 })
    await world.run(2_000)
    expect(again.transport.dialled).toEqual([b.address])
    expect(outbound(again)).toHaveLength(1)
  })

  it('does not return to where it was told to disconnect', async () => {
    const a = await world.open({ outbound: 0 })
    const b = await world.open({ peers: [a.address], outbound: 0 })
    await world.run(2_000)
    expect(b.peers.disconnect(b.peer(a).id)).toBe(true)
    await world.run(30 * 60_000)
    expect([b.sees(a), b.transport.dialled]).toEqual([false, [a.address]])
  })

  it('connects and disconnects on demand', async () => {
    const a = await world.open({ outbound: 0 })
    const b = await world.open()
    const connecting = b.peers.connect(a.address)
    await world.run()
    expect((await connecting).name).toBe(a.name)
    // Asked for again, it is the same peer.
    expect(await b.peers.connect(a.address)).toBe(b.peer(a))
    expect(b.peers.disconnect(b.peer(a).id)).toBe(true)
    await world.run(60_000)
    expect(b.sees(a)).toBe(false)
    expect(b.peers.disconnect(12345)).toBe(false)
    const nowhere = expect(b.peers.connect('9.9.9.9:9')).rejects.toMatchObject({ failure: 'unreachable' })
    await world.run()
    await nowhere
  })

  it('comes back to an address only where the first attempt came to something, or it was told at its start', async () => {
    const there = await world.open({ outbound: 0 })
    const told = '9.9.9.8:8'
    const node = await world.open({ peers: [told] })
    const fails = async (address: string) => {
      const failed = expect(node.peers.connect(address)).rejects.toMatchObject({ failure: 'unreachable' })
      await world.run()
      await failed
    }
    await fails('9.9.9.9:9')
    await fails(told)
    const connecting = node.peers.connect(there.address)
    await world.run()
    await connecting
    await there.stop()
    const before = node.transport.dialled.length
    await world.run(60_000)
    expect(new Set(node.transport.dialled.slice(before))).toEqual(new Set([told, there.address]))
  })

  it('leaves out its own address when it is told it, and is not alarmed', async () => {
    const own = '2.2.0.1:20338'
    const other = await world.open({ outbound: 0 })
    const node = await world.open({ number: 2, peers: [own, other.address] })
    expect(node.address).toBe(own)
    await world.run(120_000)
    expect(node.transport.dialled.filter((address) => address === own)).toHaveLength(1)
    expect(node.sees(other)).toBe(true)
    const about = node.log.filter(({ fields }) => fields['address'] === own).map(({ level }) => level)
    expect(about).toEqual(['info'])
  })

  it('tries what multicast finds, and any number of it', async () => {
    const others: TestNode[] = []
    for (let i = 1; i < 5; i++) others.push(await world.open({ host: `192.168.1.${i}`, outbound: 0 }))
    const node = await world.open({ host: '192.168.1.9' })
    for (const { transport } of others) node.peers.onAddress(`/ip4/${transport.host}/tcp/20338`)
    node.peers.onAddress('nonsense')
    await world.run(5_000)
    expect(node.sees(...others)).toBe(true)
  })

  it('can be closed twice', async () => {
    const node = await world.open()
    await Promise.all([node.peers.close(), node.peers.close()])
    await node.peers.close()
    expect([world.time.pending, node.tipListeners]).toEqual([0, 0])
  })

  it('leaves no timer and no listener behind', async () => {
    const a = await world.open()
    const b = await world.open({ peers: [a.address] })
    for (let i = 0; i < 20; i++) {
      await world.run(3_000)
      for (const link of [...b.transport.links]) link.close()
    }
    await world.run(60_000)
    expect(a.tipListeners).toBe(1)
    expect(world.time.pending).toBeLessThan(10)
    await world.close()
    await world.run(20_000)
    expect([world.time.pending, a.tipListeners, b.tipListeners]).toEqual([0, 0, 0])
  })
})
