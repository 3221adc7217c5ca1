import { brokenRule } from '../../../base/errors/broken-rule.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { isObject } from '../../../base/primitives/is-object.js'
import { parsedJson } from '../../../base/primitives/parsed-json.js'
import { defined } from '../../../base/primitives/defined.js'
import { Transaction } from '../../../base/primitives/transaction.js'
import { runCooperatively } from '../../../base/runtime/cooperative.js'
import { requestText, type TextAnswer, type TextBounds } from '../../../base/runtime/http-request.js'
import type { AnswerClient, CallEffect, FollowedView, PassedAnswer } from '../node-handles.js'
import { jsonType } from './answer-forms.js'
import { ChainOfNode, type OwnChain } from './chain-of-node.js'
import { unanswered } from './unanswered.js'

/** @limit count: transactions that a follower passes on at a time */
const atOnce = 64
/** @tuning ms: wait for the answer of the node that is followed */
export const nodePatience = 10_000
/** @tuning bytes: an answer of that node */
const longestAnswer = 8 * 1024 * 1024

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

/** The heights between a node and who passes its answers on. */
export interface PassedHeights {
  /** The height below which a node must not answer. */
  own(): number
  /** Awaited with the height of an answer before that one is returned. */
  seen(height: number, client: AnswerClient): Promise<void>
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

  readonly #chain: ChainOfNode
  readonly #heights: PassedHeights | undefined

  /** `url`: base URL of its REST port. */
  constructor(url: string, own: OwnChain, heights?: PassedHeights) {
    this.url = url
    this.#chain = new ChainOfNode(url, own)
    this.#heights = heights
  }

  /** Resolves for a node of the own chain; rejects with `followed-unreachable`. */
  requireOwnChain(signal?: AbortSignal): Promise<void> {
    return this.#chain.require(signal)
  }

  async call(method: string, params: unknown, client: AnswerClient, effect: CallEffect): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const { text } = await this.#ask('/rpc', body, client, effect)
    const answer = parsedJson(text)
    if (isObject(answer) && isObject(answer['error'])) throw new PassedError(answer['error'])
    if (isObject(answer) && answer['result'] !== undefined) return answer['result']
    throw unanswered('its answer is none of JSON-RPC', effect)
  }

  post(path: string, body: string, client: AnswerClient): Promise<PassedAnswer> {
    return this.request(path, body, client)
  }

  /** Its answer at a path; `body`: JSON text of a POST. */
  async request(path: string, body: string | undefined, client: AnswerClient): Promise<PassedAnswer> {
    const { status, headers, text } = await this.#ask(path, body, client, body === undefined ? 'none' : 'repeatable')
    const { 'content-type': type = jsonType, 'retry-after': retry } = headers
    const height = headers['x-chain-height']?.toString()
    const shown = defined({ 'retry-after': retry, 'x-chain-height': height })
    return { status, headers: { 'content-type': type, ...shown }, body: text }
  }

  async #ask(path: string, body: string | undefined, client: AnswerClient, effect: CallEffect): Promise<TextAnswer> {
    const heights = this.#heights
    if (heights === undefined) return this.#askAlone(path, body, client, effect)
    const least = heights.own()
    const answer = await this.#askAlone(path, body, client, effect, { 'x-min-height': String(least) })
    const height = Number(answer.headers['x-chain-height'] ?? least)
    // Also of a header that is no number.
    if (answer.status === 503 || !(height >= least)) {
      throw new RuleError('behind-height', `no node is at height ${least} and has time; ask again`)
    }
    await heights.seen(height, client)
    return answer
  }

  /** `body`: JSON text, which goes as it stands. A client that leaves gives its place to the next one. */
  async #askAlone(
    path: string,
    body: string | undefined,
    { share, signal }: AnswerClient,
    effect: CallEffect,
    headers: NonNullable<TextBounds['headers']> = {},
  ): Promise<TextAnswer> {
    this.#take(share)
    try {
      await this.#chain.require(signal)
      return await this.#send(path, body, signal, effect, headers)
    } finally {
      this.#giveBack(share)
    }
  }

  async #send(
    path: string,
    body: string | undefined,
    signal: AbortSignal,
    effect: CallEffect,
    headers: NonNullable<TextBounds['headers']>,
  ): Promise<TextAnswer> {
    const bounds = { timeout: nodePatience, maxAnswer: longestAnswer, signal, headers, once: effect === 'once' }
    try {
      return await requestText(this.url + path, body, bounds)
    } catch {
      signal.throwIfAborted()
      this.#chain.forget()
      // The address of that node is none of the client's business.
      throw unanswered('it does not answer', effect)
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
