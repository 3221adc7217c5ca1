import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A small load balancer: gives requests to nodes in turn, those whose `/readyz?within=` is 200, and a read that fails to the next one. */
export class Balancer {
  /** Base URLs of the nodes. */
  readonly nodes: string[] = []
  readonly #ready = new Set<string>()
  readonly #server: Server
  readonly #timer: NodeJS.Timeout
  #turn = 0

  private constructor(within: number) {
    this.#server = createServer((asked, answer) => void this.#pass(asked, answer))
    this.#timer = setInterval(() => {
      for (const url of this.nodes) {
        void fetch(`${url}/readyz?within=${within}`).then(
          ({ ok }) => (ok ? this.#ready.add(url) : this.#ready.delete(url)),
          () => this.#ready.delete(url),
        )
      }
    }, 100)
  }

  static async open(within: number): Promise<Balancer> {
    const balancer = new Balancer(within)
    await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', resolve))
    return balancer
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get ready(): readonly string[] {
    return [...this.#ready]
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await buffer(asked)
    // What was sent may have arrived: only what reads is asked again elsewhere.
    const tries = body.includes('sendrawtransaction') ? 1 : 3
    for (let i = 0; i < tries; i++) {
      const ready = this.ready
      const url = ready[this.#turn++ % ready.length]
      const given = url === undefined ? undefined : await passOn(url, asked, body).catch(() => undefined)
      if (given === undefined || (given.status === 503 && i < tries - 1)) continue
      answer.writeHead(given.status, given.headers).end(given.body)
      return
    }
    answer.writeHead(502).end()
  }
}

async function passOn(url: string, { method, headers, url: path = '/' }: IncomingMessage, body: Buffer) {
  const given = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, headers: { ...headers, connection: 'close' } }
    request(url + path, options, resolve)
      .on('error', reject)
      .end(body)
  })
  return { status: given.statusCode ?? 0, headers: given.headers, body: await buffer(given) }
}
