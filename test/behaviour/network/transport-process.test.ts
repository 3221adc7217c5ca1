import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { startChild } from '../../support/process/children.js'
import { compileModules } from '../../support/process/compiled.js'
import { stopwatch } from '../../support/process/patience.js'
import { closeNodes, startNode, until } from '../../support/network/transport.js'

const compiled = compileModules([
  'network/open-transport.ts',
  'network/transport/libp2p-transport.ts',
  'network/transport/patches/with-resolvers.ts',
  'network/transport/patches/stop-timers.ts',
  'base/runtime/process-env.ts',
])

afterEach(closeNodes)
afterAll(() => compiled.remove())

/** A process of its own that runs this with `open()` for a started transport. */
function run(script: string): ChildProcess {
  const program = `
    const { openTransport } = await import(${JSON.stringify(compiled.url('network/open-transport.js').href)})
    const { systemEnv } = await import(${JSON.stringify(compiled.url('base/runtime/process-env.js').href)})
    const echo = { name: 'echo', version: 1, ofChain: true, request: 100, answer: 100, timeout: 5000 }
    const news = { name: 'news', version: 1, size: 100 }
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const owner = {
      allowsConnection: () => true, connected() {}, disconnected() {}, onAddress() {}, onGossip: async () => 'accept',
      answer: async (_link, _protocol, body) => (body.length === 0 ? new Promise(() => {}) : body),
    }
    async function open() {
      const transport = await openTransport({
        secretKey: crypto.getRandomValues(new Uint8Array(32)), genesis: new Uint8Array(32).fill(7), protocols: [echo],
        topics: [news], hosts: ['127.0.0.1'], port: 0, mdns: false, env: systemEnv(log),
      })
      await transport.start(owner)
      return transport
    }
    ${script}`
  return startChild(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function lines(child: ChildProcess, count: number): Promise<string[]> {
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => (text += part))
  await until(() => text.split('\n').length > count)
  return text.split('\n')
}

describe('a process with a transport', () => {
  it('ends by itself once that is closed, whatever was under way', async () => {
    const child = run(`
      const [a, b] = [await open(), await open()]
      const link = await a.dial('127.0.0.1:' + b.port)
      console.log((await link.request(echo, Uint8Array.of(1, 2, 3))).length)
      link.request(echo, new Uint8Array()).catch(() => {})
      a.dial('127.0.0.1:' + a.port).catch(() => {})
      a.broadcast(news, Uint8Array.of(1))
      const start = performance.now()
      await Promise.all([a.close(), b.close()])
      console.log(performance.now() - start < 20_000)
    `)
    const exited = once(child, 'exit')
    expect((await lines(child, 2)).slice(0, 2)).toEqual(['3', 'true'])
    const elapsed = stopwatch()
    expect(await exited).toEqual([0, null])
    expect(elapsed()).toBeLessThan(3000)
  })

  it('has no timer once that is closed, so that it need not wait for any', async () => {
    const child = run(`
      const [a, b] = [await open(), await open()]
      await a.dial('127.0.0.1:' + b.port)
      await new Promise((resolve) => setTimeout(resolve, 300))
      await Promise.all([a.close(), b.close()])
      // Those that are due at once.
      await new Promise((resolve) => setTimeout(resolve, 20))
      console.log(process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length)
    `)
    expect((await lines(child, 1))[0]).toBe('0')
  })

  it('that is killed is gone for its neighbours', async () => {
    const child = run('console.log((await open()).port)')
    const [port] = await lines(child, 1)
    const node = await startNode()
    const link = await node.transport.dial(`127.0.0.1:${port}`)
    child.kill('SIGKILL')
    await until(() => node.owner.left.length === 1)
    expect(link.closed).toBe(true)
  })
})

describe('libp2p', () => {
  it('is installed once: all its parts share one set of interfaces', () => {
    const root = fileURLToPath(new URL('../../../node_modules', import.meta.url))
    const found: string[] = []
    const search = (folder: string): void => {
      for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
        const path = `${folder}/${name}`
        if (path.endsWith('/@libp2p/interface')) found.push(path)
        if (name.startsWith('@')) search(path)
        else if (readdirSync(path).includes('node_modules')) search(`${path}/node_modules`)
      }
    }
    search(root)
    expect(found).toEqual([`${root}/@libp2p/interface`])
    const { version } = JSON.parse(readFileSync(`${root}/@libp2p/interface/package.json`, 'utf8')) as {
      version: string
    }
    expect(version).toMatch(/^3\./)
  })
})
