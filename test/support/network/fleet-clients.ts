import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { codes } from '../../../src/node/library/codes.js'
import type { NodeClient } from '../../../src/clients/client/node-client.js'
import { devnetAccount } from '../../../src/clients/wallet/devnet-accounts.js'
import type { SpendableCoin } from '../../../src/clients/wallet/coins.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import type { Payer } from '../builders/test-payer.js'
import { type Answer, ask } from '../client/api.js'
import type { NodeProcess } from '../process/spawn.js'

/** Clients of a fleet: each writes through it, and reads by it what it wrote. */

/** Looks at the node that makes blocks, instead of each client. */
export class BlockWatch {
  /** Height of the block of each transaction. */
  readonly #heights = new Map<string, number>()
  /** Transactions that were found in two blocks. */
  readonly twice: string[] = []
  readonly #waiting = new Map<string, (height: number) => void>()
  readonly #node: () => NodeProcess
  #height: number
  #closed = false
  #running: Promise<void> | undefined

  /** `node`: asked again each time, for it may be another process. */
  constructor(node: () => NodeProcess, height: number) {
    this.#node = node
    this.#height = height
  }

  get height(): number {
    return this.#height
  }

  get client(): NodeClient {
    return this.#node().client
  }

  start(): void {
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  heightOf(txid: string): number | undefined {
    return this.#heights.get(txid)
  }

  /** Resolves with the height of the block that has a transaction, before any follower need have it. */
  async mined(txid: string): Promise<number> {
    return this.#heights.get(txid) ?? (await new Promise((resolve) => this.#waiting.set(txid, resolve)))
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      // It may be starting again.
      await this.#look().catch(() => {})
      await pause(50)
    }
  }

  async #look(): Promise<void> {
    const { body } = await this.#node().get('block/height')
    while (this.#height < (body.Result as number)) {
      const next = this.#height + 1
      const block = (await this.#node().get(`block/transactions/height/${next}`)).body
      for (const txid of (block.Result as { readonly Transactions: readonly string[] }).Transactions)
        this.#found(txid, next)
      this.#height = next
    }
  }

  #found(txid: string, height: number): void {
    if (this.#heights.has(txid)) this.twice.push(txid)
    this.#heights.set(txid, height)
    this.#waiting.get(txid)?.(height)
    this.#waiting.delete(txid)
  }
}

/** An answer with its height. */
interface Said {
  readonly status: number
  /** `X-Chain-Height`. */
  readonly height: number
  readonly body: unknown
}

/** Members of an answer of JSON-RPC. */
interface CallBody {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly data: string }
}

/** A question of a client, with its right answers. */
interface Question {
  readonly path: string
  /** A call of JSON-RPC; absent: a GET. */
  readonly call?: { readonly method: string; readonly params: object }
  /** Whether an answer is right. */
  holds(body: unknown): boolean
}

export interface FleetOptions {
  /** Base URL of the balancer. */
  readonly fleet: string
  readonly blocks: BlockWatch
  readonly payer: Payer
  /** Reads after each write. */
  readonly reads: number
}

/** One client, which has an account to itself: it writes, learns the height of its block, and asks what came of it again and again. */
export class FleetClient {
  /** Ids of the transactions that were taken. */
  readonly sent: string[] = []
  readonly wrong: unknown[] = []
  operations = 0
  /** Answers that said try again, and those that did not come. */
  again = 0
  readonly #options: FleetOptions
  readonly #account: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #coin: SpendableCoin
  #did: { txid: string; payload: string; count: number } | undefined
  /** Greatest height of an answer so far. */
  #seen = 0

  /** `coin`: of the account, which pays for all that the client writes. */
  constructor(options: FleetOptions, account: number, coin: SpendableCoin) {
    this.#options = options
    this.#account = account
    this.#coin = coin
  }

  async work(stopped: () => boolean): Promise<void> {
    while (!stopped()) await this.round()
    this.#agent.destroy()
  }

  /** A write, and reads of it. */
  async round(): Promise<void> {
    const { blocks, reads } = this.#options
    const { transaction, questions } = this.#account % 2 === 0 ? await this.#payment() : this.#operation()
    await this.#send(transaction)
    const height = await blocks.mined(transaction.txid)
    for (let i = 0; i < reads; i++) await this.#read(questions[i % questions.length] as Question, height)
  }

