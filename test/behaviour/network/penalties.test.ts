import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { brokenRule } from '../../../src/base/errors/broken-rule.js'
import type { RuleError } from '../../../src/base/errors/rule-error.js'
import { type GossipResult, LinkError } from '../../../src/network/link.js'
import { peerName } from '../../../src/network/address/peer-identity.js'
import type { Peer } from '../../../src/network/peers/peer-record.js'
import { addressesExchange } from '../../../src/network/wire/addresses-message.js'
import { fromUtf8, toHex } from '../../../src/base/primitives/bytes.js'
import {
  chat,
  echo,
  keyOf,
  PeersWorld,
  type TestNode,
  type TestNodeOptions,
} from '../../support/network/peers-world.js'

const day = 24 * 60 * 60 * 1000

let world: PeersWorld
let node: TestNode
let bad: TestNode
let good: TestNode
beforeEach(async () => {
  world = new PeersWorld()
  node = await world.open({ outbound: 0 })
  bad = await world.open({ peers: [node.address], outbound: 0 })
  good = await world.open({ peers: [node.address], outbound: 0 })
  await world.run(2_000)
  expect(node.sees(bad, good)).toBe(true)
})
afterEach(() => world.close())

/** Asks and lets time go on until there is an answer or none. */
async function ask(from: TestNode, text = 'hello'): Promise<string> {
  const asking = from
    .peer(node)
    .ask(echo, fromUtf8(text))
    .then(
      (answer) => Buffer.from(answer).toString(),
      (error: unknown) => (error as { failure?: string; code?: string }).failure ?? (error as RuleError).code,
    )
  await world.run(10)
  return asking
}

const raise = (error: Error): never => {
  throw error
}

describe('questions', () => {
  it('are answered, once the handshake is over', async () => {
    expect(await ask(good)).toBe('hello')
  })

  it('that cannot be read cost the peer that asked', async () => {
    const { link } = bad.peer(node)
    for (let i = 0; i < 4; i++) {
      const refused = expect(link.request(echo.protocol, new Uint8Array(501))).rejects.toMatchObject({
        failure: 'refused',
      })
      await world.run(10)
      await refused
    }
    expect(node.sees(bad)).toBe(true)
    const last = expect(link.request(echo.protocol, new Uint8Array(501))).rejects.toBeDefined()
    await world.run(10)
    await last
    expect([node.sees(bad), node.sees(good)]).toEqual([false, true])
    expect(node.peers.listBans().map(({ kind, subject }) => [kind, subject])).toEqual([['key', toHex(bad.publicKey)]])
    expect(node.peers.listBans()[0]?.reason).toContain('peer-message')
  })

  it('whose answers cannot be read cost the peer that answered', async () => {
    bad.peers.serve(addressesExchange, async () => [{ address: 'a b:1', publicKey: bad.publicKey, lastSeen: 0 }])
    for (let i = 0; i < 5; i++) {
      const failed = expect(node.peer(bad).ask(addressesExchange, undefined)).rejects.toMatchObject({
        code: 'peer-message',
      })
      await world.run(10)
      await failed
    }
    await world.run(10)
    expect([node.sees(bad), node.sees(good)]).toEqual([false, true])
  })

  it('whose handler refuses them by a rule cost what the rule costs', async () => {
    node.peers.serve(echo, async () => {
      throw brokenRule('confirm-quorum')
    })
    expect(await ask(bad)).toBe('refused')
    expect(node.sees(bad)).toBe(true)
    await ask(bad)
    await world.run(10)
    expect(node.sees(bad)).toBe(false)
  })

  it('whose handler fails otherwise cost nothing and are logged', async () => {
    node.peers.serve(echo, async () => {
      throw new TypeError('a mistake')
    })
    for (let i = 0; i < 20; i++) expect(await ask(good)).toBe('refused')
    expect(node.sees(good)).toBe(true)
    expect(node.log.filter(({ level }) => level === 'error').length).toBe(20)
  })

  it('that are answered too late end the connection, without a ban', async () => {
    bad.peers.serve(echo, () => new Promise(() => {}))
    for (let i = 0; i < 10; i++) {
      const late = expect(node.peer(bad).ask(echo, new Uint8Array(1))).rejects.toMatchObject({ failure: 'timeout' })
      await world.run(1_001)
      await late
      if (!node.sees(bad)) break
    }
    await world.run(100)
    expect(node.happened).toContain(`left ${bad.name}`)
    expect(node.peers.listBans()).toEqual([])
  })

  it('that are never answered end the connection however quick the answers to others are', async () => {
    bad.peers.serve(echo, () => new Promise(() => {}))
    for (let i = 0; i < 10 && node.sees(bad); i++) {
      const quick = Array.from({ length: 10 }, () => node.peer(bad).ask(addressesExchange, undefined))
      const late = expect(node.peer(bad).ask(echo, new Uint8Array(1))).rejects.toMatchObject({ failure: 'timeout' })
      await world.run(1_001)
      await Promise.allSettled([late, ...quick])
    }
    await world.run(100)
    expect(node.happened).toContain(`left ${bad.name}`)
  })

  it('of a flood are refused, and it is banned while another peer goes on', async () => {
    const { link } = node.peer(bad)
    let refused = 0
    for (let second = 0; second < 12 && node.sees(bad); second++) {
      const flood = Array.from({ length: 800 }, () => node.peers.answer(link, echo.protocol, new Uint8Array(1)))
      refused += (await Promise.allSettled(flood)).filter(({ status }) => status === 'rejected').length
      await world.run(1_000)
      expect(await ask(good)).toBe('hello')
    }
    expect([node.sees(bad), node.sees(good)]).toEqual([false, true])
    expect(node.peers.listBans()[0]?.reason).toContain('peer-flood')
    expect(refused).toBeGreaterThan(2_000)
  })
})

