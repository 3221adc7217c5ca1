import { describe, expect, it } from 'vitest'
import { LinkError } from '../../../../src/network/link.js'
import { PeerRecord, type PenaltySink } from '../../../../src/network/peers/peer-record.js'
import { type Announced, services } from '../../../../src/network/wire/status-message.js'
import { idleLink, idleStatus } from '../../../support/fakes/stubs.js'
import { echo, keyOf } from '../../../support/network/peers-world.js'

const begin = 1_000_000
const tipOf = (number: number): Announced => ({ ...idleStatus, tipHash: keyOf(number) as Announced['tipHash'] })
const [tip, next] = [tipOf(1), tipOf(2)]

/** A peer since `begin`, the clock, what it was penalised for, and what its next answer is. */
function peerSince() {
  const clock = { time: begin }
  const penalties: string[] = []
  const closed: string[] = []
  const sink: PenaltySink = {
    now: () => clock.time,
    penalise: (_, code, detail) => void penalties.push(`${code}: ${detail ?? ''}`),
    delivered: () => {},
    closing: (_, reason) => void closed.push(reason),
  }
  const link = { ...idleLink, closed: false, close: () => void (link.closed = true) }
  const peer = new PeerRecord(link, idleStatus, sink, 2)
  const ask = (answer: Uint8Array | Error, name = 'echo') => {
    link.request = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer))
    return failureOf(peer.ask({ ...echo, protocol: { ...echo.protocol, name } }, Uint8Array.of(1)))
  }
  return { clock, peer, link, penalties, closed, ask }
}

/** The code or failure of what is thrown; undefined if it is not. */
async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
    return undefined
  } catch (error) {
    const { code, failure } = error as { code?: string; failure?: string }
    return code ?? failure ?? (error as Error).message
  }
}

describe('an exchange of statuses', () => {
  const dueAt = (peer: PeerRecord, own: Announced, ...times: number[]) =>
    times.map((time) => peer.refreshDue(begin + time, own))

  it('is due after ten seconds with a peer that knows the tip, and after one with another', () => {
    const { peer } = peerSince()
    expect(dueAt(peer, tip, 999, 1_000)).toEqual([false, true])
    peer.announced(tip)
    expect(dueAt(peer, tip, 1_000, 9_999, 10_000)).toEqual([false, false, true])
    expect(dueAt(peer, next, 999, 1_000)).toEqual([false, true])
  })

  it('is due after one second where the node has got behind, or is so no more', () => {
    const { peer } = peerSince()
    const behind = { ...tip, services: services.wholeChain | services.showsNothing }
    peer.announced(tip)
    expect(dueAt(peer, behind, 999, 1_000)).toEqual([false, true])
    peer.announced(behind)
    expect(dueAt(peer, behind, 1_000)).toEqual([false])
    expect(dueAt(peer, tip, 1_000)).toEqual([true])
  })

  it('is due no later where the clock is set back', () => {
    const { peer } = peerSince()
    peer.announced(tip)
    expect(dueAt(peer, tip, -9_999, -10_000)).toEqual([false, true])
  })

  it('is not due while there is one, and counts from its beginning and from the last status', () => {
    const { peer, clock } = peerSince()
    peer.beginRefresh(begin + 20_000, tip)
    expect(dueAt(peer, next, 60_000)).toEqual([false])
    peer.endRefresh()
    expect(dueAt(peer, tip, 29_999, 30_000)).toEqual([false, true])
    expect(dueAt(peer, next, 20_999, 21_000)).toEqual([false, true])
    clock.time = begin + 25_000
    peer.learn({ ...idleStatus, tipHeight: 2 })
    expect(peer.status.tipHeight).toBe(2)
    expect(dueAt(peer, tip, 34_999, 35_000)).toEqual([false, true])
  })
})

describe('silence', () => {
  const heard: [string, (scene: ReturnType<typeof peerSince>) => unknown][] = [
    ['a status', ({ peer }) => peer.learn(idleStatus)],
    ['a request', ({ peer }) => peer.allowsMessage('request', 1)],
    ['gossip', ({ peer }) => peer.allowsMessage('gossip', 1)],
    ['an answer', ({ ask }) => ask(new Uint8Array(1))],
  ]
  it.each(heard)('ends with %s: the connection is closed after a minute without any', async (_, hear) => {
    const scene = peerSince()
    const beat = (times: number) => Array.from({ length: times }, () => scene.peer.beat())
    beat(60)
    await hear(scene)
    beat(60)
    expect(scene.peer.closed).toBe(false)
    beat(1)
    expect([scene.peer.closed, scene.closed]).toEqual([true, ['nothing came from it for a minute']])
    expect(scene.peer.closeReason).toBe('nothing came from it for a minute')
  })

  it('does not end with an answer that does not come', async () => {
    const { peer, ask } = peerSince()
    for (let i = 0; i < 60; i++) peer.beat()
    await ask(new LinkError('timeout', 'for the test'))
    peer.beat()
    expect(peer.closed).toBe(true)
  })
})

