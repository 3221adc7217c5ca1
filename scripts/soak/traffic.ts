import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { NodeRefusal } from '../../src/clients/client/http.js'
import { NodeClient } from '../../src/clients/client/node-client.js'
import type { Hash } from '../../src/base/primitives/hash.js'
import { holder } from '../../test/support/builders/did.js'
import { WsClient } from '../../test/support/client/ws.js'
import type { Places } from '../bench/processes.js'
import { type Payer, selfTransfer } from '../bench/workshop.js'
import { Acknowledged } from './acknowledged.js'
import { Latencies } from './latency.js'

/** Requests a second. */
const requestRate = 10
/** Timed requests a second, over connections that are kept. */
const probeRate = 20
/** Milliseconds after which an answer counts as missing. */
const patience = 30_000
const subscriberRate = 1
/** Every n-th transaction registers a DID. */
const didEvery = 10
/** Fee of such a transaction: more than its bytes cost. */
const operationFee = 5_000n
/** Milliseconds that a subscriber stays connected. */
const stay = 4000

export interface TrafficOptions {
  /** All nodes; clients connect to the first. */
  readonly nodes: readonly Places[]
  readonly payers: readonly Payer[]
  readonly assetId: Hash
  /** Transactions a second. */
  readonly rate: number
}

/** Users: transactions to all nodes in turn; clients of REST, JSON-RPC and WebSocket that connect to the first node and leave. */
export class Traffic {
  readonly counts: Record<string, number> = { transactions: 0, requests: 0, probes: 0, subscribers: 0 }
  /** Latencies of the first node under all of that load. */
  readonly latencies = new Latencies()
  readonly acknowledged: Acknowledged
  readonly #options: TrafficOptions
  readonly #ended = new AbortController()
  readonly #kept = new Agent({ keepAlive: true })
  /** Payers whose last transaction was possibly accepted. */
  readonly #unsure = new Set<Payer>()
  readonly #subscribers = new Set<WsClient>()
  /** The last of each, for requests. */
  #txid = '00'.repeat(32)
  #did = holder().did

  constructor(options: TrafficOptions) {
    this.#options = options
    this.acknowledged = new Acknowledged(options.nodes)
    void this.#repeat(options.rate, (turn) => this.#pay(turn))
    void this.#repeat(probeRate, (turn) => this.#probe(turn))
    void this.#repeat(requestRate, (turn) => this.#ask(turn))
    void this.#repeat(subscriberRate, (turn) => this.#subscribe(turn))
  }

  stop(): void {
    this.#ended.abort()
    this.#kept.destroy()
    for (const { ws } of this.#subscribers) ws.terminate()
  }

  async #repeat(rate: number, act: (turn: number) => Promise<void>): Promise<void> {
    const start = performance.now()
    for (let turn = 0; !this.#ended.signal.aborted; turn++) {
      // A late timer delays no other round.
      await setTimeout(Math.max(0, start + (1000 * turn) / rate - performance.now()))
      if (!this.#ended.signal.aborted)
        act(turn).catch((error: unknown) => this.#count(`in vain (${(error as Error).message.slice(0, 60)})`))
    }
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1
  }

  async #pay(turn: number): Promise<void> {
    const { nodes, payers, assetId } = this.#options
    // Each payer uses the same node, which therefore has its coin.
    const payer = payers[turn % payers.length] as Payer
    if (this.#unsure.has(payer)) return
    this.#unsure.add(payer)
    const before = { ...payer }
    const person = turn % didEvery === 0 ? holder() : undefined
    const operation = person?.create()
    const changes = operation === undefined ? {} : ({ payload: { type: 10, operation } } as const)
    const transaction = selfTransfer(payer, assetId, changes, operation === undefined ? undefined : operationFee)
    const index = turn % nodes.length
    const sent = new NodeClient({ rest: (nodes[index] as Places).rest }).sendRawTransaction(transaction.toHex())
    try {
      await (index === 0 ? this.latencies.of('submission', sent) : sent)
    } catch (error) {
      // Refused, so not accepted.
      if (error instanceof NodeRefusal) this.#unsure.delete(payer)
      Object.assign(payer, before)
      throw error
    }
    this.#unsure.delete(payer)
    this.acknowledged.add(transaction.txid)
    this.#count('transactions')
    this.#txid = transaction.txid
    this.#did = person?.did ?? this.#did
  }

  async #ask(turn: number): Promise<void> {
    const [{ rest, rpc }] = this.#options.nodes as [Places]
    const call = (method: string, params: object) => ({ url: rpc, body: JSON.stringify({ id: 1, method, params }) })
    const questions = [
      { url: `${rest}/api/v1/block/height` },
      { url: `${rest}/api/v1/block/details/height/1` },
      { url: `${rest}/api/v1/transaction/${this.#txid}` },
      { url: `${rest}/api/v1/transactionpool` },
      { url: `${rest}/metrics` },
      call('getnodestate', {}),
      call('getsyncstatus', {}),
      call('getarbitersinfo', {}),
      call('resolvedid', { did: this.#did, all: false }),
      call('nosuchmethod', {}),
    ]
    const { url, body } = questions[turn % questions.length] as { url: string; body?: string }
    await answerOf(url, body)
    this.#count('requests')
  }

  /** Sends a request that is answered from one or two rows, like most of the users' requests. */
  async #probe(turn: number): Promise<void> {
    const [{ rest, rpc }] = this.#options.nodes as [Places]
    const body = JSON.stringify({ id: 1, method: 'resolvedid', params: { did: this.#did, all: false } })
    const height = `${rest}/api/v1/block/height`
    if (turn % 2 === 0) await this.latencies.of('block/height', answerOf(height, undefined, this.#kept))
    else await this.latencies.of('resolvedid', answerOf(rpc, body, this.#kept))
    this.#count('probes')
  }

  /** Receives events for a while; every other subscriber disconnects without a close frame. */
  async #subscribe(turn: number): Promise<void> {
    const [{ ws }] = this.#options.nodes as [Places]
    const client = await WsClient.open(ws)
    this.#subscribers.add(client)
    client.ws.on('error', (error) => this.#count(`subscribers in vain (${error.message})`))
    const params = { topics: ['block', 'transaction', 'did'], ...(turn % 3 === 0 ? { fromHeight: 0 } : {}) }
    client.ws.send(JSON.stringify({ id: 1, method: 'subscribe', params }))
    await setTimeout(stay)
    if (turn % 2 === 0) client.ws.close()
    else client.ws.terminate()
    this.#subscribers.delete(client)
    this.#count('subscribers')
  }
}

/** Sends a request, over a new connection unless there is an agent, and reads the answer. */
function answerOf(url: string, body: string | undefined, agent: Agent | false = false): Promise<void> {
  return new Promise((resolve, reject) => {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const fail = (error: Error) => reject(new Error(`${kindOf(url, body)}: ${error.message}`))
    const asked = request(url, { agent, timeout: patience, ...(body === undefined ? {} : post) }, (answer) => {
      answer.resume().on('error', fail)
      answer.on('end', () => (answer.statusCode === 503 ? fail(new Error('busy')) : resolve()))
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer')))
    asked.on('error', fail)
    asked.end(body)
  })
}

/** The kind of a request: its method, or its path without variable parts. */
function kindOf(url: string, body: string | undefined): string {
  if (body !== undefined) return (JSON.parse(body) as { method: string }).method
  return new URL(url).pathname.replace('/api/v1/', '').replace(/\/[0-9a-f]+$/, '')
}