describe('gossip', () => {
  it('is heard and told on by its verdict', async () => {
    const heard: string[] = []
    const listen = (own: TestNode, verdict: 'accept' | 'ignore') =>
      own.peers.listen(chat, async (_, message) => {
        heard.push(`${own.name} ${Buffer.from(message).toString()}`)
        return verdict
      })
    listen(node, 'accept')
    listen(good, 'accept')
    bad.peers.broadcast(chat, fromUtf8('one'))
    await world.run(100)
    expect(heard).toEqual([`${node.name} one`, `${good.name} one`])
    listen(node, 'ignore')
    bad.peers.broadcast(chat, fromUtf8('two'))
    await world.run(100)
    expect(heard.slice(2)).toEqual([`${node.name} two`])
  })

  it('that breaks a rule is charged to the neighbour that told it, and not told on', async () => {
    const heard: Peer[] = []
    node.peers.listen(chat, async () => {
      throw brokenRule('vote-signature')
    })
    good.peers.listen(chat, async (peer) => {
      heard.push(peer)
      return 'accept'
    })
    for (const text of ['a', 'b']) bad.peers.broadcast(chat, fromUtf8(text))
    await world.run(100)
    expect([node.sees(bad), node.sees(good), heard.length]).toEqual([false, true, 0])
  })

  it.each<[string, () => GossipResult, GossipResult]>([
    ['that is accepted is told on', () => 'accept', 'accept'],
    ['that is ignored is not', () => 'ignore', 'ignore'],
    ['that breaks a rule is bad', () => raise(brokenRule('vote-signature')), 'reject'],
    ['that breaks a rule at no cost is not', () => raise(brokenRule('vote-height')), 'ignore'],
    ['that meets a mistake of this node is not', () => raise(new TypeError('a mistake')), 'ignore'],
    ['that comes too late is not', () => raise(new LinkError('closed', 'for the test')), 'ignore'],
  ])('%s', async (_, listener, result) => {
    node.peers.listen(chat, async () => listener())
    const { link } = node.peer(good)
    expect(await node.peers.onGossip(link, chat.topic, Uint8Array.of(7))).toBe(result)
    expect(await node.peers.onGossip(link, { ...chat.topic, name: 'other' }, Uint8Array.of(7))).toBe('ignore')
    expect(await node.peers.onGossip({ ...link }, chat.topic, Uint8Array.of(7))).toBe('ignore')
  })

  it('floods are dropped, and banned while another peer goes on', async () => {
    let heard = 0
    node.peers.listen(chat, async () => {
      heard++
      return 'ignore'
    })
    let sent = 0
    for (let second = 0; second < 12 && node.sees(bad); second++) {
      for (let i = 0; i < 3000; i++) bad.peers.broadcast(chat, fromUtf8(`noise ${sent++}`))
      await world.run(1_000)
      expect(await ask(good)).toBe('hello')
    }
    expect([node.sees(bad), node.sees(good)]).toEqual([false, true])
    expect(node.peers.listBans()[0]?.reason).toContain('peer-flood')
    expect(heard).toBeLessThan(sent / 2)
  })
})

