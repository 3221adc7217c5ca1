import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { ask, keptConnection } from '../support/client/api.js'
import { dribble, leave, nasty, randomJson } from '../support/client/hostile.js'
import { busyness, stopwatch } from '../support/process/patience.js'
import { NodeProcess } from '../support/process/spawn.js'
import { oneIn } from '../support/process/thorough.js'

/** Milliseconds that any answer may take, on a machine that does other things too. */
const patience = 10_000
/** Megabytes of JavaScript heap the node gets: what it keeps of all this has to fit. */
const heap = 160
const seed = Number(process.env['DIDLEDGER_SEED'] ?? 20335)
const values = [...nasty, ...randomJson(10, seed)]
/** A sixteenth of them in a usual run, each turn another one, where methods share the code that reads them. */
function wrongValues(turn: number): readonly string[] {
  return values.filter((_, i) => (i + turn) % oneIn(16) === 0)
}

interface Discovered {
  readonly methods: readonly { readonly name: string; readonly params: readonly { readonly name: string }[] }[]
}

let node: NodeProcess
let methods: Discovered['methods']
let restPort: number
let rpcPort: number
const agent = keptConnection()

beforeAll(async () => {
  node = await NodeProcess.startWith({ through: ['env', `NODE_OPTIONS=--max-old-space-size=${heap}`] }, 'devnet')
  restPort = Number(new URL(node.line.rest).port)
  rpcPort = Number(new URL(node.line.rpc).port)
  methods = ((await node.client.rpc('rpc.discover', {})) as Discovered).methods
})
afterAll(async () => {
  agent.destroy()
  await node.stop()
})

