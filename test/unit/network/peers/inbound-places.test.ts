import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { siteOf } from '../../../../src/network/address/ip-address.js'
import { givingWay, hostBound, leaving, type Occupant } from '../../../../src/network/peers/inbound-places.js'
import { type Delivery, deliveries } from '../../../../src/network/peers/merits.js'
import { PeersWorld, type TestNode } from '../../../support/network/peers-world.js'

type Mutable = { -readonly [name in keyof Occupant]: Occupant[name] } & { delivered: Record<Delivery, number> }

function occupant(host: string, since: number, named = false): Mutable {
  return { host, since, named, delivered: { block: -Infinity, vote: -Infinity, transaction: -Infinity } }
}

/** The places of a node, without connections. */
class Places {
  readonly taken: Mutable[] = []

  constructor(
    readonly inbound: number,
    readonly perHost = 8,
  ) {}

  /** Whether a newcomer of a host gets a place. */
  come(newcomer: Mutable): boolean {
    const ofSite = this.taken.filter(({ host }) => siteOf(host) === siteOf(newcomer.host))
    if (ofSite.length >= hostBound(newcomer.host, this.inbound, this.perHost)) return false
    if (this.taken.length >= this.inbound) {
      const gone = leaving(this.taken, newcomer, this.inbound)
      if (gone === newcomer) return false
      this.taken.splice(this.taken.indexOf(gone), 1)
    }
    this.taken.push(newcomer)
    return true
  }
}

const attack = fc.record({
  host: fc.integer({ min: 0, max: 4 }),
  what: fc.constantFrom('come', 'deliver', 'leave'),
  which: fc.nat(),
  delivery: fc.constantFrom(...deliveries),
})

/** What they do when nothing else is drawn. */
const idle = { what: 'come', which: 0, delivery: 'block' } as const

