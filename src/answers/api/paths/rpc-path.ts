import type { RuleError } from '../../../base/errors/rule-error.js'
import type { AnswerAge } from '../../../identity/did/resolution.js'
import { defined } from '../../../base/primitives/defined.js'
import { ageHeaders } from '../../identifiers/identifier-answer.js'
import { ageOf } from '../../resolver/standing.js'
import type { ApiLimits } from '../api-limits.js'
import type { Access } from '../http/access.js'
import { jsonForm, jsonType } from '../http/answer-forms.js'
import { interfaceErrors } from '../http/error-mapping.js'
import type { Exchange } from '../http/exchange.js'
import { retryAfterOf } from '../http/failures.js'
import type { HeightGate } from '../http/height-gate.js'
import { isJson } from '../http/origin.js'
import type { HttpAnswer, PathRow } from '../http/path-row.js'
import { placeOf } from '../http/token-proof.js'
import { rpcMethods } from '../rpc/all-methods.js'
import type { RpcCaller } from '../rpc/method.js'
import { type RpcAnswer, RpcCore } from '../rpc/rpc-core.js'
import { rpcPaths } from '../rpc/rpc-paths.js'
import { beginningOf, resumed } from '../streams/answer-stream.js'
import type { AnswerClient } from '../node-handles.js'
import type { NodePort } from './node-port.js'

/** How a core is served over HTTP. */
interface RpcPathOptions {
  readonly core: Pick<RpcCore, 'handle'>
  readonly access: Access
  readonly limits: Pick<ApiLimits, 'answerPart'>
  /** Bytes of a body at most. */
  readonly body: number
  readonly paths?: readonly string[]
}

/** JSON-RPC of a core. Any content type is read: only methods that change the node check it. */
export function rpcPathsOf({ core, access, limits, body, paths = rpcPaths }: RpcPathOptions): PathRow[] {
  const run = async (exchange: Exchange) => {
    const answer = await core.handle(exchange.body, new HttpCaller(exchange, access))
    return answerOf(answer, limits.answerPart)
  }
  return paths.map((path) => ({ path, methods: ['POST'], form: jsonForm('rpc'), showsCalls: true, body, run }))
}

/** JSON-RPC of a node, which keeps answers, and says how old an answer is. */
export function nodeRpcPaths(
  { context, limits, sharedAnswers, heights, kept, access }: NodePort,
  paths = rpcPaths,
): PathRow[] {
  const { resolver } = context
  const core = new RpcCore(context, rpcMethods(context), sharedAnswers, { kept })
  const keptFor = ({ body }: Exchange): HttpAnswer | undefined => {
    const known = core.keptFor(body, heights.height)
    return known && { headers: json, body: known }
  }
  const run = async (exchange: Exchange): Promise<HttpAnswer> => {
    const caller = new HttpCaller(exchange, access, { heights, resolver })
    const answer = await core.handle(exchange.body, caller)
    const { standing } = caller.beginning ?? resolver
    const given = await answerOf(answer, limits.answerPart, () => ageOf(standing) ?? ageOf(resolver.standing))
    return { ...given, ...defined({ status: caller.status }) }
  }
  const rows = rpcPathsOf({ core, access, limits, body: limits.rpcBody, paths })
  return rows.map((row) => ({ ...row, heights, kept: keptFor, run }))
}

const json = { 'content-type': jsonType }

/** `age`: how old the answer is, out of step; asked once its beginning is there, for a long one may have waited. */
async function answerOf(
  answer: RpcAnswer | undefined,
  part: number,
  age: () => AnswerAge | undefined = () => undefined,
): Promise<HttpAnswer> {
  if (answer === undefined) return { status: 204 }
  if (typeof answer === 'string' || Buffer.isBuffer(answer))
    return { headers: { ...ageHeaders(age()), ...json }, body: answer }
  const { parts, whole } = await beginningOf(answer, part)
  if (whole && parts.length === 0) return { status: 204 }
  const body = whole ? Buffer.concat(parts) : resumed(parts, answer)
  return { headers: { ...ageHeaders(age()), ...json }, body }
}

interface AnsweringNode {
  readonly heights: HeightGate
  readonly resolver: NodePort['context']['resolver']
}

type Beginning = Pick<AnsweringNode['resolver'], 'standing'>

function beginningOfAnswer(node: AnsweringNode | undefined): Beginning | undefined {
  return node && { standing: node.resolver.standing }
}

/**
 * Sender of a request. CORS lets every page call, so that pages can read; what a page may not do is refused here. Few methods
 * check, so everything is computed on demand.
 */
class HttpCaller implements RpcCaller {
  readonly #exchange: Exchange
  readonly #access: Access
  readonly showsAge = true
  /** HTTP status of a refusal that balancers have to see; undefined: that of every answer of a method. */
  status: number | undefined
  /** The node as of the beginning of the answer. */
  beginning: Beginning | undefined
  readonly #node: AnsweringNode | undefined

  /** `node`: the one that answers; absent: answers come from elsewhere. */
  constructor(exchange: Exchange, access: Access, node?: AnsweringNode) {
    this.#exchange = exchange
    this.#access = access
    this.#node = node
    this.beginning = beginningOfAnswer(node)
  }

  get client(): AnswerClient {
    return this.#exchange.client
  }

  get controlRefusal(): string | undefined {
    const refusal = this.#access.controlRefusal(this.#exchange)
    return refusal ?? (isJson(this.#exchange.headers) ? undefined : 'the content type has to be application/json')
  }

  get adminRefusal(): string | undefined {
    return this.#access.adminRefusal(this.#exchange)
  }

  get place(): string {
    return placeOf(this.#exchange.request.socket)
  }

  get strangerRefusal(): string | undefined {
    return this.#access.strangerRefusal(this.#exchange)
  }

  get elsewhereRefusal(): string | undefined {
    return this.#access.elsewhereRefusal(this.#exchange)
  }

  /**
   * The status stays 200, as for every answer of a method, but that of a node below a height. A refusal after the beginning of a batch is too late for the header.
   */
  refused(failure: RuleError): void {
    const { code } = failure
    this.#exchange.answerHeaders.set('retry-after', String(retryAfterOf(failure)))
    if (code === 'behind-height') this.status = interfaceErrors[code].http
  }

  async awaitHeight(height: number, held: number): Promise<void> {
    const node = this.#node
    if (node === undefined) return
    await node.heights.wait(height, () => this.client, held)
    this.#exchange.holdsAt(node.heights.text)
    // Before the wait it had other blocks, and may have been out of step.
    this.beginning = beginningOfAnswer(node)
  }
}
