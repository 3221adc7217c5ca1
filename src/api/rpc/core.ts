import { parse } from 'lossless-json'
import type { Log } from '../../env.js'
import { RuleError } from '../../errors.js'
import { utf8 } from '../../primitives/bytes.js'
import { rpcFailure, rpcSuccess } from '../answer.js'
import type { ApiContext } from '../context.js'
import { ruleErrorOf } from '../failures.js'
import { apiLimits } from '../limits.js'

/** One method: everything a new one needs is a row with a name and a function. */
export interface RpcMethod {
  readonly name: string
  /** Changes the node, not only its answers: the request must be application/json and not from another site's page. */
  readonly control?: boolean
  /** `params` as they came, never text, number or boolean: undefined, null, an array or an object. Returns the result. */
  run(context: ApiContext, params: unknown): unknown
}

/** What HTTP says about a request that methods may depend on. */
export interface RpcCaller {
  /** Why this caller may not use methods with `control`; undefined: it may. */
  readonly controlRefusal: string | undefined
}

/** `id` is JSON text; undefined: nobody waits for an answer. */
interface Call {
  readonly id: string | undefined
  readonly method: string
  readonly params: unknown
}

const wholeNumber = /^-?\d+(?:[eE]\+?\d+)?$/

/** JSON-RPC 2.0 over any carrier of bytes. Answers in full what can be known before HTTP is involved. */
export class RpcCore {
  readonly #context: ApiContext
  readonly #log: Log
  readonly #methods: ReadonlyMap<string, RpcMethod>
  readonly #batch: number

  constructor(context: ApiContext, methods: readonly RpcMethod[]) {
    this.#context = context
    this.#log = context.log
    this.#methods = new Map(methods.map((method) => [method.name, method]))
    this.#batch = { ...apiLimits, ...context.limits }.batch
  }

  /** The answer to a body, or undefined where none is due. Never rejects. */
  async handle(body: Uint8Array | undefined, caller: RpcCaller): Promise<string | undefined> {
    let requests: unknown
    let exact: unknown
    try {
      ;[requests, exact] = readBody(body)
      if (!Array.isArray(requests)) return await this.#answer(requests, exact, caller)
      this.#checkBatch(requests)
    } catch (error) {
      return rpcFailure('null', ruleErrorOf(error, this.#log))
    }
    const answers: string[] = []
    // One after another: a batch is one client's turn.
    for (const [i, request] of requests.entries()) {
      const answer = await this.#answer(request, (exact as unknown[])[i], caller)
      if (answer !== undefined) answers.push(answer)
    }
    return answers.length === 0 ? undefined : `[${answers.join(',')}]`
  }

  #checkBatch({ length }: readonly unknown[]): void {
    if (length === 0) throw new RuleError('request-form', 'the batch is empty')
    if (length > this.#batch) {
      throw new RuleError('request-form', `${length} requests in one batch, at most ${this.#batch} are allowed`)
    }
  }

  async #answer(request: unknown, exact: unknown, caller: RpcCaller): Promise<string | undefined> {
    let call: Call
    try {
      call = readCall(request, exact)
    } catch (error) {
      return rpcFailure('null', ruleErrorOf(error, this.#log))
    }
    const { id } = call
    try {
      const result = await this.#run(call, caller)
      return id === undefined ? undefined : rpcSuccess(id, JSON.stringify(result))
    } catch (error) {
      const failure = ruleErrorOf(error, this.#log)
      return id === undefined ? undefined : rpcFailure(id, failure)
    }
  }

  #run({ method: name, params }: Call, { controlRefusal }: RpcCaller): unknown {
    const method = this.#methods.get(name)
    if (method === undefined) {
      throw new RuleError('request-action', `there is no method ${JSON.stringify(name.slice(0, 80))}`)
    }
    if (method.control === true && controlRefusal !== undefined) {
      throw new RuleError('request-forbidden', `${name}: ${controlRefusal}`)
    }
    return method.run(this.#context, params)
  }
}

/**
 * The parsed body, and beside it the same value with every number as the text it was written in: ids are answered
 * exactly, however large. Throws `request-json`.
 */
function readBody(body: Uint8Array | undefined): [unknown, unknown] {
  const text = body === undefined ? undefined : utf8(body)
  if (text === undefined || text === '') {
    throw new RuleError('request-json', 'the body is empty or not UTF-8')
  }
  try {
    const value: unknown = JSON.parse(text)
    const exact = hasNumberId(value)
      ? parse(text, undefined, { parseNumber: (digits) => digits, onDuplicateKey: ({ newValue }) => newValue })
      : value
    return [value, exact]
  } catch (error) {
    throw new RuleError('request-json', `the body is not JSON: ${(error as Error).message}`)
  }
}

function hasNumberId(value: unknown): boolean {
  return Array.isArray(value) ? value.some(hasNumber) : hasNumber(value)
}

function hasNumber(request: unknown): boolean {
  return isObject(request) && typeof request['id'] === 'number'
}

/** Checks the members of a request object; `request-form` for anything that is none. */
function readCall(request: unknown, exact: unknown): Call {
  if (!isObject(request)) throw new RuleError('request-form', 'a request is an object')
  // Own members only: a body may have one called __proto__, which is data like any other.
  const members = new Map(Object.entries(request))
  if (members.has('jsonrpc') && members.get('jsonrpc') !== '2.0') {
    throw new RuleError('request-form', 'jsonrpc: only "2.0" is spoken; the member may also be missing')
  }
  const method = members.get('method')
  if (typeof method !== 'string') throw new RuleError('request-form', 'method: missing or not a string')
  const params = members.get('params')
  if (params !== undefined && typeof params !== 'object') {
    throw new RuleError('request-form', 'params: neither an object nor an array')
  }
  if (!members.has('id')) return { id: members.has('jsonrpc') ? undefined : 'null', method, params }
  return { id: idText(members.get('id'), isObject(exact) ? exact['id'] : undefined), method, params }
}

/** The JSON text that echoes an id. */
function idText(id: unknown, exact: unknown): string {
  if (id === null || typeof id === 'string') return JSON.stringify(id)
  if (typeof id === 'number' && typeof exact === 'string' && wholeNumber.test(exact)) return exact
  throw new RuleError('request-form', 'id: neither a string, nor an integer, nor null')
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
