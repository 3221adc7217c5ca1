import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AnswerAge } from '../../../identity/did/resolution.js'
import { mapKey } from '../../../base/primitives/bytes.js'
import type { Access, AccessRequest } from '../http/access.js'
import { ageHeaders } from '../../identifiers/answer.js'
import { ageOf } from '../../resolver/standing.js'
import type { ApiContext } from '../api-context.js'
import type { ApiLimits } from '../api-limits.js'
import { type BodyBudget, countBodies, readAlready, readBodies } from '../http/body-budget.js'
import { jsonType } from '../http/answer-forms.js'
import type { AnswerClient, Flights } from '../streams/shared-answer.js'
import { clientOf } from '../http/http-client.js'
import { retryAfter } from '../http/failures.js'
import { isJson } from '../http/origin.js'
import { beginningOf, bodyOf } from '../streams/answer-stream.js'
import { placeOf } from '../http/token-proof.js'
import { rpcMethods } from '../rpc/all-methods.js'
import { type KeptCall, KeptCalls } from '../rpc/kept-calls.js'
import type { RpcCaller } from '../rpc/method.js'
import { type RpcAnswer, RpcCore } from '../rpc/rpc-core.js'
import { rpcPaths } from '../rpc/rpc-paths.js'

export interface RpcOptions {
  readonly context: ApiContext
  readonly limits: ApiLimits
  readonly budget: BodyBudget
  readonly flights: Flights
  readonly access: Access
}

/** Puts JSON-RPC into a scope of the app; returns what answers calls beside it. */
export function registerRpc(
  app: FastifyInstance,
  { context, limits, budget, flights, access }: RpcOptions,
): { readonly core: RpcCore; readonly kept: KeptCalls } {
  const core = new RpcCore(context, rpcMethods(context), flights)
  const { resolver } = context
  const kept = context.calls ?? new KeptCalls(resolver, limits.callCache)
  // Any content type is read: only methods that change the node check it.
  app.addContentTypeParser('*', readBodies(limits.rpcBody))
  for (const url of rpcPaths) {
    app.post(url, { preParsing: countBodies(budget) }, async (request, reply): Promise<FastifyReply> => {
      const caller = new HttpCaller(request, reply, access)
      const at = resolver.answersAt
      const before = resolver.standing
      const answer = await core.handle(request.body as Uint8Array | undefined, caller)
      const short = request.raw[readAlready]
      if (short !== undefined && caller.kept !== undefined && typeof answer === 'string') {
        kept.set(mapKey(short), { ...caller.kept, answer: Buffer.from(answer) }, at)
      }
      const age = () => ageOf(before) ?? ageOf(resolver.standing)
      return sendRpc(reply, answer, { ...limits, age })
    })
  }
  return { core, kept }
}

interface SendOptions extends Pick<ApiLimits, 'answerPart'> {
  /** How old the answer is, out of step; asked once its beginning is there, for a long one may have waited. */
  age?(): AnswerAge | undefined
}

/** Sends an answer of the core, in parts where it is long; undefined: there is none to send. */
export async function sendRpc(
  reply: FastifyReply,
  answer: RpcAnswer | undefined,
  { answerPart, age = () => undefined }: SendOptions,
): Promise<FastifyReply> {
  if (typeof answer === 'string') return reply.headers(ageHeaders(age())).header('content-type', jsonType).send(answer)
  if (answer === undefined) return reply.code(204).send()
  const { parts, whole } = await beginningOf(answer, answerPart)
  if (whole && parts.length === 0) return reply.code(204).send()
  const body = whole ? Buffer.concat(parts) : bodyOf(parts, answer, answerPart)
  return reply.headers(ageHeaders(age())).header('content-type', jsonType).send(body)
}

/**
 * Sender of a request. CORS lets every page call, so that pages can read; what a page may not do is refused here. Few methods
 * check, so everything is computed on demand.
 */
class HttpCaller implements RpcCaller {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #access: Access
  #client: AnswerClient | undefined
  readonly showsAge = true
  /** What of the answer may be kept. */
  kept: Pick<KeptCall, 'method' | 'until'> | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, access: Access) {
    this.#request = request
    this.#reply = reply
    this.#access = access
  }

  get client(): AnswerClient {
    return (this.#client ??= clientOf(this.#access, this.#request, this.#reply))
  }

  get controlRefusal(): string | undefined {
    const refusal = this.#access.controlRefusal(this.#accessRequest)
    return refusal ?? (isJson(this.#accessRequest.headers) ? undefined : 'the content type has to be application/json')
  }

  get adminRefusal(): string | undefined {
    return this.#access.adminRefusal(this.#accessRequest)
  }

  get place(): string {
    return placeOf(this.#request.raw.socket)
  }

  get strangerRefusal(): string | undefined {
    return this.#access.strangerRefusal(this.#accessRequest)
  }

  get elsewhereRefusal(): string | undefined {
    return this.#access.elsewhereRefusal(this.#accessRequest)
  }

  /**
   * The status stays 200, as for every answer of a method. A refusal after the beginning of a batch is too late for the header.
   */
  refusedBusy(): void {
    if (!this.#reply.raw.headersSent) this.#reply.header('retry-after', retryAfter)
  }

  keep(method: string, until: number): void {
    this.kept = { method, until }
  }

  get #accessRequest(): AccessRequest {
    const { method, headers, socket } = this.#request.raw
    return { method, headers, address: socket.remoteAddress }
  }
}