/** Bytes of memory that the process takes. */
async function memory(): Promise<number> {
  const text = await (await fetch(`${node.line.rest}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}

/** The node answers others at once, and makes blocks. */
async function expectService(): Promise<void> {
  const elapsed = stopwatch()
  expect((await node.get('block/height')).body).toMatchObject({ Error: 0 })
  expect(elapsed()).toBeLessThan(patience)
  expect(await node.client.rpc('dev_mine', { blocks: 1 })).toHaveLength(1)
}

/** An answer of JSON-RPC: a result, or an error that is the sender's and not ours. */
function expectAnswer(answer: unknown, question: string): void {
  const { id, jsonrpc, ...rest } = answer as { id: unknown; jsonrpc: unknown; error?: unknown }
  const about = question.slice(0, 200)
  expect(jsonrpc, about).toBe('2.0')
  expect(id === null || id === 1, about).toBe(true)
  expect(Object.keys(rest), about).toHaveLength(1)
  if (!('error' in rest)) return
  const { code, message, data } = rest.error as { code: number; message: string; data: string }
  expect(code, `${about}: ${message}: ${data}`).not.toBe(-32603)
  expect(
    [-32700, -32600, -32601, -32602, -32000, -32001, -32002, -32004, -32005, -32007, -32008, -32009, -32010, -32012],
    about,
  ).toContain(code)
  expect(typeof message, about).toBe('string')
  expect(data, about).not.toMatch(/\.[jt]s:\d+|node_modules/)
}

/** Params of a method with one of them, or all, or what stands around them, gone wrong. */
function* questions({ name, params }: Discovered['methods'][number], wrong: readonly string[]): Generator<string> {
  const call = (text: string) => `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(name)},"params":${text}}`
  yield `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(name)}}`
  for (const value of wrong) {
    yield call(value)
    yield call(`[${value}]`)
    yield call(`[[${value}],${value}]`)
    for (const { name: parameter } of params) yield call(`{${JSON.stringify(parameter)}:${value}}`)
    yield call(`{${params.map((parameter) => `${JSON.stringify(parameter.name)}:${value}`).join(',')}}`)
  }
}

it('answers every method with missing, malformed, huge, deep and random parameters', async () => {
  let settled = 0
  // What the first round makes a node keep, the second does not add to.
  for (const round of [0, 1]) {
    for (const [i, method] of methods.entries()) {
      for (const question of questions(method, wrongValues(round + i))) {
        const elapsed = stopwatch()
        const { status, body } = await ask(rpcPort, '/', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: question,
          agent,
        })
        expect(elapsed(), question.slice(0, 200)).toBeLessThan(patience)
        expect(status, question.slice(0, 200)).toBe(200)
        expectAnswer(body, question)
      }
    }
    if (round === 0) settled = await memory()
  }
  expect(await memory()).toBeLessThan(settled + 64 * 1024 * 1024)
  await expectService()
})

it('answers every path with segments and bodies that are none', async () => {
  const { paths } = (await (await fetch(`${node.line.rest}/openapi.json`)).json()) as { paths: Record<string, object> }
  for (const [path, operations] of Object.entries(paths)) {
    const segments = path.includes('{') ? values.filter((text) => text.length < 8000) : ['']
    for (const text of segments) {
      const url = path.replaceAll(/\{\w+\}/g, encodeURIComponent(text))
      for (const method of [...Object.keys(operations).map((name) => name.toUpperCase()), 'PUT', 'DELETE']) {
        if (path.endsWith('/restart')) continue
        const { status, headers, body } = await ask(restPort, url, { method, agent })
        expect([200, 400, 404, 405, 415, 431, 501], `${method} ${url}`).toContain(status)
        if (status !== 200) expect(headers['content-type'], url).toMatch(/^application\/(json|did)/)
        if (status !== 200) expect(typeof body, url).toBe('object')
      }
    }
  }
  for (const text of values) {
    for (const body of [text, `{"Action":"sendrawtransaction","data":${text}}`, `{"Action":${text},"data":"00"}`]) {
      const answer = await ask(restPort, '/api/v1/transaction', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        agent,
      })
      expect(answer.status, body.slice(0, 200)).toBe(400)
      expect(answer.body, body.slice(0, 200)).toMatchObject({ Error: expect.any(Number), Desc: expect.any(String) })
    }
  }
  await expectService()
})

it('refuses a batch of 10,000 and takes one of 100', async () => {
  const batch = (length: number) => `[${'{"id":1,"method":"getblockcount"},'.repeat(length - 1)}{"id":1}]`
  const headers = { 'content-type': 'application/json' }
  const large = await ask(rpcPort, '/', { method: 'POST', headers, body: batch(10_000) })
  expect(large.body).toMatchObject({ id: null, error: { code: -32600 } })
  const fit = await ask(rpcPort, '/', { method: 'POST', headers, body: batch(100) })
  expect(fit.body).toHaveLength(100)
})

describe('sockets', () => {
  const kinds: readonly [string, (port: number) => Promise<Socket>][] = [
    ['that say nothing', (port) => leave(port, '')],
    ['with half a request line', (port) => leave(port, 'GET /api/v1/blo')],
    ['with headers byte by byte', (port) => dribble(port, `GET / HTTP/1.1\r\nX: ${'a'.repeat(10_000)}`, 100)],
    [
      'with a body byte by byte',
      (port) => dribble(port, `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n${' '.repeat(9999)}`, 10),
    ],
    [
      'that ask and read nothing',
      (port) => leave(port, 'GET /api/v1/block/details/height/0 HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2000)),
    ],
  ]

  it.each(kinds)('%s keep nobody else waiting', async (_, open) => {
    for (const port of [restPort, rpcPort]) {
      const sockets = await Promise.all(Array.from({ length: 100 }, () => open(port)))
      await expectService()
      for (const socket of sockets) socket.destroy()
    }
    await expectService()
  })
})

describe('WebSocket', () => {
  const open = () =>
    new Promise<WebSocket>((resolve, reject) => {
      const socket = new WebSocket(node.line.ws)
      socket.once('open', () => resolve(socket))
      socket.once('error', reject)
    })

  it('answers every method and message as over HTTP', async () => {
    const messages = [...nasty, ...methods.flatMap((method, i) => [...questions(method, wrongValues(i))])]
    let socket = await open()
    for (const message of messages) {
      const answer = await new Promise<string>((resolve) => {
        const timer = setTimeout(() => resolve('silence'), patience * busyness())
        const closed = () => resolve('closed')
        const answered = (data: unknown) => {
          // Events of subscriptions that a random message may have made come in between.
          if (String(data).includes('"method":"event"')) return
          clearTimeout(timer)
          socket.off('message', answered).off('close', closed)
          resolve(String(data))
        }
        socket.on('message', answered)
        socket.once('close', closed)
        socket.send(message)
      })
      expect(answer, message.slice(0, 200)).not.toBe('silence')
      if (answer === 'closed') socket = await open()
      else for (const one of [JSON.parse(answer)].flat()) expectAnswer(one, message)
    }
    socket.close()
    await expectService()
  })

  it('outlives those that ask, subscribe and never read', async () => {
    const before = await memory()
    const sockets = await Promise.all(Array.from({ length: 50 }, open))
    for (const socket of sockets) {
      socket.pause()
      socket.on('error', () => {})
      socket.send('{"id":1,"method":"subscribe","params":{"topics":["block"]}}')
      for (let i = 0; i < 2000; i++) socket.send('{"id":1,"method":"getblockbyheight","params":[0]}')
    }
    for (let i = 0; i < 20; i++) await expectService()
    expect(await memory()).toBeLessThan(before + 256 * 1024 * 1024)
    for (const socket of sockets) socket.terminate()
    await expectService()
  })
})
