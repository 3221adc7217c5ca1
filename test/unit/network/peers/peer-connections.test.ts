import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { type Link, LinkError } from '../../../../src/network/link.js'
import { MisbehaviourScores } from '../../../../src/network/peers/misbehaviour-scores.js'
import { PeerConnections, type PeersEvents } from '../../../../src/network/peers/peer-connections.js'
import type { PeerRecord } from '../../../../src/network/peers/peer-record.js'
import { equalBytes } from '../../../../src/base/primitives/bytes.js'
import { statusExchange } from '../../../../src/network/wire/status-message.js'
import { idleLink, idleStatus } from '../../../support/fakes/stubs.js'
import { ManualTime } from '../../../support/fakes/manual-time.js'
import { keyOf } from '../../../support/network/peers-world.js'

const foreign = { ...idleStatus, genesis: keyOf(99) } as typeof idleStatus

/** The connections of a node, over links without another end. */
class Node {
  readonly time = new ManualTime()
  /** Levels of the log at which no connection came of one. */
  readonly refusals: string[] = []
  readonly connections: PeerConnections
  /** Peers that joined and left. */
  readonly happened: string[] = []
  bannedKey: Uint8Array | undefined
  /** Key of a peer that is configured by it. */
  namedKey: Uint8Array | undefined
  /** Tip of the node. */
  tip = idleStatus.tipHash
  digest = () => idleStatus.upgrades
  suspect = ''
  #links = 0

  constructor(inbound = 32) {
    const log = (level: string) => (_: unknown, message: string) => {
      if (message === 'no connection to a peer') this.refusals.push(level)
    }
    const isBanned = (key = keyOf(0)) => this.bannedKey !== undefined && equalBytes(key, this.bannedKey)
    const bans = {
      find: (key?: Uint8Array) => (isBanned(key) ? { until: 0, reason: 'for the test' } : undefined),
      suspects: (host: string) => host === this.suspect,
    }
    const events = new EventEmitter<PeersEvents>()
    events.on('joined', ({ link }) => this.happened.push(`joined ${link.host}`))
    events.on('left', ({ link }, reason) => this.happened.push(`left ${link.host}: ${reason}`))
    this.connections = new PeerConnections({
      ...{ clock: this.time, timers: this.time, publicKey: keyOf(0), inbound, perHost: 8, bans: bans as never },
      common: { genesis: idleStatus.genesis, spec: { name: 'test', upgradesDigest: () => this.digest() } },
      log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
      scores: new MisbehaviourScores(() => this.time.now()),
      events,
      ...{
        ownStatus: () => ({ ...idleStatus, tipHash: this.tip }),
        expected: () => 0,
        named: () => false,
        namedByKey: ({ publicKey }: Link) => this.namedKey !== undefined && equalBytes(publicKey, this.namedKey),
      },
    })
  }

