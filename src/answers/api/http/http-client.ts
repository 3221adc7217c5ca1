import type { FastifyReply, FastifyRequest } from 'fastify'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { Access } from './access.js'
import { shareOf } from './client-share.js'
import type { AnswerClient } from '../streams/shared-answer.js'

const gone = new RuleError('request-timeout', 'the client is gone')

/** The client of a request; its signal aborts when the answer is sent or the connection is closed. */
export function clientOf(access: Access, request: FastifyRequest, reply: FastifyReply): AnswerClient {
  return { share: shareOf(access.clientAddress(request.raw)), signal: signalOf(request, reply) }
}

/** Aborts when the answer is sent or the connection is closed. */
export function signalOf(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const abort = new AbortController()
  if (reply.raw.closed || request.raw.socket.destroyed) abort.abort(gone)
  else reply.raw.once('close', () => abort.abort(gone))
  return abort.signal
}