describe('points', () => {
  it('go away with time, and stay with the key across connections', async () => {
    node.peer(bad).penalise('confirm-quorum')
    node.peer(bad).penalise('confirm-malformed')
    node.peer(bad).close('for the test')
    await world.run(30_000)
    expect(node.sees(bad)).toBe(true)
    // 70 points, less two and a half in half a minute.
    node.peer(bad).penalise('confirm-malformed')
    expect(node.sees(bad)).toBe(true)
    await world.run(60 * 60_000)
    node.peer(bad).penalise('confirm-quorum')
    expect(node.sees(bad)).toBe(true)
    node.peer(bad).penalise('confirm-quorum')
    await world.run(10)
    expect(node.sees(bad)).toBe(false)
  })

  it('are not taken for what costs nothing', () => {
    // The last two of them: a node that is one block behind an upgrade refuses what its neighbour takes by the new parameters.
    for (const code of ['vote-height', 'did-signature', 'did-specification', 'tx-side-chain-signer'] as const) {
      for (let i = 0; i < 1000; i++) node.peer(good).penalise(code)
    }
    expect(node.sees(good)).toBe(true)
  })
})

describe('bans', () => {
  it('last a day, survive a restart, and end', async () => {
    node.peer(bad).penalise('confirm-quorum')
    node.peer(bad).penalise('confirm-quorum', 'seen by a test')
    await world.run(1_000)
    const bans = node.peers.listBans()
    expect(bans.map(({ reason }) => reason)).toEqual(['confirm-quorum: seen by a test'])
    expect(bans[0]?.until).toBeGreaterThan(world.time.now() + day - 5_000)
    await world.run(60_000)
    expect(node.sees(bad)).toBe(false)
    await node.stop()
    const again = await world.open({ number: 1, store: node.store })
    expect(again.peers.listBans()).toEqual(bans)
    await world.run(60_000)
    expect([again.sees(bad), again.sees(good)]).toEqual([false, true])
    await world.run(day)
    expect(again.peers.listBans()).toEqual([])
    await world.run(11 * 60_000)
    expect(again.sees(bad)).toBe(true)
    await again.stop()
    const last = await world.open({ number: 1, store: node.store })
    expect(last.peers.listBans()).toEqual([])
  })

  it('are made by id, key or host, and taken back', async () => {
    const both = await node.peers.ban(String(node.peer(bad).id), 5_000_000, 'because')
    expect(both).toMatchObject([
      { kind: 'key', subject: toHex(bad.publicKey), reason: 'because' },
      { kind: 'host', subject: '2.2.0.1' },
    ])
    expect(node.sees(bad)).toBe(false)
    expect(await node.peers.unban(toHex(bad.publicKey).toUpperCase())).toBe(true)
    expect(await node.peers.unban('2.2.0.1')).toBe(true)
    expect(await node.peers.unban('2.2.0.1')).toBe(false)
    await world.run(20 * 60_000)
    expect(node.sees(bad)).toBe(true)
    await node.peers.ban('::ffff:2.2.0.1')
    expect([node.sees(bad), node.sees(good)]).toEqual([false, true])
    await node.peers.ban(toHex(good.publicKey))
    expect(node.sees(good)).toBe(false)
    await world.run(10_000)
    // A host is not let in at all, a key is told why.
    expect(good.peers.lastRefusals.map(({ code }) => code)).toContain('peer-banned')
    expect(node.peers.listBans().length).toBe(2)
  })

  it('are of the key: others of its host stay, and new ones come while there are places', async () => {
    const crowd = await world.open({ inbound: 4, outbound: 0 })
    const guest = await world.open({ host: '50.1.0.1', peers: [crowd.address], outbound: 0 })
    const other = await world.open({ host: '50.1.0.1', port: 20_001, peers: [crowd.address], outbound: 0 })
    await world.run(2_000)
    for (let i = 0; i < 2; i++) crowd.peer(guest).penalise('confirm-quorum')
    await world.run(2_000)
    expect([crowd.sees(guest), crowd.sees(other)]).toEqual([false, true])
    expect(crowd.peers.listBans()).toMatchObject([{ kind: 'key', subject: toHex(guest.publicKey) }])
    const third = await world.open({ host: '50.1.0.1', port: 20_002, peers: [crowd.address], outbound: 0 })
    await world.run(2_000)
    expect(crowd.sees(third)).toBe(true)
    // One place of four is left: none for this host any more, but for another.
    const stranger = await world.open({ host: '51.1.0.1', peers: [crowd.address], outbound: 0 })
    await world.run(2_000)
    const fourth = await world.open({ host: '50.1.0.1', port: 20_003, peers: [crowd.address], outbound: 0 })
    await world.run(2_000)
    expect([crowd.sees(other, third, stranger), crowd.sees(fourth)]).toEqual([true, false])
    expect(fourth.peers.lastRefusals.map(({ code }) => code)).toContain('peer-crowded')
    const welcome = await world.open({ host: '52.1.0.1', peers: [crowd.address], outbound: 0 })
    await world.run(2_000)
    expect(crowd.sees(welcome, other, third, stranger)).toBe(true)
  })

  it('of its host keep no node out that the owner named by its key', async () => {
    const named = `/ip4/61.1.0.1/tcp/20338/p2p/${peerName(keyOf(77))}`
    const crowd = await world.open({ inbound: 4, outbound: 0, peers: [named] })
    const come = (host: string, options: TestNodeOptions = {}) =>
      world.open({ host, peers: [crowd.address], outbound: 0, ...options })
    const guest = await come('50.1.0.1')
    await world.run(2_000)
    for (let i = 0; i < 2; i++) crowd.peer(guest).penalise('confirm-quorum')
    await world.run(2_000)
    expect(crowd.sees(guest)).toBe(false)
    const others = [await come('51.1.0.1'), await come('52.1.0.1'), await come('53.1.0.1')]
    await world.run(2_000)
    expect(crowd.sees(...others)).toBe(true)
    const friend = await come('50.1.0.1', { number: 77, port: 20_001 })
    await world.run(2_000)
    expect(crowd.sees(friend, ...others)).toBe(true)
  })

  it('are not needed for a node that the owner named by its key to get one of the full places', async () => {
    const named = `/ip4/61.1.0.1/tcp/20338/p2p/${peerName(keyOf(77))}`
    const crowd = await world.open({ inbound: 2, outbound: 0, peers: [named] })
    const come = (host: string, options: TestNodeOptions = {}) =>
      world.open({ host, peers: [crowd.address], outbound: 0, ...options })
    const others = [await come('51.1.0.1'), await come('52.1.0.1')]
    await world.run(2_000)
    expect(crowd.sees(...others)).toBe(true)
    const friend = await come('53.1.0.1', { number: 77 })
    await world.run(2_000)
    expect(crowd.sees(friend)).toBe(true)
  })

  it.each(['block', 'vote'] as const)(
    'by points do not meet who lately was the first to bring a %s',
    async (delivery) => {
      node.peer(bad).delivered(delivery)
      for (let i = 0; i < 2; i++) node.peer(bad).penalise('confirm-quorum', 'for the test')
      await world.run(100)
      expect([node.sees(bad), node.peers.listBans()]).toEqual([false, []])
      const warnings = node.log.filter(({ level }) => level === 'warn').map(({ message }) => message)
      expect(warnings).toEqual([expect.stringContaining('disconnected for a while')])
      await world.run(30_000)
      expect(node.sees(bad)).toBe(false)
      await world.run(60_000)
      expect(node.sees(bad)).toBe(true)
      // An hour later that is forgotten.
      await world.run(61 * 60_000)
      for (let i = 0; i < 2; i++) node.peer(bad).penalise('confirm-quorum')
      await world.run(100)
      expect(node.peers.listBans()).toMatchObject([{ kind: 'key', subject: toHex(bad.publicKey) }])
    },
  )

  it.each(['here', 'there'])(
    'by points do not meet who the owner named, whoever opened the connection (%s)',
    async (by) => {
      const named = await world.open({
        host: '60.1.0.1',
        outbound: 0,
        ...(by === 'there' && { peers: ['61.1.0.1:20338'] }),
      })
      const owner = await world.open({ host: '61.1.0.1', outbound: 0, peers: ['60.1.0.1:20338'] })
      await world.run(5_000)
      expect(owner.sees(named)).toBe(true)
      for (let i = 0; i < 2; i++) owner.peer(named).penalise('confirm-quorum')
      await world.run(1_000)
      expect([owner.sees(named), owner.peers.listBans()]).toEqual([false, []])
      await world.run(120_000)
      expect(owner.sees(named)).toBe(true)
    },
  )

  it('of an address of IPv6 hold for its /64', async () => {
    const six = await world.open({ host: '2001:db8:1:1::1', peers: [node.address], outbound: 0 })
    const near = await world.open({ host: '2001:db8:1:1:ffff::2', peers: [node.address], outbound: 0 })
    const far = await world.open({ host: '2001:db8:1:2::1', peers: [node.address], outbound: 0 })
    await world.run(2_000)
    expect(await node.peers.ban('2001:db8:1:1::1')).toMatchObject([{ kind: 'host', subject: '2001:db8:1:1::/64' }])
    expect([six, near, far].map((one) => node.sees(one))).toEqual([false, false, true])
    expect(await node.peers.unban('2001:db8:1:1::7')).toBe(true)
    expect(node.peers.listBans()).toEqual([])
  })

  it('never hit the node itself', async () => {
    const own = toHex(node.publicKey)
    for (const subject of [own, own.toUpperCase()]) {
      await expect(node.peers.ban(subject)).rejects.toMatchObject({ code: 'request-parameter' })
    }
    expect(node.peers.listBans()).toEqual([])
  })

  it('never hit a host of this machine or of a private network', async () => {
    const near = [
      '127.0.0.1',
      '::1',
      '10.0.0.1',
      '172.16.0.1',
      '192.168.0.1',
      '100.64.0.1',
      '169.254.0.1',
      'fe80::1',
      'fd00::1',
    ]
    for (const subject of [...near, '::ffff:10.0.0.1', '::ffff:127.0.0.1', 'localhost', '12']) {
      await expect(node.peers.ban(subject)).rejects.toMatchObject({ code: 'request-parameter' })
    }
    await expect(node.peers.ban('127.0.0.1')).rejects.toThrow('addresses of this machine are never banned')
    await expect(node.peers.ban('10.0.0.1')).rejects.toThrow('addresses of private networks are never banned')
    await expect(node.peers.ban('12')).rejects.toThrow('12 is neither the ID of a connected node nor an IP address')
    const local = await world.open({ host: '127.0.0.1', peers: [node.address] })
    const other = await world.open({ host: '127.0.0.1', port: 20000, peers: [node.address] })
    await world.run(2_000)
    node.peer(local).penalise('confirm-quorum')
    node.peer(local).penalise('confirm-quorum')
    await world.run(2_000)
    expect([node.sees(local), node.sees(other)]).toEqual([false, true])
    expect(node.peers.listBans().map(({ kind }) => kind)).toEqual(['key'])
  })
})