  /** A connection from a host of its own, unless it is given one. */
  comes(host = `${++this.#links}.1.0.1`, changes: Partial<Link> = {}): Link & { closed: boolean } {
    const link = { ...idleLink, host, inbound: true, publicKey: keyOf(++this.#links), ...changes }
    link.close = () => {
      link.closed = true
      this.connections.disconnected(link)
    }
    this.connections.connected(link)
    return link
  }

  /** Whether one more is let in. */
  admits(): boolean {
    return this.connections.admits({ host: '250.1.0.1', inbound: true })
  }
}

describe('a refusal', () => {
  it('is logged again after a minute, and at debug level until then', async () => {
    const node = new Node()
    const isRefused = () => node.connections.answerStatus(node.comes('1.1.1.1'), foreign).refusal
    expect(isRefused()).toBe('peer-genesis')
    await node.time.advance(59_999)
    expect(isRefused()).toBe('peer-genesis')
    expect(node.refusals).toEqual(['info', 'debug'])
    const other = new Node()
    other.connections.answerStatus(other.comes('1.1.1.1'), foreign)
    await other.time.advance(60_000)
    other.connections.answerStatus(other.comes('1.1.1.1'), foreign)
    other.connections.answerStatus(other.comes('1.1.1.2'), foreign)
    expect(other.refusals).toEqual(['info', 'info', 'info'])
  })

  it('is kept for those who ask, the latest of many', () => {
    const node = new Node(1000)
    for (let i = 1; i <= 200; i++) node.connections.answerStatus(node.comes(`${i}.1.0.1`), foreign)
    const { refusals } = node.connections
    expect(refusals.length).toBeLessThan(100)
    expect(refusals.map(({ address }) => address)).toEqual(refusals.map((_, i) => `${201 - refusals.length + i}.1.0.1`))
  })
})

describe('where all places are taken', () => {
  /** One place, and one for each of eight that are told so; the first of those came three seconds earlier. */
  const full = async () => {
    const node = new Node(1)
    node.connections.answerStatus(node.comes(), idleStatus)
    const first = node.comes()
    await node.time.advance(3_000)
    const rest = Array.from({ length: 7 }, () => node.comes())
    return { node, first, rest }
  }

  it('a connection that is slow to say who it is gives way', async () => {
    const { node, first, rest } = await full()
    expect(node.admits()).toBe(true)
    expect([first.closed, rest.some(({ closed }) => closed)]).toEqual([true, false])
  })

  it('one that was refused does not, until it had a second to read why', async () => {
    const { node, first, rest } = await full()
    expect(node.connections.answerStatus(first, foreign).refusal).toBe('peer-genesis')
    await node.time.advance(999)
    expect([node.admits(), first.closed]).toEqual([false, false])
    await node.time.advance(1)
    expect([node.admits(), first.closed, rest.some(({ closed }) => closed)]).toEqual([true, true, false])
  })
})

describe('a connection', () => {
  const own = keyOf(0)
  const [larger, smaller] = [keyOf(1), keyOf(2)].sort((a, b) => (a < b ? 1 : -1))

  it('is let in before anything is known of it, but for the own key, banned ones, and those without room', () => {
    const node = new Node(1)
    node.bannedKey = keyOf(5)
    const admits = (publicKey: Uint8Array | undefined, inbound = false) =>
      node.connections.admits({ host: '9.1.0.1', inbound, ...(publicKey && { publicKey }) })
    expect([admits(own), admits(keyOf(5)), admits(keyOf(6)), admits(undefined), admits(undefined, true)]).toEqual([
      ...[false, false, true, true, true],
    ])
  })

  it('that comes without room is closed at once, and one that is opened is not', () => {
    const node = new Node(32)
    const links = Array.from({ length: 9 }, () => node.comes('7.1.0.1'))
    expect(links.map(({ closed }) => closed)).toEqual([...Array<boolean>(8).fill(false), true])
    expect(node.comes('7.1.0.1', { inbound: false }).closed).toBe(false)
  })

  it('has ten seconds for its handshake', async () => {
    const node = new Node()
    const [silent, other] = [node.comes(), node.comes()]
    await node.time.advance(9_999)
    node.connections.answerStatus(other, idleStatus)
    expect(silent.closed).toBe(false)
    await node.time.advance(1)
    expect([silent.closed, node.time.pending]).toEqual([true, 0])
    await node.time.advance(60_000)
    expect(other.closed).toBe(false)
  })

  it('that was told why it is not wanted leaves no timer when it is closed before', () => {
    const node = new Node()
    const link = node.comes()
    node.connections.answerStatus(link, foreign)
    expect(node.time.pending).toBe(1)
    link.close()
    expect(node.time.pending).toBe(0)
  })

  it('that was told why it is not wanted gets no other answer', () => {
    const node = new Node()
    const link = node.comes()
    expect(node.connections.answerStatus(link, foreign)).toMatchObject({ refusal: 'peer-genesis' })
    expect(() => node.connections.answerStatus(link, idleStatus)).toThrow('not wanted')
    expect(node.happened).toEqual([])
  })

  it('joins once, although both ends tell their status first', async () => {
    const node = new Node()
    let answer = (_: Uint8Array) => {}
    const request = () => new Promise<Uint8Array>((resolve) => (answer = resolve))
    const link = node.comes('7.1.0.1', { inbound: false, request })
    const opened = node.connections.open(link)
    const asked = node.connections.arrived(link)
    expect(node.connections.answerStatus(link, idleStatus).refusal).toBeUndefined()
    answer(statusExchange.answer.encode({ status: idleStatus, refusal: undefined }))
    expect(await opened).toBe(node.connections.peerOf(link))
    expect(await asked).toBe(node.connections.peerOf(link))
    expect([link.closed, node.happened]).toEqual([false, ['joined 7.1.0.1']])
  })

  it('is no peer where it was closed meanwhile, or where the other end refuses', async () => {
    const node = new Node()
    const opened = (changes: Partial<Link>) =>
      node.connections.open(node.comes('7.1.0.1', { inbound: false, ...changes }))
    const answer = (refusal?: 'peer-crowded') =>
      Promise.resolve(statusExchange.answer.encode({ status: idleStatus, refusal }))
    await expect(opened({ request: () => answer('peer-crowded') })).rejects.toMatchObject({ code: 'peer-crowded' })
    const closes = opened({ closed: true, request: () => answer() })
    await expect(closes).rejects.toMatchObject({ failure: 'closed' })
    expect(node.connections.all()).toEqual([])
  })

  it('takes the place of an older one of that node, whichever key is smaller', () => {
    for (const publicKey of [larger, smaller]) {
      const node = new Node()
      const links = [node.comes('7.1.0.1', { publicKey }), node.comes('7.1.0.2', { publicKey })]
      for (const link of links) expect(node.connections.answerStatus(link, idleStatus).refusal).toBeUndefined()
      expect(links.map(({ closed }) => closed)).toEqual([true, false])
      expect(node.happened).toEqual([
        'joined 7.1.0.1',
        'left 7.1.0.1: there is a newer connection to it',
        'joined 7.1.0.2',
      ])
    }
  })

  it('ends with the reason of the transport where that gave it up, and for a cause that this node cannot see', () => {
    const node = new Node()
    const links = [node.comes('7.1.0.1'), node.comes('7.2.0.1')] as const
    for (const link of links) node.connections.answerStatus(link, idleStatus)
    node.connections.disconnected(links[0], 'there is a newer connection to it')
    node.connections.disconnected(links[1])
    expect(node.happened.slice(2)).toEqual([
      'left 7.1.0.1: there is a newer connection to it',
      'left 7.2.0.1: the other side closed it, or the network lost it',
    ])
  })

  it('of a node that asks for the status needs not be told of the tip that it got', () => {
    const node = new Node()
    const link = node.comes()
    const isDue = () =>
      node.connections.peerOf(link)?.refreshDue(node.time.now() + 5_000, { ...idleStatus, tipHash: node.tip })
    node.connections.answerStatus(link, idleStatus)
    expect(isDue()).toBe(false)
    node.tip = keyOf(3) as typeof node.tip
    expect(isDue()).toBe(true)
    node.connections.answerStatus(link, { ...idleStatus, tipHeight: 9 })
    expect([isDue(), node.connections.peerOf(link)?.status.tipHeight]).toEqual([false, 9])
  })

  it('that is closed in its handshake is no peer, and leaves nothing behind', async () => {
    const node = new Node()
    const link = node.comes('7.1.0.1', { inbound: false })
    const asked = node.connections.arrived(link)
    link.close()
    expect([await asked, node.time.pending, node.happened]).toEqual([undefined, 0, []])
  })

  it('meets a mistake of this node as one, not as a refusal', () => {
    const node = new Node()
    node.digest = () => {
      throw new TypeError('a mistake')
    }
    const link = node.comes()
    expect(() => node.connections.answerStatus(link, idleStatus)).toThrow('a mistake')
    expect([node.refusals, link.closed]).toEqual([[], false])
  })

  it('of a node whose chain is another later on ends, with the reason', async () => {
    const node = new Node()
    const link = node.comes('7.1.0.1')
    node.connections.answerStatus(link, idleStatus)
    expect(node.connections.answerStatus(link, foreign).refusal).toBe('peer-genesis')
    await node.time.advance(1_000)
    expect([link.closed, node.refusals]).toEqual([true, ['warn']])
  })

  it('ends when the node does, in its handshake too', () => {
    const node = new Node()
    const [peer, silent, other] = [node.comes(), node.comes(), node.comes()]
    // A transport may report nothing any more.
    other.close = () => void (other.closed = true)
    node.connections.answerStatus(peer, idleStatus)
    node.connections.close()
    expect([peer.closed, silent.closed, other.closed, node.time.pending]).toEqual([true, true, true, 0])
  })
})

describe('an exchange of statuses', () => {
  const joined = (answer: () => Promise<Uint8Array>) => {
    const node = new Node()
    const link = node.comes('7.1.0.1', { request: answer })
    node.connections.answerStatus(link, idleStatus)
    const peer = node.connections.peerOf(link)
    if (peer === undefined) throw new TypeError('no peer')
    return { node, link, peer, refresh: () => node.connections.refresh(peer) }
  }
  const encoded = (refusal?: 'peer-upgrades', status = idleStatus) =>
    Promise.resolve(statusExchange.answer.encode({ status: { ...status, tipHeight: 5 }, refusal }))

  it('brings the status of the peer, and is over then', async () => {
    const { peer, refresh, link, node } = joined(() => encoded())
    await refresh()
    expect([peer.status.tipHeight, link.closed]).toEqual([5, false])
    expect(peer.refreshDue(node.time.now() + 10_000, idleStatus)).toBe(true)
  })

  it.each([
    ['the peer refuses', () => encoded('peer-upgrades'), 'the other side refused'],
    ['its chain is another', () => encoded(undefined, foreign), 'genesis'],
  ])('ends the connection where %s', async (_, answer, reason) => {
    const { link, refresh, node } = joined(answer)
    await refresh()
    expect([link.closed, node.happened.at(-1)]).toEqual([true, expect.stringContaining(reason)])
  })

  it('that gets no answer ends nothing, and one that meets a mistake of this node tells of it', async () => {
    const silent = joined(() => Promise.reject(new LinkError('timeout', 'for the test')))
    await silent.refresh()
    expect(silent.link.closed).toBe(false)
    expect(silent.peer.refreshDue(silent.node.time.now() + 10_000, idleStatus)).toBe(true)
    await expect(joined(() => Promise.reject(new TypeError('a mistake'))).refresh()).rejects.toThrow('a mistake')
  })
})

describe('late answers', () => {
  it('close the connection at the tenth, those in time between them taken off', async () => {
    const answers = () => Promise.resolve(statusExchange.answer.encode({ status: idleStatus, refusal: undefined }))
    const node = new Node()
    const link = node.comes('7.1.0.1', { request: answers })
    node.connections.answerStatus(link, idleStatus)
    const peer = node.connections.peerOf(link) as PeerRecord
    for (let i = 0; i < 9; i++) peer.penalise('peer-slow')
    for (let i = 0; i < 9; i++) await node.connections.refresh(peer)
    peer.penalise('peer-slow')
    expect([link.closed, peer.addSlowness(0)]).toEqual([false, 91])
    await node.connections.refresh(peer)
    peer.penalise('peer-slow')
    expect([link.closed, peer.closeReason]).toEqual([true, 'it answers too late'])
  })
})

describe('the places of those that come in', () => {
  const joins = (node: Node, host?: string, changes: Partial<Link> = {}) => {
    const link = node.comes(host, changes)
    return { link, refusal: node.connections.answerStatus(link, idleStatus).refusal }
  }

  it('are for new ones while any is left, for suspect hosts while more than a fourth is', () => {
    const node = new Node(8)
    node.suspect = '66.1.0.1'
    const codes = Array.from({ length: 5 }, () => joins(node).refusal)
    expect(codes).toEqual(Array(5).fill(undefined))
    expect(joins(node, '66.1.0.1').refusal).toBeUndefined()
    expect(joins(node, '66.1.0.1').refusal).toBe('peer-crowded')
    node.namedKey = keyOf(77)
    const named = joins(node, '66.1.0.1', { publicKey: keyOf(77) })
    expect(named.refusal).toBeUndefined()
    named.link.close()
    expect([joins(node).refusal, joins(node).refusal]).toEqual([undefined, undefined])
    expect(node.connections.all()).toHaveLength(8)
  })

  it('are given to another where all are taken, by one that leaves', () => {
    const node = new Node(4)
    const crowd = Array.from({ length: 4 }, () => joins(node, '44.1.0.1').link)
    const { link, refusal } = joins(node, '45.1.0.1')
    expect([refusal, link.closed]).toEqual([undefined, false])
    expect(crowd.filter(({ closed }) => closed)).toHaveLength(1)
    expect(node.happened).toContain('left 44.1.0.1: another node takes its place')
    expect(joins(node, '44.1.0.1').refusal).toBe('peer-crowded')
  })

  it('are none for a banned key, nor for the own', () => {
    const node = new Node()
    node.bannedKey = keyOf(5)
    expect(joins(node, '9.1.0.1', { publicKey: node.bannedKey }).refusal).toBe('peer-banned')
    expect(joins(node, '9.1.0.1', { publicKey: keyOf(0) }).refusal).toBe('peer-self')
    expect(node.connections.refusals.map(({ by, code }) => `${by} ${code}`)).toEqual(['us peer-banned', 'us peer-self'])
  })

  it('are taken from those that are banned now, and from no others', () => {
    const node = new Node()
    const [one, other] = [joins(node).link, joins(node).link]
    node.bannedKey = one.publicKey
    node.connections.closeBanned()
    expect([one.closed, other.closed]).toEqual([true, false])
    expect(node.happened.at(-1)).toBe(`left ${one.host}: banned: for the test`)
  })
})

describe('peers that are asked anew', () => {
  const { answer } = statusExchange
  const said = answer.encode({ status: idleStatus, refusal: undefined })
  const settled = () => new Promise((resolve) => setImmediate(resolve))

  /** A peer whose answers the test gives. */
  function peerOf(node: Node) {
    const answers: (() => void)[] = []
    const request = () => new Promise<Uint8Array>((resolve) => answers.push(() => resolve(said)))
    const link = node.comes(undefined, { request })
    node.connections.answerStatus(link, idleStatus)
    return { link, answers, peer: node.connections.peerOf(link) as PeerRecord }
  }

  it('are current by an answer to a request that was made since, not by one from before, nor by a status unasked', async () => {
    const node = new Node()
    const { link, answers, peer } = peerOf(node)
    expect(peer.isCurrent).toBe(true)
    void node.connections.refresh(peer)
    node.connections.askAnew(false)
    expect([peer.isCurrent, answers.length]).toEqual([false, 2])
    answers[0]?.()
    node.connections.answerStatus(link, idleStatus)
    await settled()
    expect(peer.isCurrent).toBe(false)
    answers[1]?.()
    await settled()
    expect(peer.isCurrent).toBe(true)
  })

  it.each([
    ['closed after a sleep', true],
    ['kept where the node stood still by itself', false],
  ])('and do not answer are %s', async (_, slept) => {
    const node = new Node()
    const request = () => Promise.reject(new LinkError('timeout', 'no answer'))
    const dead = node.comes(undefined, { request })
    node.connections.answerStatus(dead, idleStatus)
    const { link, answers } = peerOf(node)
    node.connections.askAnew(slept)
    answers[0]?.()
    await settled()
    expect([dead.closed, link.closed]).toEqual([slept, false])
  })

  it('a second time are not current by the answer to the first', async () => {
    const node = new Node()
    const { answers, peer } = peerOf(node)
    node.connections.askAnew(false)
    node.connections.askAnew(false)
    for (const current of [false, true]) {
      answers.shift()?.()
      await settled()
      expect(peer.isCurrent).toBe(current)
    }
  })

  it('that come in the middle of a handshake are asked at the next heartbeat, and those that come later are current', () => {
    const node = new Node()
    const before = node.comes()
    node.connections.askAnew(false)
    const late = node.comes()
    for (const link of [before, late]) node.connections.answerStatus(link, idleStatus)
    const [first, second] = [before, late].map((link) => node.connections.peerOf(link) as PeerRecord)
    expect([first?.isCurrent, second?.isCurrent]).toEqual([false, true])
    const due = (peer?: PeerRecord) => peer?.refreshDue(node.time.now(), idleStatus)
    expect([due(first), due(second)]).toEqual([true, false])
  })
})
