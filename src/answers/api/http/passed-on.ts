import { RuleError } from '../../../base/errors/rule-error.js'
import { isObject } from '../../../base/primitives/answer-form.js'
import { defined } from '../../../base/primitives/defined.js'
import { requestText, type TextAnswer } from '../../../base/runtime/http-request.js'
import { jsonType } from './answer-forms.js'
import type { FollowedView, PassedAnswer } from '../node-handles.js'

/** @limit count: transactions that a follower passes on at a time */
const atOnce = 64
/** @tuning ms: wait for the answer of the node that is followed */
const patience = 30_000
/** @tuning bytes: an answer of that node to a transaction */
const longestAnswer = 1024 * 1024

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

/** Passes transactions on to the node that a follower follows, at one of its interfaces; answers are those of that node. */
export class PassedOn implements FollowedView {
  readonly url: string
  #open = 0

  /** `url`: base URL of its REST port. */
  constructor(url: string) {
    this.url = url
  }

  async call(method: string, params: unknown): Promise<unknown> {
    const { text } = await this.#ask('/rpc', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const answer = parsed(text)
    if (isObject(answer) && isObject(answer['error'])) throw new PassedError(answer['error'])
    if (isObject(answer) && answer['result'] !== undefined) return answer['result']
    throw unanswered('its answer is none of JSON-RPC')
  }

  async post(path: string, body: string): Promise<PassedAnswer> {
    const { status, headers, text } = await this.#ask(path, body)
    const { 'content-type': type = jsonType, 'retry-after': retry } = headers
    return { status, headers: { 'content-type': type, ...defined({ 'retry-after': retry }) }, body: text }
  }

  /** `body`: JSON text, which goes as it stands. */
  async #ask(path: string, body: string): Promise<TextAnswer> {
    if (this.#open >= atOnce) throw new RuleError('busy', 'too many transactions are being passed on; try again')
    this.#open++
    try {
      return await requestText(this.url + path, body, { timeout: patience, maxAnswer: longestAnswer })
    } catch {
      // The address of that node is none of the client's business.
      throw unanswered('it does not answer')
    } finally {
      this.#open--
    }
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
