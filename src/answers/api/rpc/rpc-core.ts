/**
 * JSON-RPC 2.0 for HTTP and WebSocket: reads calls, finds the method, writes answers. One *-methods.ts for each group.
 *
 *   bytes -> RpcCore.handle -> ids (as written), parameters by schema -> RpcMethod -> result | error with code and data
 *   carriers: paths/rpc-path (HTTP), ws/web-sockets; both give an RpcCaller, which says what it may do
 *
 * - A method states its parameters, result and access once; rpc.discover and docs/json-rpc.md are made of that.
 * - A batch is answered in order, one call after another, and ends with its client.
 */
import { RuleError } from '../../../base/errors/rule-error.js'
import { utf8 } from '../../../base/primitives/bytes.js'
import { isHeight } from '../../../base/primitives/height.js'
import type { Log } from '../../../base/runtime/env.js'
import type { Tally } from '../metrics/answer-metrics.js'
import type { ApiContext } from '../api-context.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import { callLine } from '../http/live-call.js'
import { rpcFailure, rpcFrame } from '../http/answer-forms.js'
import { requireHeight } from '../http/height-gate.js'
import { type KeptAnswer, type KeptAnswers, type KeptState, longestQuestion } from '../http/kept-answers.js'
import { interfaceErrors } from '../http/error-mapping.js'
import type { NodesBehind } from '../node-handles.js'
import { NeedsNode } from '../http/needs-node.js'
import { PassedError } from '../http/passed-on.js'
import type { SharedAnswers } from '../streams/shared-answer.js'
import { retryAfterOf, ruleErrorOf } from '../http/failures.js'
import { refuseManyValues } from '../http/large-body.js'
import { StreamedAnswer } from '../streams/streamed-answer.js'
import { type AnswerStream, beginningOf, framed, resumed } from '../streams/answer-stream.js'
import { numericId, numericIds } from './ids.js'
import { plainParams } from './plain-params.js'
import { JsonText, type RpcCaller, type RpcMethod } from './method.js'
import { isObject } from '../../../base/primitives/is-object.js'

/** The text of an answer, its bytes, or a stream of it. */
export type RpcAnswer = string | Buffer | AnswerStream

/** Parts of the context that the core itself uses. */
export interface RpcContext extends Pick<ApiContext, 'log' | 'limits'> {
  readonly metrics: Pick<ApiContext['metrics'], 'calls'>
  readonly nodes?: Pick<NodesBehind, 'call'>
  /** Runs what only reads; absent: at once. */
  settle?<T>(work: () => T | Promise<T>): Promise<T>
}

interface RpcCoreOptions {
  /** HTTP if absent. */
  readonly carrier?: 'http' | 'websocket'
  /** Keeps answers; absent: none is kept. */
  readonly kept?: KeptAnswers | undefined
}

/** An answer that may be kept: its question, and the state in which it began. */
interface Keeping {
  readonly question: string
  readonly state: KeptState
  readonly lasts: 'chain' | 'said'
}

/** `id` is JSON text; undefined: a notification, without an answer. */
interface Call {
  readonly id: string | undefined
  readonly method: string
  readonly params: unknown
}

/** A kept result as the answer to a call with an id. */
interface FramedAnswer {
  readonly id: string
  readonly body: Buffer
}

/** @tuning characters: JSON text of an id in a call whose answer is kept */
const longestId = 64
/** Bytes around a result whose call has such an id. */
const longestFrame = 512

const wholeNumber = /^-?\d+(?:[eE]\+?\d+)?$/

/** JSON-RPC 2.0 over any carrier of bytes. Makes complete answers, independent of HTTP. */
export class RpcCore<Context extends RpcContext = ApiContext> {
  readonly #context: Context
  readonly #log: Log
  readonly #methods: ReadonlyMap<string, RpcMethod<Context>>
  readonly #limits: ApiLimits
  readonly #carrier: 'http' | 'websocket'
  readonly #sharedAnswers: SharedAnswers
  readonly #tallies = new Map<string | undefined, Tally>()
  readonly #kept: KeptAnswers | undefined
  /** Kept answers in their frames, by the bytes of their results. */
  readonly #framed = new WeakMap<Buffer, FramedAnswer>()

  constructor(
    context: Context,
    methods: readonly RpcMethod<Context>[],
    sharedAnswers: SharedAnswers,
    { carrier = 'http', kept }: RpcCoreOptions = {},
  ) {
    this.#context = context
    this.#sharedAnswers = sharedAnswers
    this.#carrier = carrier
    this.#kept = kept
    this.#log = context.log
    this.#methods = new Map(methods.map((method) => [method.name, method]))
    this.#limits = { ...apiLimits, ...context.limits }
  }

