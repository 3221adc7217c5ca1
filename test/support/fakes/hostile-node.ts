import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { transactionJson } from '../../../src/base/primitives/transaction-json.js'

/** A text that steers a terminal, turns text around, hides, and begins a line: both ends of each range of such characters. */
export const hostile = [
  ...['\x1b]0;owned\x07', '\x1b[2J', '\0', '\x08', '\t', '\r', '\x1f', '\x7f', '\x80', '\x85', '\x9b31m', '\x9f'],
  ...[
    '\u00ad',
    '\u061c',
    '\u200b',
    '\u200d',
    '\u200f',
    '\u2028',
    '\u2029',
    '\u202a',
    '\u202e',
    '\u2060',
    '\u2066',
    '\u206f',
  ],
  ...['\ufe0f', '\ufeff', '\ufff9', '\u{e0001}', '\u{e007f}', '\ud800', '\nFORGED'],
].join('')

/** Characters that no output of a command holds beside line ends. */
export const forbidden = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/** Changes a string of JSON, known by the names of the members that lead to it. */
export type Twist = (text: string, where: string) => string

/** JSON with each of its strings as `twist` makes it; `members`: every object also gets a hostile member. */
export function twisted(value: unknown, twist: Twist, members = false, where = ''): unknown {
  if (typeof value === 'string') return twist(value, where)
  if (Array.isArray(value)) return value.map((item) => twisted(item, twist, members, `${where}[]`))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, member]) => [
    name,
    twisted(member, twist, members, `${where}.${name}`),
  ])
  return Object.fromEntries(members ? [...entries, [hostile, hostile]] : entries)
}

/** The payload of an operation with hostile texts in the document. */
export function hostilePayload(payload: string): string {
  const document = JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown
  const twist: Twist = (text, where) =>
    /^\.(id|expires|proof)|publicKey|controller/i.test(where) ? text : text + hostile
  return Buffer.from(JSON.stringify(twisted(document, twist, true))).toString('base64url')
}

/** How a node lies; what is absent is honest. */
export interface Lie {
  readonly twist?: Twist
  readonly members?: boolean
  /** The request that is refused with hostile words, counted from 0. */
  readonly refuses?: number
  /** The request that is answered with something else than JSON. */
  readonly babbles?: number
}

/** Answers of a node that has peers, bans and evidence, where the node behind has none. */
const fuller: Readonly<Record<string, (result: never) => unknown>> = {
  getsyncstatus: (result: object) => ({
    ...result,
    peers: [{ id: 1, address: '192.0.2.1:20338', external: true, height: 3, name: 'abc' }],
  }),
  getevidence: () => [{ height: 1, view: 0, kind: 'proposal', signer: 'ab' }],
  listbans: () => [{ peer: '192.0.2.9', until: 1_900_000_000, reason: 'it lied' }],
  backup: () => ({ done: true, bytes: 1, total: 1, height: 3, hash: 'ab' }),
  stop: () => true,
}

const at = { height: 7, blockhash: 'ab' }

const events = [
  { number: 1, topic: 'transaction', action: 'apply', txid: 'cd', type: 10, size: 300, fee: '0.00000100' },
  { number: 2, topic: 'did', action: 'apply', did: 'did:ledger:i', operation: 'create', txid: 'ef', ...at },
  { number: 3, topic: 'credential', action: 'apply', id: 'x#y', operation: 'declare', signer: 'z', txid: 'q', ...at },
  {
    number: 4,
    topic: 'block',
    action: 'apply',
    height: 7,
    hash: 'ab',
    previousblockhash: 'aa',
    time: 1,
    transactions: 2,
  },
]

/**
 * Stands before a real node, and passes its answers on with other texts in them. Transactions that it is sent are neither checked nor
 * passed on: it says that they are on the chain.
 */
export class HostileNode {
  lie: Lie = {}
  /** Strings of the answers since they were last taken, by request and place. */
  readonly strings = new Set<string>()
  requests = 0
  /** Id of a transaction of the real node that it says to be in no block. */
  waiting = ''
  readonly #node: string
  readonly #server: Server
  readonly #sockets: WebSocketServer
  readonly #sent = new Map<string, Transaction>()
  #stopped = false

