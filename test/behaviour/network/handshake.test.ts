import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { peerNumber } from '../../../src/network/address/peer-identity.js'
import { networkVersion, statusExchange } from '../../../src/network/wire/status-message.js'
import { PeersWorld, type TestNode } from '../../support/network/peers-world.js'

let world: PeersWorld
beforeEach(() => {
  world = new PeersWorld()
})
afterEach(() => world.close())

const reasons = (node: TestNode) => node.peers.lastRefusals.map(({ by, code }) => `${by} ${code}`)

describe('the handshake', () => {
  it("makes peers of two nodes of one chain, who know each other's status", async () => {
    const a = await world.open({ height: 5 })
    const b = await world.open({ peers: [a.address], height: 9 })
    await world.run()
    expect([a.sees(b), b.sees(a)]).toEqual([true, true])
    expect(a.peer(b).status).toMatchObject({ tipHeight: 9, chainWork: 9000n, listenPort: 20338, relay: true })
    expect(b.peer(a).status.tipHeight).toBe(5)
    expect(b.peer(a).status.agent).toMatch(/^didledger\//)
    expect(a.peers.neighbors()).toMatchObject([
      { id: peerNumber(b.publicKey), height: 9, services: 1, relay: true, external: true, address: b.address },
    ])
    expect(b.peers.neighbors()).toMatchObject([{ external: false, address: a.address, height: 5 }])
  })

  it('shows an IPv6 host in brackets, and one that does not listen where it came from', async () => {
    const a = await world.open({ host: '2001:db8::1' })
    const b = await world.open({ peers: ['[2001:db8::1]:20338'], port: 0, host: '::ffff:9.9.9.9' })
    await world.run()
    expect(b.peers.neighbors().map(({ address }) => address)).toEqual(['[2001:db8::1]:20338'])
    expect(a.peers.neighbors().map(({ address }) => address)).toEqual([`9.9.9.9:${a.transport.links[0]?.port}`])
  })

  it('tells a node of another chain why, on both sides', async () => {
    const a = await world.open({ spec: { name: 'other' } })
    const b = await world.open({ peers: [a.address] })
    await world.run()
    expect([a.peers.all(), b.peers.all()]).toEqual([[], []])
    expect(reasons(a)).toEqual(['us peer-genesis'])
    expect(reasons(b)).toEqual(['us peer-genesis'])
    expect(b.peers.lastRefusals[0]).toMatchObject({ address: a.address })
    expect(b.peers.lastRefusals[0]?.reason).toContain('--genesis')
    expect(b.log.some(({ level, fields }) => level === 'info' && fields['code'] === 'peer-genesis')).toBe(true)
    // It was told to connect there, so somebody should hear of it, once.
    await world.run(60_000)
    const warned = b.log.filter(({ level }) => level === 'warn')
    expect(warned).toMatchObject([{ message: 'could not connect', fields: { address: a.address } }])
    expect(warned[0]?.fields['reason']).toContain('--genesis')
    // Nor is it news where it comes back from other ports.
    expect(reasons(a).length).toBeGreaterThan(3)
    expect(a.log.filter(({ level, fields }) => level === 'info' && fields['code'] === 'peer-genesis').length).toBe(1)
    const refused = expect(b.peers.connect(a.address)).rejects.toMatchObject({ code: 'peer-genesis' })
    await world.run()
    await refused
  })

  const upgraded = {
    upgrades: [{ height: 50, name: 'dearer', parameters: { fees: { minimum: '200', perByte: '1' } } }],
  }

  it('parts nodes with other upgrades at or below a tip, and no others', async () => {
    const a = await world.open({ spec: upgraded, height: 49 })
    const b = await world.open({ peers: [a.address], height: 49 })
    await world.run()
    expect(b.sees(a)).toBe(true)
    a.grow(50)
    await world.run(2_000)
    expect([a.peers.all(), b.peers.all()]).toEqual([[], []])
    expect(reasons(b)).toContain('us peer-upgrades')
    expect(b.peers.lastRefusals[0]?.reason).toContain('height 50')
  })

  it('parts them although the one with the upgrade is far behind', async () => {
    const a = await world.open({ spec: upgraded, height: 3 })
    const b = await world.open({ peers: [a.address], height: 80 })
    await world.run()
    expect(reasons(a)).toEqual(['us peer-upgrades'])
    expect(reasons(b)).toEqual(['them peer-upgrades'])
  })

  it('parts nodes of other versions', async () => {
    const a = await world.open()
    const b = await world.open({ peers: [a.address] })
    await world.run()
    const { link, status } = b.peer(a)
    const { question, answer, protocol } = statusExchange
    const asked = link.request(protocol, question.encode({ ...status, version: networkVersion + 1 }))
    await world.run()
    expect(answer.decode(await asked).refusal).toBe('peer-version')
    expect(reasons(a)).toEqual(['us peer-version'])
    await world.run(1_000)
    expect(a.happened.at(-1)).toBe(`left ${b.name}`)
  })

  it('does not connect a node with itself', async () => {
    const a = await world.open({ host: '1.2.3.4', peers: ['1.2.3.4:20338'] })
    await world.run(5_000)
    expect([a.peers.all(), a.happened]).toEqual([[], []])
  })

  it.each([1, 2])('keeps the same one of two connections that both open at the same time (%i)', async (first) => {
    const a = await world.open({ number: first })
    const b = await world.open({ number: 3 - first })
    await world.run()
    const both = Promise.allSettled([a.peers.connect(b.address), b.peers.connect(a.address)])
    await world.run(20_000)
    await both
    expect([a.peers.all().length, b.peers.all().length]).toEqual([1, 1])
    expect([a.transport.links.length, b.transport.links.length]).toEqual([1, 1])
    expect(a.peer(b).link.inbound).toBe(!b.peer(a).link.inbound)
  })

  it('takes a node back whose old connection it still believes in', async () => {
    const a = await world.open()
    const b = await world.open({ peers: [a.address] })
    await world.run()
    const [dead] = b.transport.links
    dead?.end()
    await world.run(5_000)
    expect([a.sees(b), b.sees(a)]).toEqual([true, true])
    expect(a.happened).toEqual([`joined ${b.name}`, `left ${b.name}`, `joined ${b.name}`])
    expect(a.transport.links.length).toBe(1)
  })

  it('lets no more come in than it wants, politely', async () => {
    const a = await world.open({ inbound: 2 })
    const others: TestNode[] = []
    for (let i = 0; i < 4; i++) others.push(await world.open({ peers: [a.address] }))
    await world.run()
    expect(a.peers.all().length).toBe(2)
    expect(others.map(reasons)).toEqual([[], [], ['them peer-crowded'], ['them peer-crowded']])
    // There is room again.
    await others[0]?.stop()
    await world.run(60_000)
    expect(a.peers.all().length).toBe(2)
  })

  it('needs no place among those that come in where it opens the connection itself', async () => {
    const a = await world.open()
    const b = await world.open({ inbound: 0, peers: [a.address] })
    await world.run()
    expect([a.sees(b), b.sees(a)]).toEqual([true, true])
  })

  it('always has room for those it was told of, also where it cannot reach them itself', async () => {
    const a = await world.open({ inbound: 2, peers: ['77.1.0.1:9999'] })
    const strangers = []
    for (let i = 0; i < 2; i++) strangers.push(await world.open({ peers: [a.address] }))
    await world.run()
    // Everything beyond that is taken as well, by who says nothing.
    const mute = await world.open({ port: 0 })
    const dials = Array.from({ length: 8 }, () => mute.transport.dial(a.address))
    await world.run()
    expect((await Promise.allSettled(dials)).map(({ status }) => status)).toEqual(Array(8).fill('fulfilled'))
    const late = await world.open({ peers: [a.address] })
    const named = await world.open({ host: '77.1.0.1', peers: [a.address] })
    const second = await world.open({ host: '77.1.0.1', port: 0, peers: [a.address] })
    await world.run()
    expect([a.sees(...strangers), a.sees(named), a.sees(late), a.sees(second)]).toEqual([true, true, false, false])
  })

  it('gives up who opens a connection and says nothing, or says nonsense', async () => {
    const a = await world.open()
    const b = await world.open()
    const silent = b.transport.dial(a.address)
    await world.run()
    expect((await silent).closed).toBe(false)
    await world.run(11_000)
    expect((await silent).closed).toBe(true)
    const noisy = b.transport.dial(a.address)
    await world.run()
    const answer = (await noisy).request(statusExchange.protocol, new Uint8Array(7))
    const refused = expect(answer).rejects.toMatchObject({ failure: expect.stringMatching(/closed|refused/) as string })
    await world.run()
    await refused
    expect((await noisy).closed).toBe(true)
    expect(a.happened).toEqual([])
  })

  it('takes connections only so many from one host of the world', async () => {
    const a = await world.open()
    const b = await world.open({ port: 0 })
    const dials = Array.from({ length: 9 }, () => b.transport.dial(a.address))
    const settled = Promise.allSettled(dials)
    await world.run()
    expect((await settled).map(({ status }) => status)).toEqual([...Array<string>(8).fill('fulfilled'), 'rejected'])
  })

  it('counts a /64 of IPv6 as one host', async () => {
    const a = await world.open()
    const hosts = Array.from({ length: 9 }, (_, i) => `2001:db8:1:1::${i}`)
    const others = await Promise.all([...hosts, '2001:db8:1:2::1'].map((host) => world.open({ host, port: 0 })))
    const settled = Promise.allSettled(others.map(({ transport }) => transport.dial(a.address)))
    await world.run()
    const expected = [...Array<string>(8).fill('fulfilled'), 'rejected', 'fulfilled']
    expect((await settled).map(({ status }) => status)).toEqual(expected)
  })
})
