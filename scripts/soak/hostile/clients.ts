import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { ask } from '../../../test/support/client/api.js'
import { dribble, leave } from '../../../test/support/client/hostile.js'
import { type Attack, bigBlock, portOf, type Scene } from './scene.js'

/** Malicious clients of REST and JSON-RPC. Each attack uses one own address, so that honest clients have another. */

const host = 'HTTP/1.1\r\nHost: 127.0.0.1\r\n'
const height = `GET /api/v1/block/height ${host}\r\n`

const post = (body: string, length = Buffer.byteLength(body)) =>
  `POST / ${host}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`

/** Opens as many connections as there are texts, sends one over each, and leaves after so many milliseconds without an answer; connections that the node refuses are left out. */
async function crowd(url: string, from: string, texts: readonly string[], held: number, send = leave): Promise<void> {
  const opened = await Promise.allSettled(texts.map((text) => send(portOf(url), text, from)))
  const open = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  for (const socket of open) socket.on('error', () => {})
  const [first] = opened
  if (open.length === 0 && first?.status === 'rejected') throw first.reason
  await setTimeout(held)
  for (const socket of open) socket.destroy()
}

const repeated = (count: number, text: string) => new Array<string>(count).fill(text)

export const clientAttacks: Readonly<Record<string, Attack>> = {
  'leavers of big blocks': async (scene) => {
    const ask = `GET /api/v1/block/details/height/${bigBlock(scene).height} ${host}\r\n`
    await crowd(scene.target.rest, '127.0.0.11', repeated(60, ask), 5)
  },
  'silent bodies': (scene) => crowd(scene.target.rpc, '127.0.0.12', repeated(128, post('{', 200_000)), 4000),
  // Half of them are kept alive within the rules, half send headers without end.
  'a thousand sockets': async (scene) => {
    const { rest } = scene.target
    const endless = (port: number, text: string, from?: string): Promise<Socket> => dribble(port, text, 500, from)
    await Promise.all([
      crowd(rest, '127.0.0.13', repeated(500, height), 4000),
      crowd(rest, '127.0.0.13', repeated(500, height), 4000, endless),
    ])
  },
  // These clients do not read.
  'big batches': async (scene) => {
    const call = { jsonrpc: '2.0', method: 'getblock', params: { blockhash: bigBlock(scene).hash, verbosity: 2 } }
    const body = JSON.stringify(Array.from({ length: 50 }, (_, id) => ({ ...call, id })))
    await crowd(scene.target.rpc, '127.0.0.14', repeated(8, post(body)), 4000)
  },
  'queries that leave': async (scene) => {
    const condition = { 'service.serviceEndpoint': { $regex: '^.*a.*b$' }, $nor: [{ id: 'x' }, { id: 'y' }] }
    const params = { query: JSON.stringify(condition), limit: 1000 }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'query', params })
    await crowd(scene.target.rpc, '127.0.0.15', repeated(20, post(body)), 5)
  },
  'restarts by other sites': async (scene: Scene) => {
    const forms: readonly (readonly [method: string, headers: Record<string, string>])[] = [
      ['POST', { origin: 'https://example.com' }],
      ['GET', { 'sec-fetch-site': 'cross-site' }],
      ['POST', { host: 'example.com' }],
      ['GET', { host: 'example.com' }],
      ['GET', { origin: 'http://127.0.0.1:1' }],
    ]
    for (const [method, headers] of forms) {
      const { status } = await ask(portOf(scene.target.rest), '/api/v1/restart', { method, headers })
      if (status !== 403) throw new Error(`restart with ${JSON.stringify(headers)} was answered ${status}`)
    }
  },
}
