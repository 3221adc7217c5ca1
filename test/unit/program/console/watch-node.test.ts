import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { watchNode } from '../../../../src/program/console/watch-node.js'
import { EventLog } from '../../../../src/ledger/events/event-log.js'
import { systemTimers } from '../../../../src/base/runtime/process-env.js'
import {
  type LiveCategory,
  liveCategories,
  type LiveLine,
  type LiveLog,
} from '../../../../src/base/runtime/live-log.js'
import type { SigningState } from '../../../../src/voting/signing-state.js'
import { TestChain, withoutValidators } from '../../../support/builders/chain.js'

let test: TestChain
let events: EventLog
let shown: { category: LiveCategory; text: string; failed: boolean }[]
let wanted: Set<LiveCategory>
let behind: boolean

const live: LiveLog = {
  get shown() {
    return wanted
  },
  show: () => {},
  wants: (category) => wanted.has(category),
  write: (category, { text, failed = false }: LiveLine) => void shown.push({ category, text, failed }),
}
const log = { live, error: () => {} }

beforeEach(async () => {
  test = await TestChain.open({ maturity: 1, ...withoutValidators })
  events = await EventLog.open({ chain: test.chain, mempool: test.mempool, clock: test.clock })
  shown = []
  wanted = new Set(liveCategories)
  behind = false
})
afterEach(() => test.close())

function watch(more: object = {}): () => void {
  const sync = () => ({ stage: 'idle', catchingUp: behind, height: 0, target: 0, rate: 0 })
  const node = { events, mempool: test.mempool, network: undefined, voting: undefined, sync, ...more }
  return watchNode(node as unknown as Parameters<typeof watchNode>[0], { log, timers: systemTimers })
}

describe('blocks', () => {
  it('are shown with height, hash and counts, until it ends', async () => {
    const end = watch()
    await test.mine(2)
    end()
    await test.mine(1)
    const hashes = [1, 2].map((height) => test.chain.headers.active(height)?.header.id)
    expect(shown).toEqual(
      hashes.map((hash, i) => ({
        category: 'blocks',
        text: `${i + 1} ${hash}  1 transaction, 0 DID operations`,
        failed: false,
      })),
    )
  })

  it('are not shown one by one while the node catches up, nor unasked', async () => {
    watch()
    behind = true
    await test.mine(1)
    behind = false
    wanted = new Set(['calls'])
    await test.mine(1)
    expect(shown).toEqual([])
  })

  it('that leave the chain are shown at all times, newest first', async () => {
    const other = await TestChain.open({ maturity: 1, ...withoutValidators })
    onTestFinished(() => other.close())
    other.clock.time = test.clock.time + 1000
    const left = await test.mine(2)
    watch()
    behind = true
    for (const block of await other.mine(3)) await test.accept(block)
    expect(test.chain.tip.header.height).toBe(3)
    expect(shown).toEqual(
      left.reverse().map(({ header: { height, id } }) => ({
        category: 'blocks',
        text: `${height} ${id}  left the chain`,
        failed: true,
      })),
    )
  })
})

describe('peers', () => {
  it('are shown as they come and go', () => {
    const peers = { events: new EventEmitter(), neighbors: () => [{}, {}] }
    const link = { inbound: true, host: '192.0.2.7', port: 20338 }
    const peer = { name: '12D3', link, status: { tipHeight: 7, agent: 'didledger/1' } }
    const end = watch({ network: { network: { peers } } })
    peers.events.emit('joined', peer)
    peers.events.emit('left', peer, 'it was silent')
    for (const host of ['2001:db8::7', '::ffff:c000:207'])
      peers.events.emit('joined', { ...peer, link: { ...link, host } })
    wanted = new Set()
    peers.events.emit('left', peer, 'it was silent')
    end()
    expect(peers.events.listenerCount('joined') + peers.events.listenerCount('left')).toBe(0)
    expect(shown.map(({ text }) => text)).toEqual([
      '12D3  joined, inbound from 192.0.2.7:20338, at height 7, didledger/1; 2 peers now',
      '12D3  left, it was silent; 2 peers now',
      '12D3  joined, inbound from [2001:db8::7]:20338, at height 7, didledger/1; 2 peers now',
      '12D3  joined, inbound from 192.0.2.7:20338, at height 7, didledger/1; 2 peers now',
    ])
  })
})

describe('the vote', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('is shown when it changes, and each view after the first', () => {
    let status: { height: number; view: number; signing: SigningState } = {
      height: 5,
      view: 0,
      signing: { kind: 'voting' },
    }
    const end = watch({ voting: { status: () => status } })
    const look = (next: Partial<typeof status> = {}) => {
      status = { ...status, ...next }
      vi.advanceTimersByTime(1000)
    }
    look()
    look()
    look({ view: 2 })
    look()
    look({ signing: { kind: 'waits-for-peer' }, height: 6, view: 0 })
    end()
    look({ signing: { kind: 'voting' } })
    expect(shown.map(({ text, failed }) => [text, failed])).toEqual([
      ['this node votes, from height 5', false],
      ['height 5 goes to view 2: view 1 confirmed no block', false],
      ['this node does not vote: waits for a peer, since it has signed nothing yet', true],
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('of a node without a key is not shown', () => {
    const end = watch({ voting: { status: () => ({ height: 5, view: 0, signing: { kind: 'no-key' } }) } })
    vi.advanceTimersByTime(3000)
    end()
    expect(shown).toEqual([])
  })
})

it('nothing is watched for a log without a live log', () => {
  const end = watchNode({} as Parameters<typeof watchNode>[0], { log: { error: () => {} }, timers: systemTimers })
  end()
  expect(shown).toEqual([])
})