describe('inbound places', () => {
  it.each([
    ['of different groups', (i: number) => `${20 + i}.1.0.1`, (i: number) => `${60 + i}.1.0.1`],
    ['of the group of the honest nodes', (i: number) => `20.1.0.${i}`, (i: number) => `20.1.9.${i}`],
    ['of a private network', (i: number) => `10.0.0.${i}`, (i: number) => `10.7.0.${i}`],
    ['of IPv6', (i: number) => `2001:db8:${i}::1`, (i: number) => `2001:db9:${i}::1`],
  ])('cannot be kept from an honest node by five hosts %s, whatever they do', (_, attacker, honest) => {
    fc.assert(
      fc.property(fc.array(attack, { maxLength: 100 }), fc.array(fc.nat(100), { maxLength: 10 }), (steps, arrivals) => {
        const places = new Places(32)
        const nodes: Mutable[] = []
        let now = 0
        for (let i = 0; i < 60; i++) places.come(occupant(attacker(i % 5), now++))
        for (let i = 0; i < 101; i++) {
          now++
          for (const _ of arrivals.filter((at) => at === i)) {
            const node = occupant(honest(nodes.length), now)
            nodes.push(node)
            expect(places.come(node)).toBe(true)
          }
          const { host, what, which, delivery } = steps[i] ?? { ...idle, host: i % 5 }
          const theirs = places.taken.filter((one) => one.host === attacker(host))
          const one = theirs[which % Math.max(1, theirs.length)]
          if (what === 'come') places.come(occupant(attacker(host), now))
          else if (what === 'deliver' && one !== undefined) one.delivered[delivery] = now
          else if (what === 'leave' && one !== undefined) places.taken.splice(places.taken.indexOf(one), 1)
          if (!nodes.every((node) => places.taken.includes(node)))
            throw new Error(`an honest node lost its place at ${i}`)
        }
      }),
      { numRuns: 15 },
    )
  })

  it('are safe for those the owner named, the last that delivered first, and the oldest, one of a site for each reason', () => {
    const taken = Array.from({ length: 32 }, (_, i) => occupant(i < 28 ? `20.1.0.${i}` : '20.1.0.99', i))
    const [oldest, second, third, fourth] = taken
    const bringers = taken.slice(28)
    bringers.forEach((one, i) => (one.delivered.vote = 100 + i))
    const named = taken[27] as Mutable
    named.named = true
    const gone: Mutable[] = []
    for (let left = [...taken]; left.length > 6; left = left.filter((one) => one !== gone.at(-1))) {
      gone.push(leaving(left, occupant('90.0.0.1', 1000), 32))
    }
    expect(gone).not.toContain(named)
    for (const one of [oldest, second, third, fourth, bringers[3]]) expect(gone).not.toContain(one)
    for (const one of bringers.slice(0, 3)) expect(gone).toContain(one)
  })

  it('are safe for the oldest even in the largest group, and for no delivery that never came', () => {
    const named = occupant('20.1.0.2', 1, true)
    const others = Array.from({ length: 6 }, (_, i) => occupant(`${30 + i}.1.0.1`, 2 + i))
    const newcomer = occupant('90.0.0.1', 100)
    const oldest = occupant('20.1.0.1', 0)
    expect(leaving([oldest, named, ...others], newcomer, 8)).toBe(newcomer)
    const young = occupant('20.1.0.1', 50)
    expect(leaving([young, named, ...others], newcomer, 8)).toBe(young)
  })

  it('go to no newcomer where all groups are as small', () => {
    const taken = [occupant('1.1.0.1', 1), occupant('2.1.0.1', 2)]
    const newcomer = occupant('3.1.0.1', 3)
    expect(leaving(taken, newcomer, 2)).toBe(newcomer)
  })

  it('go to a newcomer that the owner named, unless all that have one are safe', () => {
    const host = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 5 }))
    const taken = fc.array(fc.record({ host, named: fc.boolean(), delivered: fc.boolean() }), {
      minLength: 1,
      maxLength: 40,
    })
    fc.assert(
      fc.property(taken, host, (rows, [a, b]) => {
        const all = rows.map(({ host: [c, d], named, delivered }, i) => {
          const one = occupant(`${c}.1.0.${d}`, i, named)
          if (delivered) one.delivered.block = i
          return one
        })
        const newcomer = occupant(`${a}.1.0.${b}`, 1000, true)
        const gone = leaving(all, newcomer, all.length)
        // Each of four reasons keeps so many safe, beside those that the owner named.
        const few = Math.min(4, Math.floor(all.length / 8))
        if (gone === newcomer) expect(all.filter((one) => !one.named).length).toBeLessThanOrEqual(4 * few)
        else expect(gone.named).toBe(false)
      }),
    )
    const full = [occupant('1.1.0.1', 1, true), occupant('2.1.0.1', 2, true)]
    const newcomer = occupant('3.1.0.1', 3, true)
    expect(leaving(full, newcomer, 2)).toBe(newcomer)
  })

  it('are shared out by host, in private networks too; this machine has half of them', () => {
    expect(hostBound('20.1.0.1', 32, 8)).toBe(8)
    expect(hostBound('10.0.0.1', 32, 8)).toBe(8)
    expect(hostBound('::ffff:192.168.1.1', 32, 20)).toBe(20)
    expect(hostBound('127.0.0.1', 32, 8)).toBe(16)
    expect(hostBound('127.0.0.1', 4, 8)).toBe(8)
  })

  it('in handshakes give way to other hosts, and to any when they take long', () => {
    const waiting = ['1.1.0.1', '1.1.0.1', '2.1.0.1'].map((host, i) => ({ host, since: i }))
    expect(givingWay(waiting, '3.1.0.1', 10)).toBe(waiting[0])
    expect(givingWay(waiting, '1.1.0.1', 10)).toBeUndefined()
    expect(givingWay(waiting, '1.1.0.1', 5_000)).toBe(waiting[0])
    expect(givingWay([], '1.1.0.1', 5_000)).toBeUndefined()
    // One that has one more than the newcomer would have as many as it then.
    expect(givingWay(waiting.slice(1), '3.1.0.1', 10)).toBeUndefined()
    expect([1_999, 2_000].map((now) => givingWay(waiting, '1.1.0.1', now))).toEqual([undefined, waiting[0]])
  })
})

describe('five hosts that take all they can', () => {
  let world: PeersWorld
  beforeEach(() => {
    world = new PeersWorld()
  })
  afterEach(() => world.close())

  it('do not keep a new node out, nor take its place again', async () => {
    const node = await world.open({ inbound: 16, outbound: 0 })
    const attackers: TestNode[] = []
    for (let i = 0; i < 30; i++) {
      const host = `77.${i % 5}.0.1`
      attackers.push(await world.open({ host, port: 21_000 + i, peers: [node.address], outbound: 0 }))
    }
    await world.run(30_000)
    expect(node.peers.all().length).toBe(16)
    // Others say nothing at all, and come again as soon as they are closed.
    const mutes = Array.from({ length: 5 }, (_, i) => world.network.plug(200 + i, { host: `77.${i}.0.1`, port: 0 }))
    const press = () => {
      for (const mute of mutes) mute.dial(node.address).catch(() => {})
    }
    const honest = await world.open({ host: '88.1.0.1', peers: [node.address], outbound: 0 })
    for (let second = 0; second < 60; second++) {
      press()
      const joined = attackers.filter((one) => node.sees(one))
      node.peer(joined[second % joined.length] as TestNode).delivered(deliveries[second % 3] as Delivery)
      await world.run(1_000)
      expect(mutes.flatMap(({ links }) => links).length).toBeGreaterThan(0)
      if (second >= 20) expect(node.sees(honest)).toBe(true)
    }
    expect(honest.happened.filter((text) => text.startsWith('left'))).toEqual([])
  })
})
