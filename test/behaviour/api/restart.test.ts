import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import type { ApiContext } from '../../../src/answers/api/api-context.js'
import type { ApiLimits } from '../../../src/answers/api/api-limits.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { TestChain } from '../../support/builders/chain.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(limits: Partial<ApiLimits> = {}, changes: Partial<ApiContext> = {}): Promise<ApiServer> {
  const node = await TestChain.open()
  const server = await serve(contextOf(node, { limits, ...changes }))
  closing.push(
    () => node.close(),
    () => server.close(),
  )
  return server
}

const height = '/api/v1/block/height'
const restartPath = '/api/v1/restart'
const asked = (path = height) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
/** Milliseconds after which a server would have let go of a connection by mistake. */
const moment = 30

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  closing.push(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** What comes first on a connection once this is written. */
async function answered(socket: Socket, text: string): Promise<string> {
  const failed = new Promise<never>((_, reject) => {
    socket.once('error', reject).once('close', () => reject(new Error('closed without an answer')))
  })
  failed.catch(() => {})
  socket.write(text)
  const [chunk] = (await Promise.race([once(socket, 'data'), failed])) as [Buffer]
  return chunk.toString()
}

describe('restart', () => {
  it('answers every request over a new connection that is sent right after its answer', async () => {
    const { port } = await start()
    for (let round = 0; round < 50; round++) {
      expect((await ask(port, restartPath)).status).toBe(200)
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(port, height)))
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    }
  })

  it('resets no connection of clients that come all the time, whether accepted or still to be', async () => {
    const { port } = await start({ connections: 100 })
    const file = fileURLToPath(new URL('../../support/tools/knock.mjs', import.meta.url))
    const worker = new Worker(file, { workerData: { port, path: height, atOnce: 8 } })
    closing.push(() => worker.terminate())
    for (let round = 0; round < 60; round++) {
      expect((await ask(port, restartPath)).status).toBe(200)
      // Meanwhile the system accepts connections, which no server has yet.
      const busy = performance.now() + 5
      while (performance.now() < busy);
      await sleep(1)
    }
    worker.postMessage('end')
    const [seen] = (await once(worker, 'message')) as [{ answered: number; failures: string[] }]
    expect(seen.failures).toEqual([])
    expect(seen.answered).toBeGreaterThan(60)
  })

  it('answers what was accepted before it and is sent after it, first requests and later ones', async () => {
    const { port } = await start()
    const [silent, half, kept] = await Promise.all([opened(port), opened(port), opened(port)])
    half.write(asked().slice(0, 20))
    expect(await answered(kept, asked())).toMatch(/^HTTP\/1.1 200 /)
    for (let i = 0; i < 3; i++) expect((await ask(port, restartPath)).status).toBe(200)
    await sleep(moment)
    expect(await answered(silent, asked())).toMatch(/^HTTP\/1.1 200 /)
    expect(await answered(half, asked().slice(20))).toMatch(/^HTTP\/1.1 200 /)
    expect(await answered(kept, asked())).toMatch(/^HTTP\/1.1 200 /)
  })

  it('cuts no answer under way, however long it takes', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let reached = () => {}
    const underWay = new Promise<void>((resolve) => (reached = resolve))
    const accept = async () => {
      reached()
      await held
      throw new RuleError('tx-known', 'long after the restart')
    }
    const node = await TestChain.open()
    closing.push(() => node.close())
    const mempool = { ...contextOf(node).mempool, accept } as ApiContext['mempool']
    const { port } = await start({ closeGrace: 50 }, { mempool })
    const slow = askJson(port, '/api/v1/transaction', { Action: 'sendrawtransaction', data: '00' })
    await underWay
    await ask(port, restartPath)
    await sleep(200)
    release()
    expect((await slow).body).toMatchObject({ Result: 'long after the restart' })
  })

  it('keeps the bounds of connections: those accepted before count on', async () => {
    // Clients of this machine have half of the places; the oldest idle one makes room.
    const { port } = await start({ connections: 6 })
    const sockets = await Promise.all([opened(port), opened(port)])
    const closed = sockets.map((socket) => once(socket, 'close'))
    await ask(port, restartPath)
    const more = await Promise.all([opened(port), opened(port), opened(port)])
    await Promise.all(closed)
    await sleep(moment)
    expect(more.map(({ destroyed }) => destroyed)).toEqual([false, false, false])
  })

  it('leaves no old server behind once its connections are gone', async () => {
    const { port } = await start({ keepAliveTimeout: 50 })
    const count = () => process.getActiveResourcesInfo().filter((kind) => /Timeout|TCPServer/.test(kind)).length
    const before = count()
    const agent = new Agent({ keepAlive: true })
    closing.push(() => agent.destroy())
    for (let round = 0; round < 20; round++) {
      await new Promise<void>((resolve, reject) => {
        request({ host: '127.0.0.1', port, path: height, agent }, (answer) => answer.resume().on('end', resolve))
          .on('error', reject)
          .end()
      })
      await ask(port, restartPath)
    }
    agent.destroy()
    await expect.poll(count).toBeLessThanOrEqual(before + 2)
  })

  it('lets the node stop, with servers that have connections still', async () => {
    const server = await start({ closeGrace: 100 })
    const socket = await opened(server.port)
    await ask(server.port, restartPath)
    await sleep(moment)
    const closed = once(socket, 'close')
    await server.close()
    await closed
    await expect(opened(server.port)).rejects.toThrow('ECONNREFUSED')
  })
})
