import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ApiContext } from '../api-context.js'
import { jsonType } from '../http/answer-forms.js'
import { lightPrefix, lightRoutes, readLightQuery } from './light-routes.js'
import { PartsAnswer } from '../streams/streamed-answer.js'
import { type PartsOptions, sendParts } from '../http/send-parts.js'

/** Seconds for which a cache keeps an answer that never changes: a year, as long as caches go. */
const forEver = 31_536_000

const patterns = lightRoutes.map(({ path }) => new RegExp(`^${lightPrefix}${path.replace(/:\w+/g, '[^/]+')}$`))

/** Puts the paths of light resolvers into a scope of the app. Answers are the bare JSON of their results. */
export function registerLight(app: FastifyInstance, context: ApiContext, options: PartsOptions): void {
  for (const route of lightRoutes) {
    app.get(lightPrefix + route.path, async (request, reply): Promise<FastifyReply> => {
      const at = request.url.indexOf('?')
      const query = readLightQuery(at < 0 ? '' : request.url.slice(at + 1), route.query)
      const asked = { segments: request.params as Record<string, string>, query }
      const result = await route.run(context, asked)
      // A block with a confirm is never replaced, but on a devnet.
      const { hasValidators, devnet } = context.reader.chain.spec
      const holds = hasValidators && !devnet && route.isFixed(asked)
      const caching = holds ? `public, max-age=${forEver}, immutable` : 'no-cache'
      void reply.header('content-type', jsonType).header('cache-control', caching)
      if (!(result instanceof PartsAnswer)) return reply.send(JSON.stringify(result))
      try {
        return await sendParts(result, { request, reply, frame: ['', ''] }, options)
      } catch (error) {
        // A refusal holds for now alone.
        void reply.removeHeader('cache-control')
        throw error
      }
    })
  }
}

/** Methods that a path below {@link lightPrefix} accepts; empty for an unknown one. */
export function lightMethods(path: string): string[] {
  return patterns.some((pattern) => pattern.test(path)) ? ['GET', 'HEAD'] : []
}
