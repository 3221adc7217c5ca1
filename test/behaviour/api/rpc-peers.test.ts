import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NetworkView } from '../../../src/answers/api/node-handles.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { peerName } from '../../../src/network/address/peer-identity.js'
import { LinkError } from '../../../src/network/link.js'
import type { Ban } from '../../../src/network/peers/bans.js'
import type { Neighbor } from '../../../src/network/peers/neighbor.js'
import type { SyncProgress } from '../../../src/network/sync/sync-progress.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { paramsAt, quorum } from '../../../src/base/primitives/spec.js'
import type { VotingStatus } from '../../../src/voting/voting.js'
import { contextOf, testNodeInfo } from '../../support/client/api.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { owner, RpcClient } from '../../support/client/rpc.js'
import { inStep } from '../../support/fakes/standing.js'

const name = peerName(new Uint8Array(32).fill(9))
const neighbor: Neighbor = {
  id: 7,
  name,
  height: 3,
  services: 1,
  relay: true,
  external: true,
  address: '10.0.0.1:20338',
}

let node: TestChain
let network: NetworkView & { dialled: string[]; gone: number[] }
let progress: SyncProgress
let rpc: RpcClient
let failure: Error | undefined

beforeEach(async () => {
  node = await TestChain.open(oneValidator())
  failure = undefined
  progress = { stage: 'idle', catchingUp: false, height: 0, target: 0, rate: 0 }
  const bans = new Map<string, Ban>()
  network = {
    dialled: [],
    gone: [],
    port: 20338,
    receivedCount: 0,
    neighbors: () => [neighbor],
    progress: () => progress,
    connect: async (address) => {
      if (failure !== undefined) throw failure
      network.dialled.push(address)
    },
    disconnect: (id) => id === 7 && network.gone.push(id) > 0,
    listBans: () => [...bans.values()],
    ban: async (subject, milliseconds, reason) => {
      const kind = subject.length === 64 ? 'key' : 'host'
      bans.set(subject, { kind, subject, until: 1_000_000 + milliseconds, reason })
    },
    unban: async (subject) => bans.delete(subject),
  }
  rpc = new RpcClient(contextOf(node, { network, nodeInfo: () => ({ ...testNodeInfo, neighbors: [neighbor] }) }))
})
afterEach(() => node.close())

describe('getsyncstatus', () => {
  test('tells that all is known', async () => {
    const { peers, ...status } = await rpc.call<{ peers: unknown[] }>('getsyncstatus')
    const none = { rate: 0, secondsleft: null, reason: null, clockoffset: null }
    expect(status).toEqual({ stage: 'idle', catchingup: false, height: 0, target: 0, ...none })
    expect(peers).toEqual([{ id: 7, name, address: '10.0.0.1:20338', height: 3, external: true }])
  })

  test('tells how far it is, how long it takes, and what it waits for', async () => {
    progress = { stage: 'blocks', catchingUp: true, height: 5, target: 900, rate: 12.345, secondsLeft: 72.2 }
    expect(await rpc.call('getsyncstatus')).toMatchObject({
      stage: 'blocks',
      rate: 12.3,
      secondsleft: 73,
      reason: null,
    })
    progress = { stage: 'waiting', catchingUp: true, height: 5, target: 900, rate: 0, reason: 'no peer has block 6' }
    expect(await rpc.call('getsyncstatus')).toMatchObject({ secondsleft: null, reason: 'no peer has block 6' })
  })

  test('works on a node without peers', async () => {
    const answer = await new RpcClient(contextOf(node)).call('getsyncstatus')
    expect(answer).toMatchObject({ stage: 'idle', peers: [], reason: 'this node has no peers' })
  })
})

