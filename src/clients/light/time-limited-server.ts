import type { Server } from './ask-server.js'
import { LightError } from './light-error.js'

/** @limit ms: what a light resolver asks of a server to catch up, for one question, besides the last request */
const catchUpTime = 120_000

/** Parts of a server that a catch-up uses. */
export type AskedServer = Pick<Server, 'url' | 'get'>

/** A server that has so long for all of a catch-up: each of its answers may come in time, and bring next to nothing. */
export function catchingUp(server: AskedServer): AskedServer {
  const end = performance.now() + catchUpTime
  return {
    url: server.url,
    get: async (path) => {
      if (performance.now() < end) return server.get(path)
      throw new LightError('timeout', `${server.url} has more to show after ${catchUpTime / 1000} s`)
    },
  }
}
