import { brokenRule } from '../../../base/errors/broken-rule.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { isObject } from '../../../base/primitives/answer-form.js'
import { defined } from '../../../base/primitives/defined.js'
import { Transaction } from '../../../base/primitives/transaction.js'
import { runCooperatively } from '../../../base/runtime/cooperative.js'
import { requestText, type TextAnswer } from '../../../base/runtime/http-request.js'
import type { AnswerClient, FollowedView, PassedAnswer } from '../node-handles.js'
import { jsonType } from './answer-forms.js'

/** @limit count: transactions that a follower passes on at a time */
const atOnce = 64
/** @tuning ms: wait for the answer of the node that is followed */
const patience = 10_000
/** @tuning bytes: an answer of that node */
const longestAnswer = 8 * 1024 * 1024

/** A question that nodes alone can answer: a gateway has rows, and no pool, peers or votes. */
export class NeedsNode extends Error {}

/** An error of JSON-RPC as the node that is followed gave it. */
export class PassedError extends Error {
  /** JSON of the object `error`. */
  readonly json: string
  readonly code: number

  constructor(error: Readonly<Record<string, unknown>>) {
    super('the node that is followed refuses')
    this.json = JSON.stringify(error)
    this.code = typeof error['code'] === 'number' ? error['code'] : 0
  }
}

/**
 * Refuses bytes that no node takes, in the words of each, before they have a place: a node that cannot read a transaction cannot follow a
 * chain with it either.
 */
export async function requireTransaction(bytes: Uint8Array): Promise<void> {
  const { isCoinbase } = await runCooperatively(Transaction.fromBytesSteps(bytes))
  if (isCoinbase) throw brokenRule('pool-coinbase')
}

/**
 * Passes transactions on to the node that a follower follows, at one of its interfaces; answers are those of that node. A client never has
 * more of the places than are free: where that node hangs, the transactions of one do not keep out those of others.
 */
export class PassedOn implements FollowedView {
  readonly url: string
  /** Transactions under way, of each client that has some. */
  readonly #held = new Map<string, number>()
  #open = 0

  readonly #seen: (height: number, client: AnswerClient) => Promise<void> | undefined

  /** `url`: base URL of its REST port. `seen`: awaited with the height of each answer before that one is returned. */
  constructor(
    url: string,
    seen: (height: number, client: AnswerClient) => Promise<void> | undefined = () => undefined,
  ) {
    this.url = url
    this.#seen = seen
  }

  async call(method: string, params: unknown, client: AnswerClient): Promise<unknown> {
    const { text } = await this.#ask('/rpc', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), client)
    const answer = parsed(text)
    if (isObject(answer) && isObject(answer['error'])) throw new PassedError(answer['error'])
    if (isObject(answer) && answer['result'] !== undefined) return answer['result']
    throw unanswered('its answer is none of JSON-RPC')
  }

  post(path: string, body: string, client: AnswerClient): Promise<PassedAnswer> {
    return this.request(path, body, client)
  }

  /** Its answer at a path; `body`: JSON text of a POST. */
  async request(path: string, body: string | undefined, client: AnswerClient): Promise<PassedAnswer> {
    const { status, headers, text } = await this.#ask(path, body, client)
    const { 'content-type': type = jsonType, 'retry-after': retry } = headers
    const height = headers['x-chain-height']?.toString()
    const shown = defined({ 'retry-after': retry, 'x-chain-height': height })
    return { status, headers: { 'content-type': type, ...shown }, body: text }
  }

  async #ask(path: string, body: string | undefined, client: AnswerClient): Promise<TextAnswer> {
    const answer = await this.#askAlone(path, body, client)
    const height = Number(answer.headers['x-chain-height'] ?? 0)
    if (height > 0) await this.#seen(height, client)
    return answer
  }

  /** `body`: JSON text, which goes as it stands. A client that leaves gives its place to the next one. */
  async #askAlone(path: string, body: string | undefined, { share, signal }: AnswerClient): Promise<TextAnswer> {
    this.#take(share)
    try {
      return await requestText(this.url + path, body, { timeout: patience, maxAnswer: longestAnswer, signal })
    } catch {
      signal.throwIfAborted()
      // The address of that node is none of the client's business.
      throw unanswered('it does not answer')
    } finally {
      this.#giveBack(share)
    }
  }

  #take(share: string): void {
    const held = this.#held.get(share) ?? 0
    if (held >= atOnce - this.#open) {
      throw new RuleError('busy', 'too many transactions are being passed on; try again')
    }
    this.#held.set(share, held + 1)
    this.#open++
  }

  #giveBack(share: string): void {
    const left = (this.#held.get(share) ?? 1) - 1
    if (left === 0) this.#held.delete(share)
    else this.#held.set(share, left)
    this.#open--
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unanswered(why: string): RuleError {
  return new RuleError(
    'followed-unreachable',
    `the node that this one follows got no further: ${why}; it may have the transaction nevertheless`,
  )
}
