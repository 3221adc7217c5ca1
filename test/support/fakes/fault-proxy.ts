import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Faults of a network, or of a server behind it: before the server has the request, and after. */
export const faults = [
  'reset before',
  'reset after',
  '500 before',
  '500 after',
  '503 before',
  'hang before',
  'hang after',
  'cut answer',
] as const
export type Fault = (typeof faults)[number]

/** Passes requests of HTTP on as they are, but for those that get a fault. */
export class FaultProxy {
  /** Requests so far. */
  count = 0
  /** Chooses the fault of a request by its number, which begins with 1; undefined: none. */
  faultAt: (count: number) => Fault | undefined = () => undefined
  readonly #target: URL
  readonly #server: Server
  readonly #agent = new Agent({ keepAlive: true })

  private constructor(target: string) {
    this.#target = new URL(target)
    this.#server = createServer((asked, answer) => void this.#pass(asked, answer))
  }

  static async open(target: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const fault = this.faultAt(++this.count)
    const [kind, moment] = fault?.split(' ') ?? []
    const body = await buffer(asked).catch(() => undefined)
    if (body === undefined) return
    if (moment === 'before') return broken(answer, kind)
    const given = await this.#ask(asked, body)
    if (moment === 'after') return broken(answer, kind)
    if (kind === 'cut') {
      // Declares more than it sends, and is gone with half of it.
      answer.writeHead(given.status, { 'content-length': given.body.length + 8 })
      answer.write(given.body.subarray(0, given.body.length / 2), () => answer.destroy())
      if (given.body.length < 2) answer.flushHeaders()
      setImmediate(() => answer.destroy())
      return
    }
    answer.writeHead(given.status, given.headers).end(given.body)
  }

  async #ask({ method, url, headers }: IncomingMessage, body: Buffer) {
    const given = await new Promise<IncomingMessage>((resolve, reject) => {
      const { hostname, port } = this.#target
      const options = { agent: this.#agent, hostname, port, method, path: url, headers }
      request(options, resolve).on('error', reject).end(body)
    })
    return { status: given.statusCode ?? 0, headers: given.headers, body: await buffer(given) }
  }
}

/** Ends a request without the answer of the server. */
function broken(answer: ServerResponse, kind: string | undefined): void {
  if (kind === 'reset') answer.socket?.resetAndDestroy()
  else if (kind !== 'hang') {
    const code = kind === '503' ? 'SlowDown' : 'InternalError'
    answer.writeHead(Number(kind), { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`)
  }
}
