import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Link } from '../../../../src/network/link.js'
import { MisbehaviourScores } from '../../../../src/network/peers/misbehaviour-scores.js'
import { PeerConnections, type PeersEvents } from '../../../../src/network/peers/peer-connections.js'
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
  #links = 0

  constructor(inbound = 32) {
    const log = (level: string) => (_: unknown, message: string) => {
      if (message === 'no connection to a peer') this.refusals.push(level)
    }
    const bans = { find: () => undefined, suspects: () => false }
    this.connections = new PeerConnections({
      ...{ clock: this.time, timers: this.time, publicKey: keyOf(0), inbound, perHost: 8, bans: bans as never },
      common: { genesis: idleStatus.genesis, spec: { name: 'test', upgradesDigest: () => idleStatus.upgrades } },
      log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
      scores: new MisbehaviourScores(() => this.time.now()),
      events: new EventEmitter<PeersEvents>(),
      ...{ ownStatus: () => idleStatus, expected: () => 0, named: () => false, namedByKey: () => false },
    })
  }

  /** A connection from a host of its own, unless it is given one. */
  comes(host = `${++this.#links}.1.0.1`): Link & { closed: boolean } {
    const link = { ...idleLink, host, inbound: true, publicKey: keyOf(++this.#links) }
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
