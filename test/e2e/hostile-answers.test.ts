import { readFileSync } from 'node:fs'
import { request as httpRequest, type RequestOptions } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { SeededRandom } from '../support/builders/seeded-random.js'
import { type LargeChain, largeChain } from '../support/builders/large-chain.js'
import { busyness, slowness } from '../support/process/patience.js'
import { Directories, NodeProcess } from '../support/process/spawn.js'

/** Megabytes that the answers to all clients together may add to what the node takes anyway. */
const mostGrown = 300
/** Milliseconds within which nine of ten point reads beside them are answered. */
const promisedRead = 250
const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 1_000_000)

const directories = new Directories()
let chain: LargeChain
let node: NodeProcess
let port: number
let rpcPort: number
const sockets: { destroy(): unknown }[] = []

beforeAll(async () => {
  chain = await largeChain(directories.fresh('large'), join(directories.root, 'genesis.json'))
  node = await NodeProcess.startWith(
    { env: { NODE_OPTIONS: '--max-old-space-size=1024' } },
    ...['start', '--genesis', chain.genesis, '--data-dir', chain.directory, '--no-p2p'],
  )
  port = Number(new URL(node.line.rest).port)
  rpcPort = Number(new URL(node.line.rpc).port)
  // Warm: compiled, and with its caches filled.
  for (const path of paths()) expect((await whole(path)).length).toBeGreaterThan(10)
}, 600_000)
afterAll(async () => {
  await node.stop()
  directories.remove()
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

function paths(): string[] {
  return [
    ...chain.wide.flatMap((height) => [
      `block/details/height/${height}`,
      `block/details/hash/${chain.hashes[height]}`,
      `block/transactions/height/${height}`,
    ]),
    `block/details/height/${chain.long}`,
    `block/transactions/height/${chain.long}`,
    ...chain.txids.map((txid) => `transaction/${txid}`),
    `asset/utxos/${chain.address}`,
  ].map((path) => `/api/v1/${path}`)
}

/** Bodies of JSON-RPC whose answers are large, batches among them. */
function bodies(): string[] {
  const calls = [
    ...chain.wide.flatMap((height) =>
      [0, 1, 2].map((verbosity) => ({ id: 1, method: 'getblock', params: [chain.hashes[height], verbosity] })),
    ),
    ...chain.txids.map((txid) => ({ id: 1, method: 'getrawtransaction', params: [txid, true] })),
    { id: 1, method: 'listunspent', params: { addresses: [chain.address] } },
  ]
  const batch = calls.filter(({ method }) => method === 'getblock')
  return [...calls, batch, [...batch, ...batch, ...batch]].map((call) => JSON.stringify(call))
}

/** The body of an answer, however it is sent, over a connection of its own. */
function whole(path: string): Promise<string> {
  return bodyOf({ port, path })
}

function bodyOf(options: RequestOptions, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', agent: false, ...options }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
    })
      .on('error', reject)
      .end(body)
  })
}

