import { describe, expect, it } from 'vitest'
import { Gossip } from '../../../../src/network/transport/gossip.js'
import { transportLimits } from '../../../../src/network/transport/transport-limits.js'
import { quietLog } from '../../../support/builders/chain.js'
import { idleHandler, idleLink } from '../../../support/fakes/stubs.js'

type Status = 'open' | 'closing' | 'closed' | 'aborted' | 'reset'

/** Gossip over a service that has a stream of some status to each neighbour; those with a link are connected. */
function gossipOver(neighbours: Record<string, { status?: Status; link: boolean }>) {
  const aborted: string[] = []
  const removed: string[] = []
  const peers = new Map(Object.keys(neighbours).map((name) => [name, name]))
  const streamsOutbound = new Map(
    Object.entries(neighbours).flatMap(([name, { status }]) =>
      status === undefined ? [] : [[name, { rawStream: { status, abort: () => aborted.push(name) } }] as const],
    ),
  )
  const service = {
    peers,
    streamsOutbound,
    removePeer: (peer: object) => (peers.delete(String(peer)), removed.push(String(peer))),
    handleReceivedRpc: () => Promise.resolve(),
    addEventListener: () => {},
    publish: async () => ({ recipients: [] }),
    subscribe: () => {},
    reportMessageValidationResult: () => {},
  }
  const link = { ...idleLink, takes: () => true, limits: transportLimits, gossip: { messages: 0, bytes: 0 } }
  const setting = {
    log: quietLog(),
    topics: new Map(),
    linkOf: (peer: string) => (neighbours[peer]?.link === true ? link : undefined),
    owner: idleHandler,
  }
  const gossip = new Gossip(service, setting)
  return { gossip, aborted, removed, streams: () => [...streamsOutbound.keys()], peers: () => [...peers.keys()] }
}

describe('gossip with neighbours that went while a stream to them was being opened', () => {
  it('lets go of their streams, and of those that have ended', () => {
    const { gossip, aborted, removed, streams, peers } = gossipOver({
      here: { status: 'open', link: true },
      torn: { status: 'reset', link: true },
      gone: { status: 'open', link: false },
      late: { link: false },
      opening: { link: true },
    })
    expect(['here', 'torn', 'gone', 'late', 'opening'].filter((peer) => gossip.reaches(peer))).toEqual(['here', 'gone'])
    gossip.sweep()
    expect(streams()).toEqual(['here'])
    expect(aborted).toEqual(['torn', 'gone'])
    expect(peers()).toEqual(['here', 'torn', 'opening'])
    expect(removed).toEqual(['gone', 'late'])
  })
})