  /**
   * The answer to a body; undefined for notifications alone, for which a stream may also be empty. Never rejects, but a stream
   * may, on a failure after its beginning. `refusal`: why none of its calls is run, which each of them is answered.
   */
  async handle(body: Uint8Array | undefined, caller: RpcCaller, refusal?: RuleError): Promise<RpcAnswer | undefined> {
    const began = performance.now()
    let requests: unknown
    let ids: readonly (string | undefined)[]
    try {
      if (body !== undefined) refuseManyValues(body, this.#limits)
      const text = textOf(body)
      requests = parseBody(text)
      if (Array.isArray(requests)) this.#checkBatch(requests)
      ids = idsOf(requests, text)
    } catch (error) {
      return this.#refuse(error, began)
    }
    const height = refusal === undefined ? leastHeightOf(requests) : undefined
    const refused = height === undefined ? refusal : await this.#awaitHeight(height, body, caller)
    if (!Array.isArray(requests)) return this.#answer(requests, ids[0], caller, refused)
    return this.#batch(requests, ids, caller, refused)
  }

  /** The kept answer at a height to a body that is one short call, found without waiting; undefined: {@link handle} answers. */
  keptFor(body: Uint8Array | undefined, height: number): Buffer | undefined {
    if (this.#kept === undefined || body === undefined || body.length > longestQuestion) return undefined
    const began = performance.now()
    let call: Call
    try {
      const text = textOf(body)
      const request = parseBody(text)
      // A height above it has to be waited for.
      if (!isObject(request) || (heightIn(request) ?? 0) > height) return undefined
      call = readCall(request, numericIdOf(request, text))
    } catch {
      return undefined
    }
    const question = this.#questionOf(call)
    const known = question === undefined ? undefined : this.#kept.get(question)
    if (known === undefined || call.id === undefined) return undefined
    this.#count(call.method, 'ok', began)
    return this.#inFrame(call.id, known.body)
  }

  /** Waits for the height that a body names; returns the refusal where the chain does not reach it. */
  async #awaitHeight(height: number, body: Uint8Array | undefined, caller: RpcCaller): Promise<RuleError | undefined> {
    try {
      await caller.awaitHeight?.(height, body?.length ?? 0)
      return undefined
    } catch (error) {
      const failure = ruleErrorOf(error, this.#log)
      if (failure.code === 'behind-height') caller.refused?.(failure)
      return failure
    }
  }

  /** Runs requests one after another: a batch counts as one client. Later requests run only when the client reads. */
  async *#batch(
    requests: readonly unknown[],
    ids: readonly (string | undefined)[],
    caller: RpcCaller,
    refused: RuleError | undefined,
  ): AnswerStream {
    let separator = '['
    let size = 0
    for (const [i, request] of requests.entries()) {
      const refusal = size > this.#limits.batchAnswers ? batchIsFull() : undefined
      const answer = await this.#answer(request, ids[i], caller, refused ?? refusal)
      if (answer === undefined) continue
      yield separator
      separator = ','
      for await (const part of typeof answer === 'string' || Buffer.isBuffer(answer) ? [answer] : answer) {
        size += part.length
        yield part
      }
    }
    if (separator === ',') yield ']'
  }

  #checkBatch({ length }: readonly unknown[]): void {
    if (length === 0) throw new RuleError('request-form', 'the batch is empty')
    const { batch } = this.#limits
    if (length > batch) {
      throw new RuleError('request-form', `${length} requests in one batch, at most ${batch} are allowed`)
    }
  }

