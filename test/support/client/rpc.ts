import { AnswerAdmission } from '../../../src/answers/api/streams/admission.js'
import type { ApiContext } from '../../../src/answers/api/api-context.js'
import { apiLimits } from '../../../src/answers/api/api-limits.js'
import { SharedAnswers } from '../../../src/answers/api/streams/shared-answer.js'
import { rpcMethods } from '../../../src/answers/api/rpc/all-methods.js'
import type { RpcCaller } from '../../../src/answers/api/rpc/method.js'
import { type RpcAnswer, RpcCore } from '../../../src/answers/api/rpc/rpc-core.js'
import { beginningOf } from '../../../src/answers/api/streams/answer-stream.js'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import { expectSchema } from '../assert/schema.js'

/** Someone who may do everything. */
export const owner: RpcCaller = {
  controlRefusal: undefined,
  adminRefusal: undefined,
  strangerRefusal: undefined,
  elsewhereRefusal: undefined,
  place: '127.0.0.1 20336',
  client: { share: 'test', signal: new AbortController().signal },
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data: string
}

/** Asks the methods of a context without a carrier. */
export class RpcClient {
  readonly #core: RpcCore
  readonly #methods: ReturnType<typeof rpcMethods>

  constructor(context: ApiContext) {
    this.#methods = rpcMethods(context)
    this.#core = new RpcCore(context, this.#methods, new SharedAnswers(new AnswerAdmission(apiLimits)))
  }

  /** The result of a call, which is held against the schema of the method; an error fails the test. */
  async call<T>(method: string, params: unknown = {}): Promise<T> {
    const answer = await this.#ask(method, params, owner)
    if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`)
    const row = this.#methods.find(({ name }) => name === method)
    if (row !== undefined) expectSchema(row.result, answer.result)
    return answer.result as T
  }

  /** The error of a call; a result fails the test. */
  async refusal(method: string, params: unknown = {}, caller: RpcCaller = owner): Promise<RpcError> {
    const answer = await this.#ask(method, params, caller)
    if (answer.error === undefined) throw new Error(`${method} answered ${JSON.stringify(answer.result)}`)
    return answer.error
  }

  async #ask(method: string, params: unknown, caller: RpcCaller): Promise<{ result?: unknown; error?: RpcError }> {
    return this.askText(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), caller)
  }

  /** The answer to a body. */
  async askText(body: string, caller: RpcCaller = owner): Promise<{ result?: unknown; error?: RpcError }> {
    return JSON.parse((await wholeText(await this.#core.handle(fromUtf8(body), caller))) as string)
  }
}

/** The whole text of an answer, of any length. */
export async function wholeText(answer: RpcAnswer | undefined): Promise<string | undefined> {
  if (answer === undefined || typeof answer === 'string') return answer
  if (Buffer.isBuffer(answer)) return answer.toString()
  const { parts } = await beginningOf(answer, Infinity)
  return parts.length === 0 ? undefined : Buffer.concat(parts).toString()
}
