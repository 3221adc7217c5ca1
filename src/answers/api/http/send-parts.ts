import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from './access.js'
import type { ApiLimits } from '../api-limits.js'
import type { Flights } from '../streams/shared-answer.js'
import { clientOf } from './http-client.js'
import type { PartsAnswer } from '../streams/streamed-answer.js'
import { beginningOf, bodyOf, framed } from '../streams/answer-stream.js'

/** What answers in progress share. */
export interface PartsOptions {
  readonly limits: ApiLimits
  readonly flights: Flights
  readonly access: Access
}

/** A request, and how its answer is sent. */
export interface PartsExchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** What stands before and after the text. */
  readonly frame: readonly [string, string]
  /** Takes the body of an answer that was short. */
  keep?(body: Buffer): void
}

/** Sends an answer that is no point read: at once if it is short, else as it is made. */
export async function sendParts(
  result: PartsAnswer,
  { request, reply, frame: [before, after], keep }: PartsExchange,
  { flights, limits, access }: PartsOptions,
): Promise<FastifyReply> {
  const reader = flights.join(result, clientOf(access, request, reply))
  const { whole } = await reader.ready()
  const stream = framed(before, reader, after)
  if (whole) {
    const body = Buffer.concat((await beginningOf(stream, Infinity)).parts)
    keep?.(body)
    return reply.send(body)
  }
  if (request.method !== 'HEAD') return reply.send(bodyOf([], stream, limits.answerPart))
  reader.close()
  return reply.send(Readable.from([]))
}