  /** `refusal`: why this request is not run, once it is known to be one. */
  async #answer(
    request: unknown,
    numericId: string | undefined,
    caller: RpcCaller,
    refusal?: RuleError,
  ): Promise<RpcAnswer | undefined> {
    const began = performance.now()
    let call: Call
    try {
      call = readCall(request, numericId)
    } catch (error) {
      return this.#refuse(error, began)
    }
    const { id } = call
    try {
      if (refusal !== undefined) throw refusal
      const question = this.#questionOf(call)
      const known = question === undefined ? undefined : this.#kept?.get(question)
      if (id !== undefined && known !== undefined) {
        this.#count(call.method, 'ok', began)
        return this.#inFrame(id, known.body)
      }
      const keeping = this.#keepingOf(call, question)
      const result = await this.#run(call, caller)
      if (result instanceof StreamedAnswer) return await this.#inParts(result, call, caller, { began, keeping })
      this.#count(call.method, 'ok', began)
      if (id === undefined) return undefined
      const text = result instanceof JsonText ? result.text : JSON.stringify(result)
      this.#keep(keeping, text, result)
      const [before, after] = rpcFrame(id)
      return before + text + after
    } catch (error) {
      if (error instanceof PassedError) return this.#pass(call, error, began)
      const failure = ruleErrorOf(error, this.#log)
      this.#count(call.method, interfaceErrors[failure.code].rpc, began, failure)
      if (retryAfterOf(failure) !== undefined) caller.refused?.(failure)
      return id === undefined ? undefined : rpcFailure(id, failure)
    }
  }

  /** The call as the kept answers know it; undefined: its answer is not kept. */
  #questionOf({ id, method: name, params }: Call): string | undefined {
    const method = this.#kept && this.#methods.get(name)
    if (method?.lasts === undefined || id === undefined || id.length > longestId) return undefined
    const text = plainParams(params, method)
    return text === undefined ? undefined : `rpc ${name}${text}`
  }

  #keepingOf({ method }: Call, question: string | undefined): Keeping | undefined {
    const state = question === undefined ? undefined : this.#kept?.state('step')
    const lasts = this.#methods.get(method)?.lasts
    return state && question && lasts ? { question, state, lasts } : undefined
  }

  /** Keeps a result, for as long as it says or its method does. */
  #keep(keeping: Keeping | undefined, body: string | Buffer, result?: unknown): void {
    if (keeping === undefined) return
    const { question, state, lasts } = keeping
    const said = result instanceof JsonText ? result.until : undefined
    const until = said ?? (lasts === 'chain' ? Infinity : 0)
    if (until > 0) this.#kept?.set(question, keptResult(Buffer.from(body as string), until), state)
  }

  /** A kept result as the answer to a call; the same bytes again for the id that was asked with last. */
  #inFrame(id: string, result: Buffer): Buffer {
    const before = this.#framed.get(result)
    if (before?.id === id) return before.body
    const [beginning, end] = rpcFrame(id)
    const body = Buffer.concat([Buffer.from(beginning), result, Buffer.from(end)])
    this.#framed.set(result, { id, body })
    return body
  }

  /** The error of another node, as it stands. */
  #pass({ id, method }: Call, { code, json }: PassedError, began: number): string | undefined {
    this.#count(method, code, began)
    return id === undefined ? undefined : `{"id":${id},"jsonrpc":"2.0","error":${json}}`
  }

  /** Resolves when the beginning of the answer is there: until then it can still be refused. */
  async #inParts(
    result: StreamedAnswer,
    { id, method }: Call,
    { client }: RpcCaller,
    { began, keeping }: { readonly began: number; readonly keeping: Keeping | undefined },
  ): Promise<Buffer | AnswerStream | undefined> {
    // A notification of a method that changes nothing.
    if (id === undefined) return undefined
    const reader = this.#sharedAnswers.join(result, client)
    const { whole } = await reader.ready()
    this.#count(method, 'ok', began)
    const frame = rpcFrame(id)
    const stream = framed(frame[0], reader, frame[1])
    const most = this.#limits.answerPart - longestFrame
    if (!whole || keeping === undefined) return stream
    const beginning = await beginningOf(stream, most)
    if (!beginning.whole) return resumed(beginning.parts, stream)
    const body = Buffer.concat(beginning.parts)
    this.#keep(keeping, body.subarray(Buffer.byteLength(frame[0]), body.length - Buffer.byteLength(frame[1])))
    return body
  }

  /** The answer to a body that is no request. */
  #refuse(error: unknown, began: number): string {
    const failure = ruleErrorOf(error, this.#log)
    this.#count(undefined, interfaceErrors[failure.code].rpc, began, failure)
    return rpcFailure('null', failure)
  }

  /**
   * Counts under a known method name only: names made up by clients must not become labels. The live log shows the name as it
   * came.
   */
  #count(name: string | undefined, status: string | number, began: number, failure?: RuleError): void {
    const known = name !== undefined && this.#methods.has(name) ? name : undefined
    let tally = this.#tallies.get(known)
    if (tally === undefined) {
      tally = this.#context.metrics.calls(this.#carrier, known)
      this.#tallies.set(known, tally)
    }
    const milliseconds = performance.now() - began
    tally.add(status, milliseconds / 1000)
    const { live } = this.#log
    if (live === undefined || !live.wants('calls', failure !== undefined)) return
    live.write('calls', callLine({ via: this.#carrier, name: name ?? '(no call)', status, failure, milliseconds }))
  }

  #run({ method: name, params }: Call, caller: RpcCaller): unknown {
    const method = this.#methods.get(name)
    if (method === undefined) {
      throw new RuleError('request-action', `there is no method ${JSON.stringify(name.slice(0, 80))}`)
    }
    const refusal = refusalOf(method, caller)
    if (refusal !== undefined) throw new RuleError('request-forbidden', `${name}: ${refusal}`)
    const run = () => method.run(this.#context, params, caller)
    const { settle, nodes } = this.#context
    if (settle === undefined || nodes === undefined) return run()
    return settle(run).catch(async (error: unknown) => {
      if (!(error instanceof NeedsNode)) throw error
      const answer = await (error.ask?.(params) ?? nodes.call(name, params, caller.client, method.effect))
      // That of another node, which may have another tip.
      return new JsonText(JSON.stringify(answer), 0)
    })
  }
}

/** A result that is kept, also in the frame of the last call. */
function keptResult(body: Buffer, until: number): KeptAnswer {
  return { body, until, beside: body.length + longestFrame }
}

function batchIsFull(): RuleError {
  return new RuleError('busy', 'the answers of this batch are large enough; ask in another one')
}

/** The highest `minHeight` of the requests of a body; values that are no heights are refused with their request. */
function leastHeightOf(requests: unknown): number | undefined {
  if (!Array.isArray(requests)) return heightIn(requests)
  return requests.reduce<number | undefined>((least, request) => {
    const height = heightIn(request)
    return height === undefined || (least !== undefined && least >= height) ? least : height
  }, undefined)
}

function heightIn(request: unknown): number | undefined {
  const value = isObject(request) ? own(request, 'minHeight') : undefined
  return isHeight(value) ? value : undefined
}

/** A carrier computes its refusals when they are read: a public method reads none. */
function refusalOf({ access }: Pick<RpcMethod, 'access'>, caller: RpcCaller): string | undefined {
  if (access === 'public') return undefined
  return caller.controlRefusal ?? (access === 'admin' ? caller.adminRefusal : undefined)
}

/** Text of a body; `request-json` without one. */
function textOf(body: Uint8Array | undefined): string {
  if (body === undefined || body.length === 0) throw new RuleError('request-json', 'the body is empty')
  const text = utf8(body)
  if (text === undefined) throw new RuleError('request-json', 'the body is not UTF-8')
  return text
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new RuleError('request-json', `the body is not JSON: ${(error as Error).message}`)
  }
}

