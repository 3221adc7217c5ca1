import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { PeersEvents } from '../../../../src/network/peers/peer-manager.js'
import type { SyncProgress } from '../../../../src/network/sync/sync-progress.js'
import { syncStatus } from '../../../../src/node/standing/sync-status.js'
import { TestChain } from '../../../support/builders/chain.js'
import { FakePeer } from '../../../support/fakes/fake-peers.js'

const { chain } = await TestChain.open({})
const idle: SyncProgress = { stage: 'idle', catchingUp: false, height: 0, target: 0, rate: 0 }

/** A node at genesis with peers, none of which is connected. */
function node(options: { expectsPeers?: boolean; votes?: boolean } = {}) {
  const events = new EventEmitter<PeersEvents>()
  const network = { peers: { events }, sync: { progress: () => idle } }
  const status = syncStatus({ chain, network, expectsPeers: true, votes: false, ...options })
  return { status, join: () => events.emit('joined', new FakePeer('a')) }
}

describe('a node at genesis', () => {
  it('that expects peers and has met none counts as catching up', () => {
    const { status, join } = node()
    expect(status()).toEqual({ ...idle, catchingUp: true })
    join()
    expect(status()).toEqual(idle)
  })

  it('that expects no peers, or may be the first validator, is not behind', () => {
    expect(node({ expectsPeers: false }).status()).toEqual(idle)
    expect(node({ votes: true }).status()).toEqual(idle)
  })

  it('without peers says so', () => {
    const status = syncStatus({ chain, expectsPeers: true, votes: false })
    expect(status()).toEqual({ ...idle, reason: 'this node has no peers' })
  })
})

it('a node with blocks is not behind for want of peers', async () => {
  const test = await TestChain.open()
  await test.mine()
  const network = { peers: { events: new EventEmitter<PeersEvents>() }, sync: { progress: () => idle } }
  expect(syncStatus({ chain: test.chain, network, expectsPeers: true, votes: false })()).toEqual(idle)
})

it('a node whose key signed on a longer chain is behind that, with peers or without', async () => {
  const test = await TestChain.open()
  await test.mine()
  const network = { peers: { events: new EventEmitter<PeersEvents>() }, sync: { progress: () => idle } }
  const options = { chain: test.chain, expectsPeers: false, votes: true }
  for (const also of [{ network }, {}]) {
    const status = (signedHeight: number) => syncStatus({ ...options, ...also, voting: { signedHeight } })()
    expect(status(50)).toMatchObject({ catchingUp: true, target: 49 })
    expect(status(2)).toMatchObject({ catchingUp: false })
  }
})
