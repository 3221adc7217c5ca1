import type { preParsingHookHandler } from 'fastify'
import { RuleError } from '../errors.js'
import type { ApiLimits } from './limits.js'
import { isJson } from './origin.js'

/** Bounds the bytes of all request bodies that are in memory at once. */
export class BodyBudget {
  readonly #limits: ApiLimits
  #free: number

  constructor(limits: ApiLimits) {
    this.#limits = limits
    this.#free = limits.allBodies
  }

  /** Takes `bytes`, or throws `busy`; a large body leaves room for small ones. The returned function gives them back, once. */
  take(bytes: number): () => void {
    const { rpcPlainBody, smallBodies } = this.#limits
    const kept = bytes > rpcPlainBody ? smallBodies : 0
    if (bytes > this.#free - kept) throw new RuleError('busy', 'too many large requests at once; try again')
    this.#free -= bytes
    let taken = bytes
    return () => {
      this.#free += taken
      taken = 0
    }
  }
}

/**
 * A hook for routes with bodies of at most `most` bytes each: counts them from before they are read until they are
 * answered. It also leaves of their content type only whether it is JSON, for the framework refuses what it cannot parse.
 */
export function countBodies(budget: BodyBudget, most: number): preParsingHookHandler {
  return (request, reply, payload, done) => {
    if (request.method === 'POST') {
      const { headers } = request.raw
      headers['content-type'] = isJson(headers) ? 'application/json' : 'application/octet-stream'
      try {
        // One that is too large will be refused for its announced length, without being read.
        const release = budget.take(Math.min(Number(request.headers['content-length'] ?? most), most))
        reply.raw.once('close', release)
      } catch (error) {
        done(error as Error)
        return
      }
    }
    done(null, payload)
  }
}