/** Numeric ids of the requests of a body, as written in its text. */
function idsOf(body: unknown, text: string): readonly (string | undefined)[] {
  if (!Array.isArray(body)) return [numericIdOf(body, text)]
  return body.some((request) => isObject(request) && typeof own(request, 'id') === 'number') ? numericIds(text) : []
}

function numericIdOf(request: unknown, text: string): string | undefined {
  const id = isObject(request) ? own(request, 'id') : undefined
  return typeof id === 'number' ? numericId(text, id) : undefined
}

/** Checks the members of a request object; `request-form` for anything else. */
function readCall(request: unknown, numericId: string | undefined): Call {
  if (!isObject(request)) throw new RuleError('request-form', 'a request is an object')
  const version = own(request, 'jsonrpc')
  if (version !== undefined && typeof version !== 'string') {
    throw new RuleError('request-form', 'jsonrpc: not a string; it is "2.0", and may also be missing')
  }
  const method = own(request, 'method')
  if (typeof method !== 'string') throw new RuleError('request-form', 'method: missing or not a string')
  const params = own(request, 'params')
  if (params !== undefined && typeof params !== 'object') {
    throw new RuleError('request-form', 'params: neither an object nor an array')
  }
  requireHeight(own(request, 'minHeight'))
  const id = own(request, 'id')
  // Clients of the parent chain write "" or "1.0" and expect an answer to each call.
  if (id === undefined) return { id: version === '2.0' ? undefined : 'null', method, params }
  return { id: idText(id, numericId), method, params }
}

/** JSON text that echoes an id. */
function idText(id: unknown, numericId: string | undefined): string {
  if (id === null || typeof id === 'string') return JSON.stringify(id)
  if (typeof id === 'number' && numericId !== undefined && wholeNumber.test(numericId)) return numericId
  throw new RuleError('request-form', 'id: neither a string, nor an integer, nor null')
}

/**
 * A member of a parsed object, undefined only where it is missing: JSON has no undefined. Inherited members do not count, and an
 * own `__proto__` is ordinary data.
 */
function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
