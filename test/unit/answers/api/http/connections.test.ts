import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { apiLimits } from '../../../../../src/answers/api/api-limits.js'
import { boundUnread } from '../../../../../src/answers/api/http/connections.js'
import { Listeners } from '../../../../../src/answers/api/http/listeners.js'
import type { ApiServer } from '../../../../../src/answers/api/servers/node-server.js'
import { contextOf, serve } from '../../../../support/client/api.js'
import { TestChain } from '../../../../support/builders/chain.js'

let node: TestChain
let server: ApiServer

beforeAll(async () => {
  node = await TestChain.open()
  server = await serve(contextOf(node, { limits: { pipelined: 4 } }))
})
afterAll(async () => {
  await server.close()
  await node.close()
})

const request = (path: string) => `GET /api/v1/${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** Sends bytes and returns what comes until so many answers are there or the connection ends. */
function exchange(bytes: string, answers: number): Promise<{ text: string; count: number }> {
  return new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    const done = () => {
      socket.destroy()
      resolve({ text, count: text.split('HTTP/1.1 ').length - 1 })
    }
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.split('HTTP/1.1 ').length - 1 >= answers && text.endsWith('}')) done()
    })
    socket.on('error', () => {})
    socket.on('close', done)
  })
}

describe('bytes that are no request', () => {
  // Read from the disk, so answered in a later turn than the bytes behind them are read.
  const slow = request('block/details/height/0')
  const slowBody = 'POST /api/v1/transaction HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'

  const brokenBody = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n'

  it.each([
    ['one', [slow], 'MALFORMED\r\n\r\n'],
    ['several', [slow, request('block/height'), slow, request('block/height')], 'MALFORMED\r\n\r\n'],
    ['one with a body', [slowBody, slow], 'GET / HTTP/9\r\n\r\n'],
    ['the head of one whose body is broken', [slow, slow], brokenBody],
  ])('are refused after the answers to whole requests before them: %s', async (_, requests, rest) => {
    const { text } = await exchange(`${requests.join('')}${rest}`, Infinity)
    const answers = text.split('HTTP/1.1 ').slice(1)
    const alone = await Promise.all(requests.map((one) => exchange(one, 1)))
    const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n'))
    expect(answers.slice(0, -1).map(bodyOf)).toEqual(alone.map(({ text: one }) => bodyOf(one)))
    expect(answers.at(-1)).toMatch(/^4\d\d .*Connection: close\r\n/s)
  })

  it('cut no answer under way', async () => {
    const half = Buffer.alloc(1000, 'a')
    const listeners = await Listeners.open({
      hosts: ['127.0.0.1'],
      port: 0,
      limits: apiLimits,
      handler: (_, response) => {
        response.write(half)
        void setTimeout(200).then(() => response.end(half))
      },
      parserAnswer: () => ({ status: 400, body: '{}' }),
      exempt: () => false,
    })
    onTestFinished(() => listeners.close())
    const socket = connect(listeners.port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nMALFORMED\r\n\r\n')
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    expect(text.match(/a{1000}/g)).toHaveLength(2)
    expect(text.slice(text.lastIndexOf('aaa'))).toContain('HTTP/1.1 400')
  })

  it('are refused once, however many follow, and at once where nothing is owed', async () => {
    const { text, count } = await exchange(`${slow}${'MALFORMED\r\n\r\n'.repeat(2000)}`, Infinity)
    expect(count).toBe(2)
    expect(text).toContain('"Result"')
    expect((await exchange('MALFORMED\r\n\r\n', Infinity)).count).toBe(1)
  })
})

describe('requests sent ahead of the answers', () => {
  it('are answered in their order', async () => {
    const paths = ['block/height', 'block/hash/0', 'node/connectioncount', 'block/hash/9', 'transactionpool']
    const { text } = await exchange(paths.map(request).join(''), paths.length)
    const results = text
      .split('HTTP/1.1 ')
      .slice(1)
      .map((answer) => JSON.parse(answer.slice(answer.indexOf('{')))) as {
      Result: unknown
    }[]
    expect(results.map(({ Result }) => Result)).toEqual([
      0,
      node.chain.genesis.hash,
      0,
      expect.stringContaining('no block at height 9'),
      [],
    ])
  })

  it('close the connection when there are too many, and nobody else', async () => {
    const { count } = await exchange(request('block/height').repeat(500), 500)
    expect(count).toBeLessThan(500)
    expect((await exchange(request('block/height'), 1)).text).toContain('"Result":0')
  })

  it('take their turn with an expectation too', async () => {
    const expecting = 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n'
    expect((await exchange(expecting.repeat(500), 500)).count).toBeLessThan(500)
  })
})

it('closes those who leave most unread, and keeps within the bound', async () => {
  const megabyte = 1024 * 1024
  const large = createServer((_, response) => response.end(Buffer.alloc(16 * megabyte)))
  boundUnread(large, 40 * megabyte)
  const open = new Set<Socket>()
  large.on('connection', (socket) => open.add(socket.once('close', () => open.delete(socket))))
  await new Promise<void>((resolve) => large.listen(0, '127.0.0.1', resolve))
  const { port } = large.address() as AddressInfo
  const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  onTestFinished(() => {
    sockets.forEach((socket) => socket.destroy())
    large.close()
  })
  for (const socket of sockets) {
    socket.write(request(''))
    socket.pause()
  }
  const unread = () => [...open].reduce((sum, { writableLength }) => sum + writableLength, 0)
  await expect.poll(unread, { interval: 20 }).toBeGreaterThan(40 * megabyte)
  await expect.poll(unread, { interval: 20 }).toBeLessThanOrEqual(40 * megabyte)
  expect(open.size).toBeGreaterThan(0)
})