  /** A payment to an address that has got nothing so far. */
  async #payment(): Promise<{ transaction: Transaction; questions: readonly Question[] }> {
    const { payer, blocks } = this.#options
    const { address } = devnetAccount(10_000 + this.#account * 1000 + this.sent.length)
    const transaction = await payer.transfer(blocks.client, this.#account, address, 1000n, [this.#coin])
    const { txid } = transaction
    const received = (body: unknown) => (body as { result?: unknown }).result === '0.00001000'
    const stands = (body: unknown) => (body as { Result?: { txid?: unknown } }).Result?.txid === txid
    const call = { method: 'getreceivedbyaddress', params: { address } }
    return {
      transaction,
      questions: [
        { path: '/rpc', call, holds: received },
        { path: `/api/v1/transaction/${txid}`, holds: stands },
      ],
    }
  }

  /** The next operation of the DID of this client. */
  #operation(): { transaction: Transaction; questions: readonly Question[] } {
    const { payer } = this.#options
    const { did } = devnetAccount(this.#account)
    const transaction = payer.identity(this.#account, this.#account, [this.#coin], this.#did)
    const { txid } = transaction
    if (transaction.payload.type === 10) {
      const { payload } = transaction.payload.operation
      this.#did = { txid, payload, count: (this.#did?.count ?? 0) + 1 }
    }
    const isLast = (body: unknown) => JSON.stringify(body).includes(txid)
    const call = { method: 'resolvedid', params: { did, all: false } }
    return {
      transaction,
      questions: [
        { path: `/1.0/identifiers/${did}`, holds: isLast },
        { path: '/rpc', call, holds: isLast },
      ],
    }
  }

  /** Sends until it is clear that the transaction arrived: an answer that was lost leaves that open. */
  async #send(transaction: Transaction): Promise<void> {
    const { blocks } = this.#options
    const { txid } = transaction
    const call = { method: 'sendrawtransaction', params: { data: transaction.toHex() } }
    for (;;) {
      const { status, body } = await this.#ask({ path: '/rpc', call, holds: () => true }, 0)
      const { result, error } = (body ?? {}) as CallBody
      const isKnown = error?.data.startsWith(`${codes['tx-known'].rest} `) ?? false
      if (result === txid || isKnown || blocks.heightOf(txid) !== undefined) break
      if (!isForLater({ status, body })) this.wrong.push({ txid, result, error })
      this.again++
      await pause(20)
    }
    this.sent.push(txid)
    this.operations++
    const index = transaction.outputs.reduce(
      (best, { value }, i, all) => (value > (all[best]?.value ?? 0n) ? i : best),
      0,
    )
    this.#coin = { txid: transaction.hash, index, value: transaction.outputs[index]?.value ?? 0n }
  }

  /** A read that has to be as new as all that this client has seen; a busy fleet is asked again. */
  async #read(question: Question, height: number): Promise<void> {
    const least = Math.max(this.#seen, height)
    for (;;) {
      const answer = await this.#ask(question, least)
      if (isForLater(answer)) {
        this.again++
        await pause(20)
        continue
      }
      this.operations++
      if (answer.height < least || answer.status !== 200 || !question.holds(answer.body)) {
        this.wrong.push({ path: question.path, call: question.call, least, ...answer })
      }
      this.#seen = Math.max(this.#seen, answer.height)
      return
    }
  }

  /** Asks the fleet, for a height in the header or, every other call of JSON-RPC, in its body. */
  async #ask({ path, call }: Question, least: number): Promise<Said> {
    const inBody = call !== undefined && this.operations % 2 === 0
    const body = call && JSON.stringify({ jsonrpc: '2.0', id: 1, ...call, ...(inBody ? { minHeight: least } : {}) })
    const headers = {
      ...(inBody ? {} : { 'x-min-height': String(least) }),
      ...(call && { 'content-type': 'application/json' }),
    }
    const { port } = new URL(this.#options.fleet)
    const question = { headers, agent: this.#agent, ...(body !== undefined && { method: 'POST', body }) }
    const answer = await ask(Number(port), path, question).catch((error: unknown) => lost(error))
    return { status: answer.status, height: Number(answer.headers['x-chain-height']), body: answer.body }
  }
}

/** Errors of JSON-RPC after which the same is asked again. */
const forLater: readonly number[] = (['followed-unreachable', 'busy', 'resolver-behind'] as const).map(
  (code) => codes[code].rpc,
)

/** Whether an answer says no more than that there is none now. */
function isForLater({ status, body }: Pick<Said, 'status' | 'body'>): boolean {
  return status === 502 || status === 503 || forLater.includes((body as CallBody | undefined)?.error?.code ?? 0)
}

/** Stands for an answer that did not come. */
function lost(error: unknown): Pick<Answer, 'status' | 'headers' | 'body'> {
  return { status: 502, headers: {}, body: String(error) }
}
