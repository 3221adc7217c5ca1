import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AnswerAdmission } from '../../../src/answers/api/streams/admission.js'
import { apiLimits } from '../../../src/answers/api/api-limits.js'
import { SharedAnswers } from '../../../src/answers/api/streams/shared-answer.js'
import { JsonText, method } from '../../../src/answers/api/rpc/method.js'
import { RpcCore } from '../../../src/answers/api/rpc/rpc-core.js'
import { wholeText } from '../../support/client/rpc.js'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import type { LogLevel } from '../../../src/base/runtime/env.js'
import type { LiveCategory, LiveLog } from '../../../src/base/runtime/live-log.js'
import { Type } from '@sinclair/typebox'
import type { NodeInfo } from '../../../src/answers/api/node-handles.js'
import { contextOf, testNodeInfo } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { owner, RpcClient } from '../../support/client/rpc.js'
import { inStep } from '../../support/fakes/standing.js'

let node: TestChain
let rpc: RpcClient
let info: NodeInfo = testNodeInfo
let sync = { catchingUp: false, height: 2, target: 2 }
const levels: LogLevel[] = []
let shown: ReadonlySet<LiveCategory> = new Set()

beforeAll(async () => {
  node = await TestChain.open()
  await node.mine(20)
  const live: LiveLog = {
    get shown() {
      return shown
    },
    show: (categories) => void (shown = new Set(categories)),
    wants: () => false,
    write: () => {},
  }
  const health = () => ({ failed: false, stage: 'serving' as const, sync, standing: inStep() })
  const log = { ...node.log, live, level: 'warn' as const, setLevel: (level: LogLevel) => void levels.push(level) }
  rpc = new RpcClient(contextOf(node, { nodeInfo: () => info, health, log }))
})
afterAll(() => node.close())

const neighbors = [
  { id: 7, name: '12D3KooWa', height: 3, services: 1, relay: true, external: true, address: '10.0.0.1:20338' },
  { id: 8, name: '12D3KooWb', height: 4, services: 1, relay: true, external: false, address: '[::1]:20338' },
]

describe('the node and its peers', () => {
  test('without peers', async () => {
    expect(await rpc.call('getconnectioncount')).toBe(0)
    expect(await rpc.call('getneighbors')).toEqual([])
    expect(await rpc.call('getnodestate')).toMatchObject({ Height: 20, PRCPort: 20336, Neighbors: [] })
  })

  test('with peers', async () => {
    info = { ...testNodeInfo, neighbors }
    expect(await rpc.call('getconnectioncount')).toBe(2)
    expect(await rpc.call('getneighbors')).toEqual(['10.0.0.1:20338 (inbound)', '[::1]:20338 (outbound)'])
    expect(await rpc.call('getnodestate')).toMatchObject({
      Neighbors: [{ ID: 7 }, { ID: 8, NetAddress: '[::1]:20338' }],
    })
    expect(await rpc.call('net_peerCount', [])).toBe('0x2')
    info = testNodeInfo
  })
})

describe('the calls of the smart-contract parent', () => {
  test.each<[string, unknown]>([
    ['eth_blockNumber', '0x14'],
    ['eth_chainId', '0x1b59'],
    ['eth_syncing', false],
    ['net_version', '7001'],
    ['net_peerCount', '0x0'],
    ['net_listening', false],
    ['web3_clientVersion', 'didledger/v0.1.0-test'],
  ])('%s', async (name, result) => {
    for (const params of [[], {}, null]) expect(await rpc.call(name, params)).toBe(result)
    expect(await rpc.refusal(name, ['latest'])).toMatchObject({ code: -32602 })
  })

  test('tell of catching up, and of a port for peers', async () => {
    sync = { catchingUp: true, height: 20, target: 300 }
    expect(await rpc.call('eth_syncing')).toEqual({ startingBlock: '0x0', currentBlock: '0x14', highestBlock: '0x12c' })
    sync = { catchingUp: false, height: 20, target: 20 }
    info = { ...testNodeInfo, ports: { ...testNodeInfo.ports, p2p: 20338 } }
    expect(await rpc.call('net_listening')).toBe(true)
    info = testNodeInfo
  })
})

describe('setloglevel', () => {
  test('sets the level', async () => {
    expect(await rpc.call('setloglevel', { level: 'debug' })).toBe('debug')
    expect(await rpc.call('setloglevel', ['silent'])).toBe('silent')
    expect(levels).toEqual(['debug', 'silent'])
  })

  test('knows five of them', async () => {
    for (const level of ['', 'DEBUG', 'trace', 0, 'debug\n', null]) {
      expect(await rpc.refusal('setloglevel', { level })).toMatchObject({ code: -32602 })
    }
  })

  test('chooses what the live log shows, with a level or without', async () => {
    expect(await rpc.call('setloglevel', { categories: 'blocks,calls' })).toBe('warn')
    expect([...shown]).toEqual(['blocks', 'calls'])
    expect(await rpc.call('setloglevel', { level: 'info', categories: 'no-calls' })).toBe('info')
    expect([...shown]).toEqual(['blocks'])
    expect(await rpc.call('setloglevel', ['error', 'none'])).toBe('error')
    expect([...shown]).toEqual([])
    expect(levels.splice(2)).toEqual(['info', 'error'])
  })

  test('changes nothing where one of both is wrong, or neither is given', async () => {
    for (const params of [{}, { categories: 'call' }, { level: 'info', categories: '' }, { categories: 7 }]) {
      expect(await rpc.refusal('setloglevel', params)).toMatchObject({ code: -32602 })
    }
    expect(levels).toHaveLength(2)
  })

  test('is for the owner alone', async () => {
    const stranger = { ...owner, adminRefusal: 'who are you' }
    expect(await rpc.refusal('setloglevel', { level: 'debug' }, stranger)).toMatchObject({
      code: -32010,
      data: 'setloglevel: who are you',
    })
    expect(levels).toHaveLength(2)
  })

  test('is unavailable where the log has no levels', async () => {
    expect(await new RpcClient(contextOf(node)).refusal('setloglevel', ['debug'])).toMatchObject({ code: -32601 })
  })
})

test('a batch whose answers are large enough gets no more of them', async () => {
  const large = method({
    name: 'large',
    summary: '',
    params: Type.Object({}),
    result: Type.String(),
    run: () => new JsonText(`"${'x'.repeat(1000)}"`),
  })
  const sharedAnswers = new SharedAnswers(new AnswerAdmission(apiLimits))
  const core = new RpcCore(contextOf(node, { limits: { batchAnswers: 2500 } }), [large], sharedAnswers)
  const batch = [1, 2, 3, 4, 5].map((id) => ({ jsonrpc: '2.0', id, method: 'large' }))
  const answers = JSON.parse(
    (await wholeText(await core.handle(fromUtf8(JSON.stringify(batch)), owner))) as string,
  ) as {
    id: number
    result?: string
    error?: { code: number }
  }[]
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    [1, undefined],
    [2, undefined],
    [3, undefined],
    [4, -32005],
    [5, -32005],
  ])
  expect(apiLimits.batchAnswers).toBeLessThan(0x1fffffe8 / 4)
})
