import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { LogEvents } from '../../../src/answers/api/ws/log-events.js'
import { WsServer } from '../../../src/answers/api/ws/ws-server.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { type Answer, ask, contextOf, type Question, serve } from '../../support/client/api.js'
import { behind, inStep } from '../../support/fakes/standing.js'
import { WsClient } from '../../support/client/ws.js'

/** Answers name the height as of which they hold, and wait for the height that a request names. */

const patience = 300
const ada = holder()
let node: TestChain
let server: ApiServer

beforeEach(async () => {
  node = await TestChain.open()
  server = await serve(contextOf(node, { limits: { heightWait: patience } }))
})
afterEach(async () => {
  await server.close()
  await node.close()
})

const call = (method: string, more: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: {}, ...more })
const rpc = (body: string, question: Question = {}): Promise<Answer> =>
  ask(server.port, '/rpc', { ...question, method: 'POST', body })
/** Every kind of path that answers from the chain. */
const doors: readonly (readonly [string, (headers: Record<string, string>) => Promise<Answer>])[] = [
  ['REST', (headers) => ask(server.port, '/api/v1/block/height', { headers })],
  ['a confirm', (headers) => ask(server.port, '/api/v1/confirm/details/height/9', { headers })],
  ['JSON-RPC', (headers) => rpc(call('getcurrentheight'), { headers })],
  ['DID Resolution', (headers) => ask(server.port, `/1.0/identifiers/${ada.did}`, { headers })],
]
const at = (height: number | string) => ({ 'x-min-height': String(height) })

describe.each(doors)('%s', (_, door) => {
  it('names the height of the chain, in an answer and in a refusal', async () => {
    expect((await door({})).headers['x-chain-height']).toBe('0')
    await node.mine(2)
    expect((await door({})).headers['x-chain-height']).toBe('2')
    expect((await door({})).headers).not.toHaveProperty('x-chain-age')
  })

  it('answers at once at the height that a request names, and below', async () => {
    await node.mine()
    for (const height of [0, 1]) {
      const { status, headers } = await door(at(height))
      expect(status).not.toBe(503)
      expect(headers['x-chain-height']).toBe('1')
    }
  })

  it('waits for the block of that height', async () => {
    const asked = door(at(1))
    await pause(50)
    await node.mine()
    const { status, headers } = await asked
    expect(status).not.toBe(503)
    expect(headers['x-chain-height']).toBe('1')
  })

  it('is 503 after its patience, with the height that it has and Retry-After', async () => {
    const began = performance.now()
    const { status, headers, text } = await door(at(1))
    expect(performance.now() - began).toBeGreaterThan(patience - 20)
    expect([status, headers['retry-after'], headers['x-chain-height']]).toEqual([503, '1', '0'])
    expect(text).toContain('the node is at height 0, not yet at 1')
  })

  it('refuses what is no height', async () => {
    for (const text of ['', '-1', '+1', '01', '1.5', '1e3', 'x', '4294967296', '1, 2', '99999999999']) {
      const { status, text: answer } = await door(at(text))
      expect([text, status]).toEqual([text, 400])
      expect(answer).toContain('X-Min-Height')
    }
    expect((await door(at(2 ** 32 - 1))).status).toBe(503)
  })
})

it('has every cache ask again before it gives an answer to GET once more, failures and 304 too', async () => {
  const cached = async (path: string, question: Question = {}) => {
    const { status, headers } = await ask(server.port, path, question)
    return [status, headers['cache-control']]
  }
  const height = '/api/v1/block/height'
  const { etag } = (await ask(server.port, height)).headers
  expect(await cached(height)).toEqual([200, 'no-cache'])
  expect(await cached(height, { method: 'HEAD' })).toEqual([200, 'no-cache'])
  expect(await cached(height, { headers: { 'if-none-match': String(etag) } })).toEqual([304, 'no-cache'])
  expect(await cached('/api/v1/transactionpool')).toEqual([200, 'no-cache'])
  expect(await cached('/api/v1/block/hash/9')).toEqual([404, 'no-cache'])
  expect(await cached('/nothing')).toEqual([404, 'no-cache'])
  expect(await cached(height, { headers: at(1) })).toEqual([503, 'no-cache'])
  expect(await cached('/readyz')).toEqual([200, 'no-store'])
  expect((await rpc(call('getcurrentheight'))).headers).not.toHaveProperty('cache-control')
})