describe('an answer', () => {
  it.each<[string, Uint8Array | Error, string | undefined, string[]]>([
    ['in time', new Uint8Array(1), undefined, []],
    ['too late', new LinkError('timeout', 'late'), 'timeout', ['peer-slow: echo']],
    ['too long', new LinkError('too-long', 'long'), 'too-long', ['peer-message: long']],
    ['refused', new LinkError('refused', 'no'), 'refused', []],
    ['not of its form', new Uint8Array(51), 'peer-message', [expect.stringMatching(/^peer-message: answer to echo: /)]],
    ['that meets a mistake of this node', new TypeError('a mistake'), 'a mistake', []],
  ])('%s costs what it costs', async (_, answer, failure, costs) => {
    const { ask, penalties } = peerSince()
    expect([await ask(answer), penalties]).toEqual([failure, costs])
  })

  it('in time makes up for a late one, unless others are still late', async () => {
    const { peer, ask } = peerSince()
    const late = new LinkError('timeout', 'late')
    expect(peer.addSlowness(10)).toBe(10)
    await ask(new Uint8Array(1))
    expect(peer.addSlowness(0)).toBe(9)
    await ask(late, 'slow')
    await ask(new Uint8Array(1))
    expect(peer.addSlowness(0)).toBe(9)
    await ask(new Uint8Array(1), 'slow')
    expect(peer.addSlowness(0)).toBe(8)
    for (let i = 0; i < 20; i++) await ask(new Uint8Array(1))
    expect(peer.addSlowness(1)).toBe(1)
  })
})

describe('what a peer may send', () => {
  const count = (peer: PeerRecord, kind: 'request' | 'gossip', times: number, bytes = 0) =>
    Array.from({ length: times }, () => peer.allowsMessage(kind, bytes)).filter(Boolean).length

  it('is bounded by kind, at once and a second', () => {
    const { peer, clock } = peerSince()
    expect([count(peer, 'request', 600), count(peer, 'gossip', 2_100)]).toEqual([500, 2_000])
    clock.time += 1_000
    expect([count(peer, 'request', 600), count(peer, 'gossip', 2_100)]).toEqual([100, 500])
  })

  it('is bounded in bytes, of both kinds together', () => {
    const { peer, clock } = peerSince()
    const mebibyte = 1024 * 1024
    expect([count(peer, 'request', 10, mebibyte), count(peer, 'gossip', 10, mebibyte)]).toEqual([10, 6])
    clock.time += 1_000
    expect(count(peer, 'gossip', 10, mebibyte)).toBe(2)
  })

  it('is a flood beyond, for which it is penalised once a second', () => {
    const { peer, clock, penalties } = peerSince()
    count(peer, 'request', 600)
    expect(penalties).toEqual(['peer-flood: more than a peer may send (request)'])
    clock.time += 999
    count(peer, 'gossip', 3_000)
    expect(penalties).toHaveLength(1)
    clock.time += 1
    count(peer, 'gossip', 3_000)
    expect(penalties.slice(1)).toEqual(['peer-flood: more than a peer may send (gossip)'])
    clock.time -= 1_000
    count(peer, 'gossip', 3_000)
    expect(penalties).toHaveLength(3)
  })

  it('has room for so many new addresses', () => {
    const { peer } = peerSince()
    const may = [peer.mayAddAddress]
    for (let i = 0; i < 2; i++) {
      peer.takeAddressSlot()
      may.push(peer.mayAddAddress)
    }
    expect(may).toEqual([true, true, false])
  })
})

describe('the addresses that a peer is sent', () => {
  it('are the same for ten seconds, whatever the clock does', () => {
    const { peer } = peerSince()
    let chosen = 0
    const served = (time: number) => {
      peer.servedAddresses(begin + time, () => (chosen++, []))
      return chosen
    }
    expect([0, 9_999, 10_000, 15_000, 1, 0].map(served)).toEqual([1, 1, 2, 2, 2, 3])
  })
})

describe('a peer that is closed', () => {
  it('keeps the first reason', () => {
    const { peer, closed, link } = peerSince()
    expect([peer.closeReason, peer.since, peer.status]).toEqual([undefined, begin, idleStatus])
    peer.close('one')
    peer.close('two')
    expect([peer.closeReason, closed, link.closed]).toEqual(['one', ['one'], true])
  })
})
