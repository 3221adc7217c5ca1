import type { FastifyReply, FastifyRequest } from 'fastify'
import { shareOf } from './address-share.js'
import type { AnswerClient } from './flight.js'

const gone = new Error('the client is gone')

/** The client behind a request, until its answer is out or its connection closed. */
export function clientOf(request: FastifyRequest, reply: FastifyReply): AnswerClient {
  const abort = new AbortController()
  if (reply.raw.closed || request.raw.socket.destroyed) abort.abort(gone)
  else reply.raw.once('close', () => abort.abort(gone))
  return { share: shareOf(request.raw.socket.remoteAddress), signal: abort.signal }
}
