import type { IncomingMessage, ServerResponse } from 'node:http'
import { mapKey } from '../../../base/primitives/bytes.js'
import type { Tally } from '../metrics/answer-metrics.js'
import type { ApiContext } from '../api-context.js'
import { arrivedAt, readAlready } from '../http/body-budget.js'
import { jsonType } from '../http/answer-forms.js'
import type { HttpHandler } from '../http/listeners.js'
import { anyOrigin } from '../http/origin.js'
import type { KeptCalls } from '../rpc/kept-calls.js'
import type { RpcCore } from '../rpc/rpc-core.js'

/** @tuning bytes: a call that is looked up among the kept answers */
const longestCall = 4096

export interface QuickCallsOptions {
  readonly core: RpcCore
  readonly kept: KeptCalls
  readonly metrics: Pick<ApiContext['metrics'], 'requests'>
  /** The path under which a call is counted; undefined: the URL is none of JSON-RPC. */
  pathOf(url: string): string | undefined
}

/**
 * Answers short calls whose answer is kept before the framework sees them: its router and hooks take longer than to send the answer.
 * All others go on to it, with the body that was read.
 */
export function quickCalls({ core, kept, metrics, pathOf }: QuickCallsOptions, next: HttpHandler): HttpHandler {
  const tallies = new Map<string, Tally>()
  const tallyOf = (path: string) => {
    let tally = tallies.get(path)
    if (tally === undefined) tallies.set(path, (tally = metrics.requests(path)))
    return tally
  }
  return (request, response) => {
    const path = isShortCall(request) ? pathOf(request.url ?? '') : undefined
    if (path === undefined) return next(request, response)
    const arrived = performance.now()
    request[arrivedAt] = arrived
    const length = Number(request.headers['content-length'])
    request.once('data', (body: Buffer) => {
      // One that comes in pieces may be slow: it is counted while it comes.
      if (body.length !== length) {
        request.pause()
        request.unshift(body)
        return next(request, response)
      }
      // As the framework counts: a call from its body on, a request from its headers on.
      const began = performance.now()
      const call = kept.get(mapKey(body))
      if (call === undefined) {
        request[readAlready] = body
        return next(request, response)
      }
      send(response, call.answer)
      core.countKept(call.method, began)
      tallyOf(path).add(200, (performance.now() - arrived) / 1000)
    })
  }
}

function isShortCall({ method, headers }: IncomingMessage): boolean {
  if (method !== 'POST') return false
  const length = Number(headers['content-length'])
  return length > 0 && length <= longestCall
}

function send(response: ServerResponse, answer: Buffer): void {
  response.writeHead(200, { ...anyOrigin, 'content-type': jsonType, 'content-length': answer.length })
  response.end(answer)
}
