import type { Socket } from 'node:net'
import { request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { type Attack, dial, portOf, type Scene } from './scene.js'

/** Malicious clients of REST and JSON-RPC. Each attack uses one own address, so that honest clients have another. */

/** Requests for big blocks in a burst, all aborted at once. */
const leavers = 60
/** Bodies that are announced and never sent. */
const silentBodies = 128
/** Sockets, half of them kept alive within the rules, half sending headers without end. */
const sockets = 1000
/** Calls in a batch, batches at once. */
const [batchLength, batches] = [50, 8]
const queries = 20
/** Milliseconds that connections are held, and that a client waits before it disconnects. */
const [held, impatience] = [4000, 5]

export const clientAttacks: Readonly<Record<string, Attack>> = {
  'leavers of big blocks': async (scene) => {
    const { height } = bigBlock(scene)
    const ask = `GET /api/v1/block/details/height/${height} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
    await leave(scene.target.rest, '127.0.0.11', Array<string>(leavers).fill(ask))
  },
  'silent bodies': async (scene) => {
    const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{`
    const open = await crowd(scene.target.rpc, '127.0.0.12', silentBodies, () => head)
    await setTimeout(held)
    end(open)
  },
  'a thousand sockets': async (scene) => {
    const whole = 'GET /api/v1/block/height HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
    const open = await crowd(scene.target.rest, '127.0.0.13', sockets, (i) =>
      i % 2 === 0 ? whole : whole.slice(0, 30),
    )
    const dribble = setInterval(() => open.forEach((socket, i) => i % 2 === 1 && socket.write('x')), 500)
    await setTimeout(held)
    clearInterval(dribble)
    end(open)
  },
  'big batches': async (scene) => {
    const { hash } = bigBlock(scene)
    const call = { jsonrpc: '2.0', method: 'getblock', params: { blockhash: hash, verbosity: 2 } }
    const body = JSON.stringify(Array.from({ length: batchLength }, (_, id) => ({ ...call, id })))
    const open = await crowd(scene.target.rpc, '127.0.0.14', batches, () => post(body))
    // These clients do not read.
    for (const socket of open) socket.pause()
    await setTimeout(held)
    end(open)
  },
  'queries that leave': async (scene) => {
    const query = JSON.stringify({
      'service.serviceEndpoint': { $regex: '^.*a.*b$' },
      $nor: [{ id: 'x' }, { id: 'y' }],
    })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'query', params: { query, limit: 1000 } })
    await leave(scene.target.rpc, '127.0.0.15', Array<string>(queries).fill(post(body)))
  },
  'restarts by other sites': async (scene) => {
    const forms: readonly (readonly [method: string, headers: Record<string, string>])[] = [
      ['POST', { origin: 'https://example.com' }],
      ['GET', { 'sec-fetch-site': 'cross-site' }],
      ['POST', { host: 'example.com' }],
      ['GET', { host: 'example.com' }],
      ['GET', { origin: 'http://127.0.0.1:1' }],
    ]
    for (const [method, headers] of forms) {
      const status = await statusOf(`${scene.target.rest}/api/v1/restart`, method, headers)
      if (status !== 403) throw new Error(`restart with ${JSON.stringify(headers)} was answered ${status}`)
    }
  },
}

function bigBlock({ big }: Scene): NonNullable<Scene['big']> {
  if (big === undefined) throw new Error('there is no big block yet')
  return big
}

function post(body: string): string {
  const length = Buffer.byteLength(body)
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
}

/** Sends each text over a connection of its own and disconnects without an answer. */
async function leave(url: string, from: string, texts: readonly string[]): Promise<void> {
  const sent = texts.map(async (text) => {
    const socket = await dial(portOf(url), from)
    socket.write(text)
    await setTimeout(impatience)
    socket.destroy()
  })
  succeeded(await Promise.allSettled(sent))
}

/** Opens so many connections and writes to each; connections that the node refuses are left out. */
async function crowd(url: string, from: string, count: number, text: (i: number) => string): Promise<Socket[]> {
  const opened = await Promise.allSettled(Array.from({ length: count }, () => dial(portOf(url), from)))
  const open = succeeded(opened)
  open.forEach((socket, i) => {
    socket.resume()
    socket.write(text(i))
  })
  return open
}

/** The successful results; an error if there is none. */
function succeeded<T>(results: readonly PromiseSettledResult<T>[]): T[] {
  const values = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const [first] = results
  if (values.length === 0 && first?.status === 'rejected') throw first.reason
  return values
}

function end(open: readonly Socket[]): void {
  for (const socket of open) socket.destroy()
}

function statusOf(url: string, method: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode))
    })
    asked.on('error', reject)
    asked.end()
  })
}
