import { afterEach, describe, expect, it } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { LogEvents } from '../../../src/answers/api/ws/log-events.js'
import { WebSockets } from '../../../src/answers/api/ws/web-sockets.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { accessFailure } from '../../../src/ledger/storage/failure.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { WsClient } from '../../support/client/ws.js'
import { FaultyStore } from '../../support/fakes/faulty-store.js'
import { idleDevnet } from '../../support/fakes/stubs.js'

/** A disk that becomes full below a running node: whoever asks then is told so, without the paths of the machine. */

const place = '/home/of/someone/data'
const full = Object.assign(new Error(`IO error: ${place}/000003.log: No space left on device`), {
  code: 'LEVEL_IO_ERROR',
})
const words = 'the database cannot be written: the disk is full, so the node takes nothing more'

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close()
})

async function fullNode(): Promise<{ server: ApiServer; node: TestChain }> {
  const node = await TestChain.open(withoutValidators)
  const fails = (doing: 'read' | 'written') => () => Promise.reject(accessFailure(full, doing) as Error)
  const context = contextOf(node, { devnet: { ...idleDevnet, mine: fails('written') } })
  const failing = <T extends object>(of: T, name: keyof T, failure: () => Promise<never>): T =>
    new Proxy(of, {
      get: (target, key) => {
        const member: unknown = key === name ? failure : Reflect.get(target, key)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    })
  const resolver = failing(context.resolver, 'resolve', fails('read'))
  const mempool = failing(context.mempool, 'accept', fails('written'))
  const events = await EventLog.open({ chain: node.chain, mempool: node.mempool, clock: node.clock })
  const all = { ...context, resolver, mempool }
  const sockets = new WebSockets(all, new LogEvents(events))
  const server = await serve(all, { sockets })
  opened.push(node, server, sockets)
  return { server, node }
}

describe('a node whose disk is full says so', () => {
  it('by the database itself, which then writes nothing more', async () => {
    const store = new FaultyStore()
    const node = await TestChain.open(withoutValidators, { store: store.store })
    const mine = async () => {
      await node.mine()
      return ['00'.repeat(32)]
    }
    const server = await serve(contextOf(node, { devnet: { ...idleDevnet, mine } }))
    // What was not written is told again at the end.
    opened.push({ close: () => node.close().catch(() => undefined) }, server)
    const ask = async () => (await askJson(server.port, '/rpc', { id: 1, method: 'dev_mine', params: {} })).body
    expect(await ask()).toMatchObject({ result: [expect.any(String)] })
    store.lasts = store.writes
    for (let i = 0; i < 2; i++) expect(await ask()).toMatchObject({ error: { code: -32603, data: words } })
  })

  it('by JSON-RPC, REST and WebSocket, with the code of an internal error', async () => {
    const { server, node } = await fullNode()
    const rpc = await askJson(server.port, '/rpc', { id: 1, method: 'dev_mine', params: {} })
    expect(rpc.body).toMatchObject({ id: 1, error: { code: -32603, message: 'Internal error', data: words } })
    const sent = await askJson(server.port, '/rpc', { id: 1, method: 'sendrawtransaction', params: { data: '00' } })
    expect(sent.body).toMatchObject({ error: { code: -32603, data: words } })
    const rest = await askJson(server.port, '/api/v1/transaction', { Action: 'sendrawtransaction', data: '00' })
    expect(rest).toMatchObject({ status: 500, body: { Desc: 'Internal error', Error: 45002, Result: words } })
    const client = await WsClient.open(`ws://127.0.0.1:${server.port}/ws`)
    await expect(client.result('dev_mine', {})).rejects.toThrow('the disk is full')
    const logged = JSON.stringify(node.log.errors)
    expect(logged).toContain(place)
    for (const { text } of [rpc, sent, rest]) expect(text).not.toMatch(/someone|000003|unforeseen/)
  })

  it('to a resolver that cannot read, by JSON-RPC and by the binding of W3C', async () => {
    const { server } = await fullNode()
    const { did } = holder()
    const rpc = await askJson(server.port, '/rpc', { id: 1, method: 'resolvedid', params: { did, all: false } })
    expect(rpc.body).toMatchObject({ error: { code: -32603, data: 'the database cannot be read: the disk is full' } })
    const w3c = await ask(server.port, `/1.0/identifiers/${did}`)
    expect(w3c.status).toBe(500)
    expect(w3c.text).toContain('the disk is full')
    expect(w3c.text).not.toContain('someone')
  })
})
