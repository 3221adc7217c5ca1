import type { Socket } from 'node:net'
import type { ClientOptions } from 'ws'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ApiLimits } from '../../../src/answers/api/api-limits.js'
import { type EventSink, Subscription } from '../../../src/answers/api/ws/subscription.js'
import { LogEvents } from '../../../src/answers/api/ws/log-events.js'
import { WsServer } from '../../../src/answers/api/ws/ws-server.js'
import { Yielder } from '../../../src/base/runtime/cooperative.js'
import { EventCursor } from '../../../src/ledger/events/event-cursor.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import type { LedgerEvent } from '../../../src/ledger/events/ledger-event.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { contextOf } from '../../support/client/api.js'
import { WsClient } from '../../support/client/ws.js'
import { eventually } from '../../support/process/patience.js'

/** More than the system takes into its buffers of a connection with all of its subscriptions. */
const blocks = 1200
const subscriptions = 16

let test: TestChain
beforeAll(async () => {
  test = await TestChain.open(withoutValidators)
  await test.mine(blocks)
})
afterAll(() => test.close())

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A server whose replays have one slot, or `replays`. */
async function served(limits: Partial<ApiLimits> = {}, replays = 1): Promise<{ log: EventLog; server: WsServer }> {
  const { chain, mempool, clock } = test
  const log = await EventLog.open({ chain, mempool, clock, replays })
  const server = await WsServer.open(contextOf(test, { limits, access: { trustedProxies: ['127.0.0.1'] } }), {
    events: new LogEvents(log),
    port: 0,
  })
  closing.push(() => server.close())
  return { log, server }
}

const fromStart = { topics: ['block'], fromHeight: 0 }
const socketOf = ({ ws }: WsClient): Socket => Reflect.get(ws, '_socket')

/** A client whose subscriptions all begin at genesis, and that never reads. */
async function deaf({ port }: WsServer, from: ClientOptions = {}): Promise<WsClient> {
  const client = await WsClient.open(port, from)
  socketOf(client).pause()
  for (let i = 0; i < subscriptions; i++) {
    client.ws.send(JSON.stringify({ jsonrpc: '2.0', id: i, method: 'subscribe', params: fromStart }))
  }
  closing.push(() => client.ws.terminate())
  return client
}

async function replayed({ port }: WsServer, heights: number[] = [], from: ClientOptions = {}): Promise<number> {
  const client = await WsClient.open(port, from)
  closing.push(() => client.ws.terminate())
  client.onEvent = (event) => 'height' in event && heights.push(event.height)
  const began = performance.now()
  await client.result('subscribe', fromStart)
  await client.until(() => heights.length > blocks)
  return performance.now() - began
}

const everyHeight = Array.from({ length: blocks + 1 }, (_, height) => height)

