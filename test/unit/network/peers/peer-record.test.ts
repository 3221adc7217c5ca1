import { describe, expect, it } from 'vitest'
import { PeerRecord } from '../../../../src/network/peers/peer-record.js'
import { idleLink, idleStatus } from '../../../support/fakes/stubs.js'
import { keyOf } from '../../../support/network/peers-world.js'

const begin = 1_000_000
const [tip, next] = [keyOf(1), keyOf(2)]

/** A peer since `begin`, and the clock. */
function peerSince() {
  const clock = { time: begin }
  const sink = { now: () => clock.time, penalise: () => {}, delivered: () => {}, closing: () => {} }
  return { clock, peer: new PeerRecord(idleLink, idleStatus, sink, 0) }
}

describe('an exchange of statuses', () => {
  const dueAt = (peer: PeerRecord, own: Uint8Array, ...times: number[]) =>
    times.map((time) => peer.refreshDue(begin + time, own))

  it('is due after ten seconds with a peer that knows the tip, and after one with another', () => {
    const { peer } = peerSince()
    expect(dueAt(peer, tip, 999, 1_000)).toEqual([false, true])
    peer.announced(tip)
    expect(dueAt(peer, tip, 1_000, 9_999, 10_000)).toEqual([false, false, true])
    expect(dueAt(peer, next, 999, 1_000)).toEqual([false, true])
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
