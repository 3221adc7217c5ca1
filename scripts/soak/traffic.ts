import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Hash } from '../../src/primitives/hash.js'
import { holder } from '../../test/support/did.js'
import { type Payer, selfTransfer } from '../bench/load.js'
import { type Places, send } from '../bench/local-nodes.js'

/** A second. */
const transactionRate = 4
const requestRate = 10
const subscriberRate = 1
/** Every so many transactions one registers a DID. */
const didEvery = 10
/** Milliseconds that a subscriber stays. */
const stay = 4000

export interface TrafficOptions {
  /** All nodes; the first is the one that clients come to. */
  readonly nodes: readonly Places[]
  readonly payers: readonly Payer[]
  readonly assetId: Hash
}

/** Users: transactions to all nodes in turn; clients of REST, JSON-RPC and WebSocket that come to the first one and go. */
export class Traffic {
  readonly counts: Record<string, number> = { transactions: 0, requests: 0, subscribers: 0 }
  readonly #options: TrafficOptions
  readonly #ended = new AbortController()
  readonly #sockets = new Set<WebSocket>()
  /** The last of each, to be asked for. */
  #txid = '00'.repeat(32)
  #did = holder().did

  constructor(options: TrafficOptions) {
    this.#options = options
    void this.#repeat(transactionRate, (turn) => this.#pay(turn))
    void this.#repeat(requestRate, (turn) => this.#ask(turn))
    void this.#repeat(subscriberRate, (turn) => this.#subscribe(turn))
  }

  stop(): void {
    this.#ended.abort()
    for (const socket of this.#sockets) socket.terminate()
  }

  async #repeat(rate: number, act: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !this.#ended.signal.aborted; turn++) {
      await setTimeout(1000 / rate)
      if (!this.#ended.signal.aborted)
        act(turn).catch((error: unknown) => this.#count(`in vain (${(error as Error).message.slice(0, 60)})`))
    }
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1
  }

  async #pay(turn: number): Promise<void> {
    const { nodes, payers, assetId } = this.#options
    const payer = payers[turn % payers.length] as Payer
    const before = { ...payer }
    const person = turn % didEvery === 0 ? holder() : undefined
    const operation = person?.create()
    const payload = operation === undefined ? undefined : ({ type: 10, operation } as const)
    const transaction = selfTransfer(payer, assetId, payload)
    try {
      await send(nodes[turn % nodes.length] as Places, transaction.toHex())
    } catch (error) {
      Object.assign(payer, before)
      throw error
    }
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

  /** Hears events for a while; every other one goes without a word. */
  async #subscribe(turn: number): Promise<void> {
    const [{ ws }] = this.#options.nodes as [Places]
    const socket = new WebSocket(ws)
    this.#sockets.add(socket)
    try {
      socket.on('error', (error) => this.#count(`subscribers in vain (${error.message})`))
      await once(socket, 'open')
      const params = { topics: ['block', 'transaction', 'did'], ...(turn % 3 === 0 ? { fromHeight: 0 } : {}) }
      socket.send(JSON.stringify({ id: 1, method: 'subscribe', params }))
      await setTimeout(stay)
      if (turn % 2 === 0) socket.close()
      else socket.terminate()
      this.#count('subscribers')
    } finally {
      this.#sockets.delete(socket)
    }
  }
}

/** Asks over a connection that is made for it, and reads the answer. */
function answerOf(url: string, body: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const asked = request(url, { agent: false, ...(body === undefined ? {} : post) }, (answer) => {
      answer.resume().on('end', resolve).on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
