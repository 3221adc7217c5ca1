import { createServer } from 'node:http'
import cors from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { Access } from './access.js'
import { shareOf } from './client-share.js'
import type { ApiLimits } from '../api-limits.js'
import { anyOrigin, exposed, isLoopback } from './origin.js'
import { originForm, pathOf } from './request-path.js'

/** Answers a request that failed, with whatever was thrown. */
export type AnswerFailure = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply

export interface AppShape {
  /** Answers a request that failed, with whatever was thrown. */
  readonly fail: AnswerFailure
  /** Methods that a path takes; empty for an unknown one. */
  methodsAt(url: string): readonly string[]
  /** Adds the hooks that come before all others. */
  readonly first?: (app: FastifyInstance) => void
  /** Whether a request of any path, also one that cannot be decoded, is one of `/`. */
  readonly onePath?: boolean
}

/**
 * An app that only handles requests: the listeners are ours, several for one app, and replaceable. Pages of every origin may read
 * its answers.
 */
export async function createApp(
  limits: Pick<ApiLimits, 'restBody' | 'headers'>,
  { fail, methodsAt, first = () => {}, onePath = false }: AppShape,
): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: limits.restBody,
    routerOptions: { maxParamLength: limits.headers },
    // These come before the hooks.
    frameworkErrors: (error, request, reply) => fail(error, request, reply.headers(anyOrigin)),
    serverFactory: (handler) => createServer(handler),
    rewriteUrl: ({ url = '/' }) => (onePath ? '/' : originForm(url)),
  })
  first(app)
  app.decorateRequest('counted', null)
  app.setErrorHandler((error: FastifyError, request, reply) => fail(error, request, reply))
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST'],
    exposedHeaders: exposed,
    strictPreflight: false,
    maxAge: 86_400,
  })
  refuseUnknown(app, methodsAt)
  // The body of a request to an unknown path is not read.
  app.removeAllContentTypeParsers()
  return app
}

/** Whether a port limits the requests of an address: where others than programs of this machine reach it. */
export function limitsRate(hosts: readonly string[], limits: ApiLimits, access: Access): boolean {
  return !hosts.every(isLoopback) || !limits.rateSparesLoopback || access.proxied
}

/** Refuses what has no route, by its path and method alone: the framework would judge content type and body first. */
function refuseUnknown(app: FastifyInstance, methodsAt: AppShape['methodsAt']): void {
  const refuse = ({ method, url }: FastifyRequest, reply: FastifyReply): never => {
    const methods = methodsAt(url)
    if (methods.length === 0) throw new RuleError('request-path', `nothing is at ${pathOf(url).slice(0, 200)}`)
    void reply.header('allow', methods.join(', '))
    throw new RuleError('request-method', `${method}: this path takes ${methods.join(' and ')}`)
  }
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) refuse(request, reply)
  })
  app.setNotFoundHandler(refuse)
}

/** Limits the requests of an address. */
export async function registerRateLimit(app: FastifyInstance, limits: ApiLimits, access: Access): Promise<void> {
  await app.register(rateLimit, {
    max: limits.rateRequests,
    timeWindow: limits.rateWindow,
    allowList: ({ raw }) => limits.rateSparesLoopback && access.isLocal(raw.socket.remoteAddress),
    keyGenerator: ({ raw }) => shareOf(access.clientAddress(raw)),
    errorResponseBuilder: (_, { max, after }) =>
      new RuleError('request-rate', `more than ${max} requests; try again in ${after}`),
  })
}