/** Megabytes of the process, as the system counts them: the node is not asked, so that no answer can be late. */
function memory(): number {
  const status = readFileSync(`/proc/${node.process.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

/** Milliseconds of one point read over a connection of its own. */
async function pointRead(): Promise<number> {
  const began = performance.now()
  expect(JSON.parse(await whole('/api/v1/block/height'))).toMatchObject({ Error: 0 })
  return performance.now() - began
}

/** Holds point reads and memory against their bounds while clients do something. */
async function expectBounds(work: () => Promise<void>): Promise<void> {
  const before = memory()
  let most = before
  let done = false
  const reads: number[] = []
  const reading = (async () => {
    while (!done || reads.length < 5) {
      reads.push(await pointRead())
      most = Math.max(most, memory())
    }
  })()
  const watch = setInterval(() => (most = Math.max(most, memory())), 20)
  await work()
  done = true
  await reading
  clearInterval(watch)
  const nineOfTen = reads.sort((a, b) => a - b)[Math.floor((reads.length - 1) * 0.9)] as number
  expect(most - before, `megabytes grown, seed ${seed}`).toBeLessThan(mostGrown)
  // Where programs queue for processors, both the node and this program do for each read.
  const queueing = busyness() > 1 ? 2 * busyness() : 1
  expect(nineOfTen, `milliseconds of a point read, seed ${seed}`).toBeLessThan(promisedRead * slowness() * queueing)
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const post = (body: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** Sends a request and reads nothing of its answer. */
function send(to: number, bytes: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(to, '127.0.0.1', () => socket.write(bytes, () => resolve(socket)))
    socket.on('error', () => resolve(socket)).pause()
    sockets.push(socket)
  })
}

/** Reads a little at a time. */
function slowly(socket: Socket): void {
  socket.on('data', () => {
    socket.pause()
    setTimeout(() => socket.resume(), 50)
  })
  socket.resume()
}

describe('large answers', () => {
  it('to 300 clients that leave at once neither fill the memory nor delay others', { timeout: 600_000 }, async () => {
    const asked = paths()
    await expectBounds(async () => {
      for (let i = 0; i < 300; i++) (await send(port, get(asked[i % asked.length] as string))).destroy()
      for (let i = 0; i < 5; i++) await pointRead()
    })
  })

  it('to clients that read nothing, slowly or leave at any time do neither', { timeout: 600_000 }, async () => {
    const random = new SeededRandom(seed)
    const [asked, called] = [paths(), bodies()]
    const pick = (from: readonly string[]) => from[random.below(from.length)] as string
    await expectBounds(async () => {
      const left: Promise<void>[] = []
      for (let i = 0; i < 300; i++) {
        const kind = random.below(4)
        if (kind === 0) {
          const socket = new WebSocket(node.line.ws)
          sockets.push({ destroy: () => socket.terminate() })
          socket.on('error', () => {}).on('open', () => socket.send(pick(called), () => socket.pause()))
          continue
        }
        const socket = await (kind === 1 ? send(rpcPort, post(pick(called))) : send(port, get(pick(asked))))
        const reads = random.below(3)
        if (reads === 1) slowly(socket)
        if (random.below(2) === 0) left.push(sleep(random.below(2000)).then(() => void socket.destroy()))
      }
      await Promise.all(left)
      for (let i = 0; i < 5; i++) await pointRead()
    })
  })

  it('are the same afterwards, and those who wait get them', { timeout: 600_000 }, async () => {
    const path = `/api/v1/block/details/height/${chain.wide[0]}`
    const answers = await Promise.all(Array.from({ length: 8 }, () => whole(path)))
    expect(new Set(answers).size).toBe(1)
    const { Result } = JSON.parse(answers[0] as string) as { Result: { tx: { vout: unknown[] }[] } }
    expect(Result.tx[1]?.vout).toHaveLength(50_001)
    const batch = await fetch(node.line.rpc, { method: 'POST', body: bodies().at(-2) as string })
    const results = (await batch.json()) as { result: string }[]
    expect(results).toHaveLength(9)
    expect(results[0]?.result.length).toBeGreaterThan(6_000_000)
  })
})

describe('connections of this machine', () => {
  const half = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n`
  const kinds: readonly [string, string][] = [
    ['that say nothing', ''],
    ['with half their headers', 'GET /api/v1/block/height HTTP/1.1\r\nHost: lo'],
    ['that are kept open after an answer', get('/api/v1/block/height')],
    ['that announce large bodies and send nothing', half],
    ['that send a little of them', half + ' '.repeat(60_000)],
    ['that ask for large answers and read nothing', get('/api/v1/block/details/height/3')],
  ]

  it.each(kinds)('1000 %s lock no client out', { timeout: 600_000 }, async (_, bytes) => {
    for (let i = 0; i < 1000; i++) await send(rpcPort, bytes)
    // The places of requests with a body or an answer are free to be taken after a second.
    await sleep(1500)
    for (let i = 0; i < 5; i++) {
      // Each over a connection of its own, which needs a place: one that is only kept open may have to give its up.
      const answer = await bodyOf({ port: rpcPort, method: 'POST' }, '{"id":1,"method":"getblockcount"}')
      expect(JSON.parse(answer)).toMatchObject({ result: chain.hashes.length })
    }
  })

  it('a body that makes no progress ends', { timeout: 120_000 }, async () => {
    const socket = await send(rpcPort, `${half}{`)
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume()
    await new Promise((resolve) => socket.once('close', resolve))
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1.1 408 /)
  })
})
