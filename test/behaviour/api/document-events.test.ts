import { afterEach, describe, expect, it } from 'vitest'
import { LogEvents } from '../../../src/answers/api/ws/log-events.js'
import { WsServer } from '../../../src/answers/api/ws/ws-server.js'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import type { DocumentSelection } from '../../../src/base/primitives/chain-event.js'
import { followEvents } from '../../../src/clients/client/follow-events.js'
import type { FollowedEvent } from '../../../src/clients/client/event-place.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { contextOf } from '../../support/client/api.js'
import { WsClient } from '../../support/client/ws.js'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(test: TestChain, limits = {}) {
  const { chain, mempool, clock } = test
  const events = await EventLog.open({ chain, mempool, clock })
  const server = await WsServer.open(contextOf(test, { limits }), { events: new LogEvents(events), port: 0 })
  closing.push(
    () => test.close(),
    () => server.close(),
  )
  return { events, server, url: `ws://127.0.0.1:${server.port}` }
}

const hub = (one: ReturnType<typeof holder>) => ({
  services: [{ id: '#hub', type: 'Hub', serviceEndpoint: `https://hub.example/${one.did}` }],
})

/** A DID that gets a service, changes it, loses it and ends. */
async function life(test: TestChain): Promise<string> {
  const one = holder()
  const created = await test.publish(one.create(), one.did)
  const with1 = await test.publish(one.update(created, hub(one)), one.did)
  const with2 = await test.publish(one.update(with1, { ...hub(one), expires: '2029-01-01T00:00:00Z' }), one.did)
  const without = await test.publish(one.update(with2, { services: [] }), one.did)
  await test.publish(one.update(without, hub(one)), one.did)
  await test.publish(one.deactivate(), one.did)
  return one.did
}

async function follow(url: string, documents: DocumentSelection, count: number): Promise<FollowedEvent[]> {
  const told: FollowedEvent[] = []
  const end = new AbortController()
  for await (const event of followEvents({
    url,
    documents,
    topics: ['documents'],
    from: { fromHeight: 0 },
    signal: end.signal,
  })) {
    told.push(event)
    if (told.length === count) end.abort()
  }
  return told
}

describe('the topic documents', () => {
  it('tells what begins to meet a condition, changes, and ceases to, live and replayed alike', async () => {
    const test = await TestChain.open()
    const { url } = await serve(test)
    const live = follow(url, { service: 'Hub' }, 5)
    const listed = holder()
    await test.publish(listed.create(), listed.did)
    const did = await life(test)
    const changes = ['begins', 'changes', 'ceases', 'begins', 'ceases']
    const expected = changes.map((change, i) => ({
      ...{ topic: 'documents', action: 'apply', number: null, did, change },
      operation: i === 4 ? 'deactivate' : 'update',
      blockhash: displayHash(test.activeHeader([3, 4, 5, 6, 7][i] as number).header.hash),
    }))
    expect(await live).toMatchObject(expected)
    expect(await follow(url, { query: '{service: {type: "Hub"}}' }, 5)).toMatchObject(expected)
    expect(await follow(url, { dids: [listed.did] }, 1)).toMatchObject([{ did: listed.did, change: 'begins' }])
  })

  it('refuses conditions that are none, several, or on other topics', async () => {
    const { server } = await serve(await TestChain.open())
    const client = await WsClient.open(server.port)
    const refusal = async (params: object) => (await client.call('subscribe', params)).error
    const none = { code: -32602, data: 'exactly one of service, credential, query and dids is needed' }
    expect(await refusal({ topics: ['documents'] })).toMatchObject(none)
    expect(await refusal({ topics: ['documents'], service: 'A', query: '{}' })).toMatchObject({ code: -32602 })
    expect(await refusal({ topics: ['documents'], dids: ['did:ledger:x', 'y'] })).toMatchObject({ code: -32602 })
    expect(await refusal({ topics: ['documents'], query: '{$where: 1}' })).toMatchObject({ code: -32602 })
    expect(await refusal({ topics: ['block'], service: 'A' })).toMatchObject({ code: -32602 })
    await client.close()
  })

  it('takes 8 conditions of an address that no index narrows, and more once one of them ends', async () => {
    const { events, server } = await serve(await TestChain.open(), { wsSubscriptions: 100 })
    const client = await WsClient.open(server.port)
    const open = (i: number) => client.call('subscribe', { topics: ['documents'], query: `{service: {$size: ${i}}}` })
    for (let i = 0; i < 8; i++) expect((await open(i)).error).toBeUndefined()
    expect((await open(8)).error).toMatchObject({ code: -32024 })
    // A start point that is refused holds no place.
    expect((await client.call('subscribe', { topics: ['documents'], service: 'A', after: 1 })).error).toMatchObject({
      code: -32006,
    })
    expect(events.documents.conditions.size).toBe(8)
    await client.call('unsubscribe', { subscription: 1 })
    expect((await open(8)).error).toBeUndefined()
    await client.close()
    await expect.poll(() => events.documents.conditions.size).toBe(0)
  })

  it('lets a client that does not read wait, and others not', async () => {
    const test = await TestChain.open()
    const { url, server, events } = await serve(test)
    const idle = await WsClient.open(server.port)
    for (let i = 0; i < 16; i++)
      await idle.call('subscribe', {
        topics: ['documents', 'block'],
        query: `{service: {type: "Hub"}, id: {$ne: "${i}"}}`,
        fromHeight: 0,
      })
    idle.ws.pause()
    const other = follow(url, { query: '{service: {type: "Hub"}}' }, 15)
    for (let i = 0; i < 3; i++) await life(test)
    expect((await other).length).toBe(15)
    expect(events.documents.conditions.size).toBeGreaterThanOrEqual(16)
    idle.ws.terminate()
    await expect.poll(() => events.documents.conditions.size).toBe(0)
  })
})
