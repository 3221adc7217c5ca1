import type { Log } from '../../env.js'
import { codes, RuleError } from '../../errors.js'
import { utf8 } from '../../primitives/bytes.js'
import { rpcFailure, rpcSuccess } from '../answer.js'
import type { ApiContext } from '../context.js'
import type { Tally } from '../answer-metrics.js'
import { ruleErrorOf } from '../failures.js'
import { type ApiLimits, apiLimits } from '../limits.js'
import { numericIds } from './ids.js'
import { refuseManyValues } from './large-body.js'
import { JsonText, type RpcCaller, type RpcMethod } from './method.js'

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
  readonly #limits: ApiLimits
  readonly #carrier: 'http' | 'websocket'
  readonly #tallies = new Map<string | undefined, Tally>()

  constructor(context: ApiContext, methods: readonly RpcMethod[], carrier: 'http' | 'websocket' = 'http') {
    this.#context = context
    this.#carrier = carrier
    this.#log = context.log
    this.#methods = new Map(methods.map((method) => [method.name, method]))
    this.#limits = { ...apiLimits, ...context.limits }
  }

  /** The answer to a body, or undefined where none is due. Never rejects. */
  async handle(body: Uint8Array | undefined, caller: RpcCaller): Promise<string | undefined> {
    const began = performance.now()
    let requests: unknown
    let ids: readonly (string | undefined)[]
    try {
      if (body !== undefined) refuseManyValues(body, this.#limits)
      const text = textOf(body)
      requests = parseBody(text)
      if (Array.isArray(requests)) this.#checkBatch(requests)
      ids = hasNumericId(requests) ? numericIds(text) : []
    } catch (error) {
      return this.#refuse(error, began)
    }
    if (!Array.isArray(requests)) return this.#answer(requests, ids[0], caller)
    const answers: string[] = []
    let size = 0
    // One after another: a batch is one client's turn.
    for (const [i, request] of requests.entries()) {
      const answer = await this.#answer(request, ids[i], caller, size > this.#limits.batchAnswers)
      if (answer === undefined) continue
      size += answer.length
      answers.push(answer)
    }
    return answers.length === 0 ? undefined : `[${answers.join(',')}]`
  }

  #checkBatch({ length }: readonly unknown[]): void {
    if (length === 0) throw new RuleError('request-form', 'the batch is empty')
    const { batch } = this.#limits
    if (length > batch) {
      throw new RuleError('request-form', `${length} requests in one batch, at most ${batch} are allowed`)
    }
  }

  /** `full`: the answers before were so large that this one is only refused. */
  async #answer(
    request: unknown,
    numericId: string | undefined,
    caller: RpcCaller,
    full = false,
  ): Promise<string | undefined> {
    const began = performance.now()
    let call: Call
    try {
      call = readCall(request, numericId)
    } catch (error) {
      return this.#refuse(error, began)
    }
    const { id } = call
    try {
      if (full) throw new RuleError('busy', 'the answers of this batch are large enough; ask in another one')
      const result = await this.#run(call, caller)
      this.#count(call.method, 'ok', began)
      if (id === undefined) return undefined
      return rpcSuccess(id, result instanceof JsonText ? result.text : JSON.stringify(result))
    } catch (error) {
      const failure = ruleErrorOf(error, this.#log)
      this.#count(call.method, codes[failure.code].rpc, began)
      return id === undefined ? undefined : rpcFailure(id, failure)
    }
  }

  /** The answer to what is no request. */
  #refuse(error: unknown, began: number): string {
    const failure = ruleErrorOf(error, this.#log)
    this.#count(undefined, codes[failure.code].rpc, began)
    return rpcFailure('null', failure)
  }

  /** Under the name of a method only if it exists: what clients make up must not become labels. */
  #count(name: string | undefined, status: string | number, began: number): void {
    const known = name !== undefined && this.#methods.has(name) ? name : undefined
    let tally = this.#tallies.get(known)
    if (tally === undefined) {
      tally = this.#context.metrics.calls(this.#carrier, known)
      this.#tallies.set(known, tally)
    }
    tally.add(status, (performance.now() - began) / 1000)
  }

  #run({ method: name, params }: Call, caller: RpcCaller): unknown {
    const method = this.#methods.get(name)
    if (method === undefined) {
      throw new RuleError('request-action', `there is no method ${JSON.stringify(name.slice(0, 80))}`)
    }
    const refusal = refusalOf(method, caller)
    if (refusal !== undefined) throw new RuleError('request-forbidden', `${name}: ${refusal}`)
    return method.run(this.#context, params, caller)
  }
}

function refusalOf({ access }: RpcMethod, { controlRefusal, adminRefusal }: RpcCaller): string | undefined {
  if (access === 'public') return undefined
  return controlRefusal ?? (access === 'admin' ? adminRefusal : undefined)
}

/** The text of a body; `request-json` where there is none. */
function textOf(body: Uint8Array | undefined): string {
  const text = body === undefined ? undefined : utf8(body)
  if (text === undefined || text === '') throw new RuleError('request-json', 'the body is empty or not UTF-8')
  return text
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new RuleError('request-json', `the body is not JSON: ${(error as Error).message}`)
  }
}

/** Whether any request has an id that the text has to be asked for. */
function hasNumericId(body: unknown): boolean {
  return Array.isArray(body) ? body.some(isNumbered) : isNumbered(body)
}

function isNumbered(request: unknown): boolean {
  return isObject(request) && typeof own(request, 'id') === 'number'
}

/** Checks the members of a request object; `request-form` for anything that is none. */
function readCall(request: unknown, numericId: string | undefined): Call {
  if (!isObject(request)) throw new RuleError('request-form', 'a request is an object')
  const version = own(request, 'jsonrpc')
  if (version !== undefined && version !== '2.0') {
    throw new RuleError('request-form', 'jsonrpc: only "2.0" is spoken; the member may also be missing')
  }
  const method = own(request, 'method')
  if (typeof method !== 'string') throw new RuleError('request-form', 'method: missing or not a string')
  const params = own(request, 'params')
  if (params !== undefined && typeof params !== 'object') {
    throw new RuleError('request-form', 'params: neither an object nor an array')
  }
  const id = own(request, 'id')
  if (id === undefined) return { id: version === undefined ? 'null' : undefined, method, params }
  return { id: idText(id, numericId), method, params }
}

/** The JSON text that echoes an id. */
function idText(id: unknown, numericId: string | undefined): string {
  if (id === null || typeof id === 'string') return JSON.stringify(id)
  if (typeof id === 'number' && numericId !== undefined && wholeNumber.test(numericId)) return numericId
  throw new RuleError('request-form', 'id: neither a string, nor an integer, nor null')
}

/**
 * A member of a parsed object, undefined only where it is missing: JSON has no other. What the object inherits is none,
 * and a `__proto__` of its own is data like any other.
 */
function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