describe('replays of events', () => {
  it('go on beside clients that never read, who have no block decoded and take no turns', async () => {
    const { log, server } = await served()
    // Whatever stands in memory of earlier replays makes none of them faster than others.
    const fresh = async (heights?: number[]) => {
      log.blocks.clear()
      const { decoded } = log.blocks
      const took = await replayed(server, heights)
      expect(log.blocks.decoded - decoded).toBe(blocks + 1)
      return took
    }
    await fresh()
    const heights: number[] = []
    const ratio = async () => {
      const alone = Math.min(await fresh(), await fresh(), await fresh())
      const clients: WsClient[] = []
      for (let i = 0; i < 8; i++) clients.push(await deaf(server))
      let decoded = -1
      await eventually('all of them wait for their clients', async () => {
        const before = decoded
        decoded = log.blocks.decoded
        await new Promise((resolve) => setTimeout(resolve, 500))
        return before === log.blocks.decoded
      })
      const beside = Math.min(await fresh(heights), await fresh(), await fresh())
      expect(heights.splice(0)).toEqual(everyHeight)
      for (const { ws } of clients) ws.terminate()
      return alone / beside
    }
    // Turns of 128 subscriptions would leave a hundredth. No closer bound: V8 compiles the loop anew once clients
    // have no room, and the first replays after it take up to four times as long.
    let best = 0
    for (let pairs = 0; pairs < 10 && best < 0.1; pairs++) best = Math.max(best, await ratio())
    expect(best).toBeGreaterThanOrEqual(0.1)
  })

  it('of one address keep their part of the time while many clients of another one do not read', async () => {
    const { server } = await served({}, 2)
    const by = (address: string): ClientOptions => ({ headers: { 'x-forwarded-for': address } })
    const honest = () => replayed(server, [], by('10.0.0.1'))
    for (let warming = 0; warming < 4; warming++) await honest()
    const alone = Math.min(await honest(), await honest())
    await Promise.all(Array.from({ length: 24 }, () => deaf(server, by('10.0.0.2'))))
    // The best of a few: other programs take time of the machine, and none of it from those who do not read.
    const beside = Math.min(await honest(), await honest(), await honest())
    // Half of the time is theirs, they begin behind all others, and V8 compiles the loop anew when the first client
    // has no room. Turns by connection would leave them a 24th.
    expect(alone / beside).toBeGreaterThanOrEqual(0.08)
  })

  it('decode a block once for all clients that stand at it', async () => {
    const { log, server } = await served()
    const clients = await Promise.all(Array.from({ length: 4 }, () => WsClient.open(server.port)))
    const heights = clients.map(() => new Map<number, number[]>())
    for (const [i, client] of clients.entries()) {
      closing.push(() => client.ws.terminate())
      client.onEvent = (event) => {
        const { subscription, height } = event as unknown as { subscription: number; height: number }
        heights[i]?.set(subscription, [...(heights[i]?.get(subscription) ?? []), height])
      }
      for (let n = 0; n < 4; n++) void client.call('subscribe', { topics: ['block'], fromHeight: blocks - 200 })
    }
    const wanted = everyHeight.slice(blocks - 200)
    for (const [i, client] of clients.entries()) {
      await client.until(() => client.events.length === 4 * wanted.length)
      expect([...(heights[i]?.values() ?? [])]).toEqual(Array(4).fill(wanted))
    }
    expect(log.blocks.decoded).toBe(wanted.length)
  })

  it('give a client that reads now and then every event, once and in order', async () => {
    const { server } = await served({ wsSendQueue: 1000 })
    const client = await WsClient.open(server.port)
    closing.push(() => client.ws.terminate())
    const heights: number[] = []
    client.onEvent = (event) => {
      if (!('height' in event)) return
      heights.push(event.height)
      if (heights.length % 100 !== 0) return
      socketOf(client).pause()
      setTimeout(() => socketOf(client).resume(), 5)
    }
    await client.result('subscribe', fromStart)
    await client.until(() => heights.length > blocks)
    expect(heights).toEqual(everyHeight)
  })

  it('hold nothing of a block while a client has no room, and go on in the middle of it', async () => {
    const { log } = await served()
    const told: LedgerEvent[] = []
    let [full, asked] = [false, 0]
    const sink: EventSink = {
      open: true,
      get full() {
        return full
      },
      room: async () => void asked++,
      tell: (event) => {
        told.push(event)
        full = true
      },
      fail: (error) => {
        throw error
      },
    }
    const subscription = new Subscription(1, new EventCursor(log, ['block'], { kind: 'height', height: 1 }), sink)
    subscription.begin()
    await subscription.replay(new Yielder())
    // Returns at once, without a wait for the client: what is left is read again.
    await subscription.replay(new Yielder())
    expect([told.length, asked]).toEqual([1, 0])
    for (full = false; told.length < 3; full = false) await subscription.replay(new Yielder())
    expect(told.map(({ data }) => 'height' in data && data.height)).toEqual([1, 2, 3])
    subscription.end()
    // A client that is gone when its turn comes has nothing decoded.
    const { decoded } = log.blocks
    log.blocks.clear()
    await subscription.replay(new Yielder())
    expect([told.length, log.blocks.decoded]).toEqual([3, decoded])
  })

  it('end with a client that takes nothing for long, though it sends pings itself', async () => {
    const { server } = await served({ wsPing: 300 })
    const client = await deaf(server)
    const pinging = setInterval(() => client.ws.readyState === 1 && client.ws.pong(), 50)
    closing.push(() => clearInterval(pinging))
    await expect.poll(() => server.connections).toBe(1)
    await expect.poll(() => server.connections).toBe(0)
  })

  it('let a client stay that reads slowly, but reads', async () => {
    const { server } = await served({ wsPing: 200, wsSendQueue: 1000 })
    const client = await WsClient.open(server.port)
    const socket = socketOf(client)
    const reading = setInterval(() => {
      socket.resume()
      setImmediate(() => socket.pause())
    }, 20)
    closing.push(
      () => client.ws.terminate(),
      () => clearInterval(reading),
    )
    for (let i = 0; i < 4; i++) void client.call('subscribe', fromStart).catch(() => {})
    await client.until(() => client.events.length === 4 * (blocks + 1))
    expect(server.connections).toBe(1)
  })

  it('leave nothing of their blocks in memory once they are over', async () => {
    const { log, server } = await served({ wsPing: 100 })
    await replayed(server)
    const { decoded } = log.blocks
    await new Promise((resolve) => setTimeout(resolve, 300))
    await replayed(server)
    expect(log.blocks.decoded - decoded).toBe(blocks + 1)
  })
})
