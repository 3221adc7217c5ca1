import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { callRpc } from '../../../../src/clients/client/rpc.js'
import { exchange, exchangeText, sendBy } from '../../../../src/clients/client/http.js'
import { sendToLoopback } from '../../../../src/program/cli/loopback-send.js'

/** Requests of the program to nodes of this machine, which Node's own client sends, against those of fetch. */

let answer: RequestListener = () => {}
const server = createServer((request, response) => answer(request, response))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
afterEach(() => sendBy((to, sent) => fetch(to, sent)))

/** Outcomes of a call by fetch and by the program's client. */
async function both<T>(call: () => Promise<T>): Promise<unknown[]> {
  const outcomes: unknown[] = []
  for (const send of [(to: string, sent: RequestInit) => fetch(to, sent), sendToLoopback]) {
    sendBy(send)
    outcomes.push(await call().catch((error: Error) => error.message))
  }
  return outcomes
}

it('sends what fetch sends, and reads the same answers', async () => {
  answer = (request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      const { authorization, 'content-type': type } = request.headers
      const result = {
        method: request.method,
        path: request.url,
        body,
        authorization,
        type,
        umlaut: 'ü'.repeat(70_000),
      }
      response.setHeader('x-chain-height', '7').setHeader('x-chain-age', '9')
      response.end(JSON.stringify({ id: 1, result }))
    })
  }
  const heights = { least: 0 }
  const answers = await both(() => callRpc(`${url}/rpc`, 'a', { b: 'é' }, { timeout: 9000, token: 't', heights }))
  expect(answers[1]).toEqual(answers[0])
  expect(answers[1]).toMatchObject({
    method: 'POST',
    path: '/rpc',
    authorization: 'Bearer t',
    type: 'application/json',
  })
  expect(heights.least).toBe(7)
  const [one, two] = await both(() => exchange(`${url}/x?y=1`, undefined, { timeout: 9000 }))
  expect(two).toEqual(one)
  expect(two).toMatchObject({ status: 200, age: { height: 7, age: 9 }, body: { result: { method: 'GET' } } })
})

const text = () => exchangeText(`${url}/`, undefined, { timeout: 9000, maxAnswer: 10 }).then((got) => got.text)

it.each<[string, RequestListener, string | RegExp]>([
  ['as many bytes as may be', (_, response) => response.end('0123456789'), '0123456789'],
  ['one byte more', (_, response) => response.end('0123456789a'), /answered more than 10 bytes$/],
  ['no body', (_, response) => response.writeHead(204).end(), ''],
  ['a refusal', (_, response) => response.writeHead(404).end('no'), 'no'],
])('takes an answer of %s as fetch does', async (_, listener, expected) => {
  answer = listener
  const [one, two] = await both(text)
  expect(two).toEqual(one)
  expect(two).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
})

it.each([
  ['/elsewhere', /cannot reach http:\/\/\S+ \(it redirects to http:\/\/\S+\/elsewhere, which is not followed\)/],
  ['https://www.example.org/a', /redirects to https:\/\/www\.example\.org\/a, which is not followed/],
  [undefined, /redirects to another address, which/],
])('follows no redirect to %s, and says where it leads', async (location, expected) => {
  const headers = { ...(location !== undefined && { location }) }
  answer = (_, response) => response.writeHead(301, headers).end()
  sendBy(sendToLoopback)
  await expect(text()).rejects.toThrow(expected)
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(null, { status: 301, headers })))
  try {
    await expect(exchangeText('http://example.org/x', undefined, { timeout: 9000 })).rejects.toThrow(expected)
  } finally {
    vi.unstubAllGlobals()
  }
})

it('asks once more where a connection ends without an answer, and says what failed', async () => {
  let asked = 0
  answer = (request) => {
    asked++
    request.socket.destroy()
  }
  sendBy(sendToLoopback)
  await expect(exchange(url, undefined, { timeout: 9000 })).rejects.toThrow(/cannot reach .* \(ECONNRESET\)/)
  expect(asked).toBe(2)
  await expect(exchange(url, {}, { timeout: 9000 })).rejects.toThrow('ECONNRESET')
  expect(asked).toBe(3)
})

/** Answers all requests, and closes a connection 100 ms after one, though it promises a minute. */
const hasty = `
  const { parentPort } = require('node:worker_threads')
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('keep-alive', 'timeout=60').end('{}'))
    response.on('close', () => setTimeout(() => request.socket.destroy(), 100))
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

it('sends nothing that it may send once alone over a connection that was closed while the thread was busy', async () => {
  const worker = new Worker(hasty, { eval: true })
  const [port] = (await once(worker, 'message')) as [number]
  const wait = new Int32Array(new SharedArrayBuffer(4))
  const outcomes = await both(async () => {
    await exchange(`http://127.0.0.1:${port}`, undefined, { timeout: 9000 })
    Atomics.wait(wait, 0, 0, 300)
    return (await exchange(`http://127.0.0.1:${port}`, {}, { timeout: 9000 })).status
  })
  await worker.terminate()
  expect(outcomes).toEqual([200, 200])
})

it('rejects where an answer ends early, comes late or is not waited for', async () => {
  sendBy(sendToLoopback)
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': '5' }).write('a', () => response.destroy())
  }
  await expect(text()).rejects.toThrow('cannot reach')
  for (const listener of [() => {}, (_: unknown, response: { write(part: string): void }) => response.write('a')]) {
    answer = listener as RequestListener
    await expect(exchange(url, undefined, { timeout: 50 })).rejects.toThrow('did not answer within 0.05 s')
    const left = new AbortController()
    const waiting = exchange(url, undefined, { timeout: 9000, signal: left.signal })
    setImmediate(() => left.abort(new Error('left')))
    await expect(waiting).rejects.toThrow('left')
  }
})

it('says that no node listens, by address and by name', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  await new Promise((resolve) => taken.close(resolve))
  sendBy(sendToLoopback)
  for (const host of ['127.0.0.1', 'localhost', '[::1]'])
    await expect(exchange(`http://${host}:${port}`, undefined, { timeout: 9000 })).rejects.toThrow('no node listens at')
})