describe('the methods of the owner', () => {
  test('connect and disconnect', async () => {
    for (const address of ['192.0.2.7:20338', '[::1]:1', 'example.org:65535', `/ip6/::1/tcp/1/p2p/${name}`]) {
      expect(await rpc.call('addpeer', { address })).toBe(true)
      expect(network.dialled.at(-1)).toBe(address)
    }
    expect(await rpc.call('disconnectpeer', { id: 7 })).toBe(true)
    expect(await rpc.call('disconnectpeer', { id: 8 })).toBe(false)
    expect(network.gone).toEqual([7])
  })

  test('refuse what is no address, and say why nobody answers', async () => {
    for (const address of ['192.0.2.7', '::1:20338', '/ip4/192.0.2.7/udp/1', 'a b:1', '192.0.2.7:0', '1.2.3:4'])
      expect(await rpc.refusal('addpeer', { address })).toMatchObject({ code: -32602 })
    failure = new LinkError('unreachable', 'connection refused')
    const address = '192.0.2.7:1'
    expect(await rpc.refusal('addpeer', { address })).toMatchObject({
      code: -32009,
      data: 'connection refused',
    })
    failure = new RuleError('peer-genesis', 'another chain')
    expect(await rpc.refusal('addpeer', { address })).toMatchObject({ code: -32000, data: 'another chain' })
  })

  test('ban and unban', async () => {
    expect(await rpc.call('listbans')).toEqual([])
    expect(await rpc.call('addban', { peer: '192.0.2.7', seconds: 60, reason: 'noise' })).toBe(true)
    expect(await rpc.call('addban', [name])).toBe(true)
    expect(await rpc.call('listbans')).toEqual([
      { peer: '192.0.2.7', until: 1060, reason: 'noise' },
      { peer: name, until: 87_400, reason: 'by hand' },
    ])
    expect(await rpc.call('removeban', { peer: name })).toBe(true)
    expect(await rpc.call('removeban', { peer: name })).toBe(false)
    expect(await rpc.call('addban', { peer: '2001:db8::7/64' })).toBe(true)
    expect(await rpc.call('removeban', { peer: '2001:db8::7' })).toBe(true)
    for (const peer of ['example.org', '192.0.2.0/24', '192.0.2.0/64', '2001:db8::/48', '-7', ' '])
      expect(await rpc.refusal('addban', { peer })).toMatchObject({ code: -32602 })
  })

  const calls: [string, unknown][] = [
    ['addpeer', ['192.0.2.7:1']],
    ['disconnectpeer', [7]],
    ['listbans', []],
    ['addban', ['192.0.2.7']],
    ['removeban', ['192.0.2.7']],
  ]
  test.each(calls)('%s is theirs alone, and needs peers', async (method, params) => {
    const stranger = { ...owner, adminRefusal: 'who are you' }
    expect(await rpc.refusal(method, params, stranger)).toMatchObject({ code: -32010 })
    expect(await new RpcClient(contextOf(node)).refusal(method, params)).toMatchObject({ code: -32601 })
  })
})

describe('validators', () => {
  const signing = { kind: 'voting' } as const

  test('getarbitersinfo tells whose turn it is', async () => {
    const { validators } = paramsAt(node.spec, 1)
    expect(await rpc.call('getarbitersinfo')).toMatchObject({ height: 1, view: 0, step: null, signing: 'no-key' })
    const sponsor = validators.at(-1) as Uint8Array
    const status: VotingStatus = { height: 1, view: 3, step: 'prevote', sponsor, signing, alarm: 'look' }
    const votes = validators.map((publicKey, i) => ({
      publicKey,
      ...{ own: i === 0, heard: true, prevote: i > 0, precommit: false },
    }))
    const voting = { status: () => status, received: 0, evidence: () => [], votes: () => votes }
    expect(await new RpcClient(contextOf(node, { voting })).call('getarbitersinfo')).toMatchObject({
      height: 1,
      view: 3,
      step: 'prevote',
      signing: 'yes',
      ondutyarbiter: toHex(sponsor),
      alarm: 'look',
      ...{ validators: validators.length, quorum: quorum(validators.length), heard: validators.length },
      votes: votes.map(({ publicKey, heard, prevote, precommit }) => ({
        publickey: toHex(publicKey),
        ...{ heard, prevote, precommit },
      })),
    })
  })

  test('getarbitersinfo says that the chain is stalled, and nothing of it while it goes on', async () => {
    expect(await rpc.call('getarbitersinfo')).not.toHaveProperty('stalled')
    const stalled = { reason: 'no-quorum', since: 1_800_000_000, detail: 'validator 3 is missing' } as const
    const sync = { catchingUp: false, height: 0, target: 0 }
    const health = () => ({ failed: false, stage: 'serving' as const, sync, standing: inStep(), stalled })
    expect(await new RpcClient(contextOf(node, { health })).call('getarbitersinfo')).toMatchObject({ stalled })
  })

  test('getsyncstatus says by how much the clock is wrong', async () => {
    expect(await rpc.call('getsyncstatus')).toMatchObject({ clockoffset: null })
    const sync = { catchingUp: false, height: 0, target: 0 }
    const health = () => ({ failed: false, stage: 'serving' as const, sync, standing: inStep(), clockOffset: -93 })
    expect(await new RpcClient(contextOf(node, { health })).call('getsyncstatus')).toMatchObject({ clockoffset: -93 })
  })

  test('getevidence hands out what is kept', async () => {
    expect(await rpc.call('getevidence')).toEqual([])
    const signer = paramsAt(node.spec, 1).validators[0] as Uint8Array
    const [first, second] = [new Uint8Array([1]), new Uint8Array([2])]
    const kept = [{ height: 4, view: 1, kind: 'prevote', signer, first, second }] as const
    const status = (): VotingStatus => ({ height: 1, view: 0, step: 'propose', sponsor: signer, signing })
    const evidence = (of = 4) => kept.filter(({ height }) => height === of)
    const voting = { status, received: 0, evidence, votes: () => [] }
    const client = new RpcClient(contextOf(node, { voting }))
    const shown = { height: 4, view: 1, kind: 'prevote', signer: toHex(signer), first: '01', second: '02' }
    expect(await client.call('getevidence')).toEqual([shown])
    expect(await client.call('getevidence', { height: 5 })).toEqual([])
  })
})