  private constructor(node: string) {
    this.#node = node
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch((error: Error) => response.destroy(error))
    })
    this.#sockets = new WebSocketServer({ server: this.#server })
    this.#sockets.on('connection', (socket) => socket.on('message', () => this.#tell(socket)))
  }

  /** `node`: the REST interface of the real one. */
  static async before(node: string): Promise<HostileNode> {
    const hostileNode = new HostileNode(node)
    await new Promise<void>((ready) => hostileNode.#server.listen(0, '127.0.0.1', ready))
    return hostileNode
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Begins anew, with a lie. */
  begin(lie: Lie): void {
    this.lie = lie
    this.strings.clear()
    this.requests = 0
    this.#stopped = false
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (this.#stopped) return void response.destroy()
    const place = this.requests++
    const call = text === '' ? undefined : (JSON.parse(text) as { method?: string; data?: string })
    const name = call?.method ?? (request.url ?? '').replace(/[0-9a-f]{64}|E\w{33}|\d+$/g, '*')
    if (this.lie.babbles === place) return void response.end(hostile)
    if (this.lie.refuses === place) {
      const error = { code: -32_000, message: hostile, data: hostile }
      const refusal = { jsonrpc: '2.0', id: 1, error, Error: 45_009, Desc: hostile, Result: hostile }
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal))
    }
    const { status, body } = await this.#honest(request, text, call)
    const shown = JSON.stringify(this.#twisted(body, name))
    response.writeHead(status, { 'content-type': 'application/json' }).end(shown)
    if (call?.method === 'stop') this.#stopped = true
  }

  async #honest(
    { url = '', method = 'GET' }: IncomingMessage,
    text: string,
    call: { readonly method?: string; readonly data?: string } | undefined,
  ): Promise<{ status: number; body: unknown }> {
    if (call?.data !== undefined) {
      const transaction = Transaction.fromHex(call.data)
      this.#sent.set(transaction.txid, transaction)
      return { status: 200, body: { Desc: 'Success', Error: 0, Result: transaction.txid } }
    }
    const sent = this.#sent.get(/transaction\/([0-9a-f]{64})$/.exec(url)?.[1] ?? '')
    if (sent !== undefined) {
      const hash = ((await (await fetch(`${this.#node}/api/v1/block/hash/1`)).json()) as { Result: string }).Result
      const result = transactionJson(sent, { blockhash: hash, confirmations: 1, blocktime: 1_700_000_000 })
      return { status: 200, body: { Desc: 'Success', Error: 0, Result: result } }
    }
    const fill = fuller[call?.method ?? '']
    const init = text === '' ? { method } : { method, body: text, headers: { 'content-type': 'application/json' } }
    const answer = await fetch(`${this.#node}${url}`, init)
    const body = (await answer.json()) as { result?: unknown; Result?: object }
    if (this.waiting !== '' && url.endsWith(`/transaction/${this.waiting}`)) {
      return { status: answer.status, body: { ...body, Result: { ...body.Result, blockhash: '' } } }
    }
    if (url === '/readyz') return { status: answer.status, body: { ...body, reason: 'it is' } }
    if (fill === undefined) return { status: answer.status, body }
    return { status: 200, body: { jsonrpc: '2.0', id: 1, result: fill(body.result as never) } }
  }

  #twisted(body: unknown, name: string): unknown {
    const { twist = (text) => text, members = false } = this.lie
    return twisted(
      body,
      (text, where) => {
        this.strings.add(`${name} ${where}`)
        return twist(text, `${name} ${where}`)
      },
      members,
    )
  }

  /** Events, and then words that end it. */
  #tell(socket: WebSocket): void {
    const messages = [
      { jsonrpc: '2.0', id: 1, result: { subscription: 1, number: 0, height: 6, hash: 'aa' } },
      ...events.map((event) => ({ jsonrpc: '2.0', method: 'event', params: { subscription: 'a', ...event } })),
      { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'no more', data: 'events' } },
    ]
    for (const message of messages) socket.send(JSON.stringify(this.#twisted(message, 'ws')))
  }
}