it('refuses in the form of the path', async () => {
  const [rest, confirm, byRpc, resolved] = await Promise.all(doors.map(([, door]) => door(at(5))))
  expect(rest?.body).toMatchObject({ Error: 45002 })
  expect(confirm?.body).toMatchObject({ error: { code: 45002 } })
  expect(byRpc?.body).toMatchObject({ id: null, error: { code: -32022 } })
  expect(resolved?.body).toMatchObject({ didResolutionMetadata: { error: { type: 'about:blank' } } })
})

it('shows pages of every origin the height, and lets them name one', async () => {
  const headers = { origin: 'https://page.example', 'access-control-request-headers': 'x-min-height' }
  const preflight = await ask(server.port, '/api/v1/block/height', { method: 'OPTIONS', headers })
  expect(preflight.headers['access-control-allow-headers']).toBe('x-min-height')
  const answer = await ask(server.port, '/api/v1/block/height', {
    headers: { origin: 'https://page.example', ...at(0) },
  })
  expect(answer.headers['access-control-expose-headers']).toContain('x-chain-height')
})

it('names the new height with an answer that is made anew, and the old one with none that was kept', async () => {
  for (const height of [0, 1, 1, 2]) {
    while (node.reader.height < height) await node.mine()
    const answer = await rpc(call('getcurrentheight'))
    expect([answer.headers['x-chain-height'], answer.body]).toEqual([
      String(height),
      expect.objectContaining({ result: height }),
    ])
  }
})

it('reads no body while it waits', async () => {
  const socket = connect(server.port, '127.0.0.1')
  const ended = new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('end', () => resolve(text))
  })
  // A body that would be refused as soon as it is looked at.
  socket.write(
    'POST /rpc HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Min-Height: 1\r\nContent-Length: 99999999\r\n\r\n',
  )
  await pause(50)
  expect(socket.bytesRead).toBe(0)
  await node.mine()
  expect(await ended).toContain('HTTP/1.1 413')
})

it('ends the wait of a client that is gone', async () => {
  await server.close()
  const { events } = node.chain
  server = await serve(contextOf(node, { limits: { heightWait: 60_000 } }))
  const before = events.listenerCount('change')
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\nX-Min-Height: 1\r\n\r\n')
  await expect.poll(() => events.listenerCount('change')).toBe(before + 1)
  socket.destroy()
  await expect.poll(() => events.listenerCount('change')).toBe(before)
})

describe('the tag of an answer of REST', () => {
  const asked = (path: string, tag?: string) =>
    ask(server.port, `/api/v1/${path}`, tag === undefined ? {} : { headers: { 'if-none-match': tag } })

  it('is that of the tip, kept or not, and gives 304 until the next block', async () => {
    await node.mine()
    const first = await asked('block/details/height/0')
    const tag = String(first.headers['etag'])
    expect(tag).toMatch(/^W\/"[0-9a-f]{32}"$/)
    expect((await asked('block/details/height/0')).headers['etag']).toBe(tag)
    expect((await asked('block/height')).headers['etag']).toBe(tag)
    for (const known of [tag, `"x", ${tag.slice(2)}`, '*']) {
      const { status, text, headers } = await asked('block/details/height/0', known)
      expect([status, text, headers['etag'], headers['x-chain-height']]).toEqual([304, '', tag, '1'])
    }
    await node.mine()
    const next = await asked('block/details/height/0', tag)
    expect(next.status).toBe(200)
    expect(next.headers['etag']).not.toBe(tag)
  })

  it.each([
    { blocks: 8, hasTag: true },
    { blocks: 9, hasTag: false },
  ])('is there ($hasTag) where $blocks blocks arrive, one each time that the answer is made', async (arriving) => {
    const { database } = node.chain
    const settle = database.settle.bind(database)
    let left = arriving.blocks
    vi.spyOn(database, 'settle').mockImplementation(async (work) => {
      const result = await settle(work)
      if (left-- > 0) await node.mineEmpty(1)
      return result
    })
    const { status, headers, body } = await asked('block/height')
    expect([status, 'etag' in headers, body]).toMatchObject([200, arriving.hasTag, { Result: 8 }])
    if (arriving.hasTag) expect(headers['etag']).toContain(node.chain.tip.header.id.slice(0, 32))
  })

  it('is not there for what depends on more, or is refused', async () => {
    for (const path of ['transactionpool', 'node/state', 'block/details/height/9', 'block/hash/x']) {
      expect((await asked(path, '*')).headers).not.toHaveProperty('etag')
    }
  })
})

