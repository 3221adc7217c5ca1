import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { adminRefusal, strangerRefusal } from '../admin-token.js'
import { jsonType } from '../answer.js'
import { type BodyBudget, countBodies } from '../body-budget.js'
import type { ApiContext } from '../context.js'
import type { AnswerClient, Flights } from '../flight.js'
import { clientOf } from '../http-client.js'
import type { ApiLimits } from '../limits.js'
import { crossSiteRefusal, isJson } from '../origin.js'
import { beginningOf, bodyOf } from '../stream.js'
import { RpcCore } from './core.js'
import type { RpcCaller } from './method.js'
import { rpcMethods } from './methods.js'

/** Where JSON-RPC answers, on its own port and on that of REST. */
export const rpcPaths = ['/', '/rpc']

export interface RpcOptions {
  readonly context: ApiContext
  readonly limits: ApiLimits
  readonly budget: BodyBudget
  readonly flights: Flights
}

/** Puts JSON-RPC into a scope of the app. */
export function registerRpc(app: FastifyInstance, { context, limits, budget, flights }: RpcOptions): void {
  const core = new RpcCore(context, rpcMethods(context), flights)
  // Whatever a body calls itself: a content type is only asked for by methods that change the node.
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: limits.rpcBody }, (_, body, done) => done(null, body))
  for (const url of rpcPaths) {
    app.post(
      url,
      { preParsing: countBodies(budget, limits.rpcBody) },
      async (request, reply): Promise<FastifyReply> => {
        const answer = await core.handle(
          request.body as Uint8Array | undefined,
          new HttpCaller(request, reply, context.adminToken),
        )
        if (typeof answer === 'string') return reply.header('content-type', jsonType).send(answer)
        if (answer === undefined) return reply.code(204).send()
        const { parts, whole } = await beginningOf(answer, limits.answerPart)
        if (whole && parts.length === 0) return reply.code(204).send()
        const body = whole ? Buffer.concat(parts) : bodyOf(parts, answer, limits.answerPart)
        return reply.header('content-type', jsonType).send(body)
      },
    )
  }
}

/**
 * Who sends a request. Browsers are told that every page may ask, for the sake of reading; what a page may not do is refused
 * here. Few methods ask, so nothing is worked out before.
 */
class HttpCaller implements RpcCaller {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #token: Uint8Array | undefined
  #client: AnswerClient | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, token: Uint8Array | undefined) {
    this.#request = request
    this.#reply = reply
    this.#token = token
  }

  get client(): AnswerClient {
    return (this.#client ??= clientOf(this.#request, this.#reply))
  }

  get controlRefusal(): string | undefined {
    const { headers } = this.#request
    const notJson = isJson(headers) ? undefined : 'the content type has to be application/json'
    return crossSiteRefusal(headers) ?? notJson
  }

  get adminRefusal(): string | undefined {
    return adminRefusal(this.#token, this.#request.headers)
  }

  get strangerRefusal(): string | undefined {
    const { headers, socket } = this.#request.raw
    return strangerRefusal(this.#token, { headers, address: socket.remoteAddress })
  }
}
