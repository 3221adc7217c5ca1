import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { repositoryFile } from '../assert/markdown.js'
import { startChild } from '../process/children.js'
import { eventually } from '../process/patience.js'
import { portBase } from '../process/ports.js'
import { portOffsets } from '../../../src/node/ports.js'

/** One address for several nodes. */
export interface Balancer {
  /** Base URL. */
  readonly url: string
  close(): Promise<void>
}

/**
 * A small one: gives requests in turn to nodes whose `/readyz?within=2` is 200, and those that a node fails to the next one, but for
 * transactions.
 */
export class SmallBalancer implements Balancer {
  readonly #nodes: readonly string[]
  readonly #ready = new Set<string>()
  readonly #agent = new Agent({ keepAlive: true })
  readonly #server: Server
  readonly #timer: NodeJS.Timeout
  #turn = 0

  private constructor(nodes: readonly string[]) {
    this.#nodes = nodes
    this.#server = createServer((asked, answer) => void this.#pass(asked, answer))
    this.#timer = setInterval(() => nodes.forEach((url) => void this.#look(url)), 100)
  }

  /** `nodes`: base URLs. */
  static async open(nodes: readonly string[]): Promise<Balancer> {
    const balancer = new SmallBalancer(nodes)
    await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', resolve))
    await eventually('nodes that are ready', () => balancer.#ready.size === nodes.length)
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    this.#agent.destroy()
  }

  async #look(url: string): Promise<void> {
    const { status } = await this.#ask(`${url}/readyz?within=2`).catch(() => ({ status: 0 }))
    if (status === 200) this.#ready.add(url)
    else this.#ready.delete(url)
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await buffer(asked)
    // What was sent may have arrived: only what reads is asked again elsewhere.
    const tries = body.includes('sendrawtransaction') ? 1 : this.#nodes.length
    for (let i = 0; i < tries; i++) {
      const ready = [...this.#ready]
      const url = ready[this.#turn++ % ready.length]
      const given = url === undefined ? undefined : await this.#ask(url + asked.url, asked, body).catch(() => undefined)
      if (given === undefined || (given.status === 503 && i < tries - 1)) continue
      answer.writeHead(given.status, given.headers).end(given.body)
      return
    }
    answer.writeHead(502).end()
  }

  async #ask(url: string, { method, headers }: Partial<IncomingMessage> = {}, sent?: Buffer) {
    const given = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { agent: this.#agent, method, headers: { ...headers, connection: 'keep-alive' } }
      request(url, options, resolve).on('error', reject).end(sent)
    })
    return { status: given.statusCode ?? 0, headers: given.headers, body: await buffer(given) }
  }
}

/** The balancers that docs/operate/fleet has samples of. */
const samples: Readonly<Record<string, { readonly file: string; run(folder: string, file: string): string[] }>> = {
  nginx: {
    file: 'nginx.conf',
    run: (folder, file) => ['-p', folder, '-c', file, '-e', 'stderr', '-g', 'daemon off; master_process off;'],
  },
  haproxy: { file: 'haproxy.cfg', run: (_, file) => ['-f', file] },
  caddy: { file: 'Caddyfile', run: (_, file) => ['run', '--adapter', 'caddyfile', '--config', file] },
}

/** Names of those that are installed. */
export const installedBalancers = Object.keys(samples).filter((name) => spawnSync(name, ['-v']).error === undefined)

/** Starts a balancer with its sample, in which nothing but names and ports is changed. It ends with the file of the test at the latest. */
export async function openInstalled(name: string, folder: string, nodes: readonly string[]): Promise<Balancer> {
  const { file, run } = samples[name] as (typeof samples)[string]
  const port = Number(await portBase()) + portOffsets.rest
  mkdirSync(folder, { recursive: true })
  const path = join(folder, file)
  writeFileSync(path, sampleOf(repositoryFile(`docs/operate/fleet/${file}`), folder, port, nodes))
  const child = startChild(name, run(folder, path), { stdio: 'ignore' })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await eventually(`the port of ${name}`, () => isOpen(port))
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      child.kill('SIGTERM')
      return closed
    },
  }
}

/** A sample for these nodes and this port, which writes into no other folder. */
function sampleOf(text: string, folder: string, port: number, nodes: readonly string[]): string {
  const hosts = nodes.map((url) => new URL(url).host)
  const lines = text
    .replace('follower-1:20334 follower-2:20334', hosts.join(' '))
    .replace(/^http \{$/m, `http {\n  access_log off;\n${temporaryPaths(folder)}`)
    .replace(/^:8080 \{$/m, `{\n  admin off\n}\nhttp://127.0.0.1:${port} {`)
    .replace(/\b(bind :|listen )8080/, (_, before: string) => `${before.replace(':', '')}127.0.0.1:${port}`)
    // The names are those of containers.
    .replace(' resolvers docker init-addr last,libc,none', '')
    .split('\n')
  return lines.flatMap((line) => (line.includes('follower-2') ? [] : eachHost(line, hosts))).join('\n')
}

/** A line about the first node, once for each. */
function eachHost(line: string, hosts: readonly string[]): string[] {
  if (!line.includes('follower-1:20334')) return [line]
  return hosts.map((host, i) => line.replace('follower-1:20334', host).replace('follower-1', `node-${i}`))
}

/** Directives of nginx that put its temporary files into a folder. */
export function temporaryPaths(folder: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return kinds.map((kind) => `  ${kind}_temp_path ${folder}/${kind};\n`).join('')
}

/** Whether a port of this machine takes connections. */
export function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