describe('minHeight of a call', () => {
  it('answers at that height, and waits for it', async () => {
    expect((await rpc(call('getcurrentheight', { minHeight: 0 }))).body).toMatchObject({ id: 7, result: 0 })
    const asked = rpc(call('getcurrentheight', { minHeight: 1 }))
    await pause(50)
    await node.mine()
    const { status, headers, body } = await asked
    expect([status, headers['x-chain-height'], body]).toMatchObject([200, '1', { id: 7, result: 1 }])
  })

  it('answers as of the block that it waited for, however the node stood before', async () => {
    const standing = () => (node.reader.height === 0 ? behind(0, 1, { answers: 'all' }) : inStep(1))
    const joining = await serve(contextOf(node, { standing, limits: { heightWait: patience } }))
    try {
      const body = call('getcurrentheight', { minHeight: 1 })
      const asked = ask(joining.port, '/rpc', { method: 'POST', body })
      await pause(50)
      await node.mine()
      const { headers } = await asked
      expect([headers['x-chain-height'], headers['x-chain-age']]).toEqual(['1', undefined])
    } finally {
      await joining.close()
    }
  })

  it('is 503 after the patience, with the id of the call', async () => {
    const { status, headers, body } = await rpc(call('getcurrentheight', { minHeight: 1 }))
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(body).toMatchObject({
      id: 7,
      error: { code: -32022, data: expect.stringContaining('not yet at 1') as string },
    })
  })

  it('refuses the call whose value is no height', async () => {
    for (const minHeight of [-1, 1.5, '1', null, {}, 2 ** 32]) {
      const { status, body } = await rpc(call('getcurrentheight', { minHeight }))
      expect(status).toBe(200)
      expect(body).toMatchObject({ error: { code: -32600, data: expect.stringContaining('minHeight') as string } })
    }
  })

  it('counts as the highest of a batch', async () => {
    const batch = (...heights: readonly unknown[]) =>
      rpc(`[${heights.map((minHeight) => call('getcurrentheight', { minHeight })).join(',')}]`)
    await node.mine()
    expect((await batch(0, 1)).body).toMatchObject([{ result: 1 }, { result: 1 }])
    expect((await batch(0, 'x')).body).toMatchObject([{ result: 1 }, { error: { code: -32600 } }])
    const { status, body } = await batch(2, 0)
    const refused = { id: 7, error: { code: -32022 } }
    expect([status, body]).toMatchObject([503, [refused, refused]])
    const notifications = await rpc('[{"jsonrpc":"2.0","method":"getcurrentheight","minHeight":2}]')
    expect(notifications).toMatchObject({ status: 503, text: '' })
    const asked = batch(0, 2, 1)
    await pause(50)
    await node.mine()
    expect((await asked).body).toMatchObject([{ result: 2 }, { result: 2 }, { result: 2 }])
  })

  it('counts over WebSocket too', async () => {
    const { chain, mempool, clock } = node
    const events = await EventLog.open({ chain, mempool, clock })
    const own = await WsServer.open(contextOf(node, { limits: { heightWait: patience } }), {
      events: new LogEvents(events),
      port: 0,
    })
    const client = await WsClient.open(own.port)
    try {
      client.ws.send(call('getcurrentheight', { minHeight: 1 }))
      await expect.poll(() => client.told[0]).toMatchObject({ id: 7, error: { code: -32022 } })
    } finally {
      client.ws.terminate()
      await own.close()
    }
  })
})
