import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { Access } from '../../../../../src/answers/api/http/access.js'
import { accessDefaults } from '../../../../../src/answers/api/http/access-options.js'
import { AnswerGate } from '../../../../../src/answers/api/streams/admission.js'
import { apiLimits } from '../../../../../src/answers/api/api-limits.js'
import { Flights } from '../../../../../src/answers/api/streams/shared-answer.js'
import { createApp } from '../../../../../src/answers/api/http/http-app.js'
import { PartsAnswer, type Sink } from '../../../../../src/answers/api/streams/streamed-answer.js'
import { type PartsExchange, sendParts } from '../../../../../src/answers/api/http/send-parts.js'
import { RuleError } from '../../../../../src/base/errors/rule-error.js'

const limits = { ...apiLimits, answerPart: 1000, answerWindow: 4000 }
let app: FastifyInstance
afterEach(() => app.close())

/** A server of one answer, with its port and what became of it. */
async function serve(write: (sink: Sink) => Promise<void>, keep?: PartsExchange['keep']) {
  const made = { ended: false }
  const answer = new PartsAnswer({
    key: 'key',
    repeatable: false,
    write: (sink) => write(sink).finally(() => (made.ended = true)),
  })
  app = await createApp(limits, {
    fail: (error, _, reply) => reply.code(503).send((error as RuleError).code),
    methodsAt: () => ['GET'],
  })
  const options = {
    limits,
    flights: new Flights(new AnswerGate(limits)),
    access: new Access(accessDefaults, undefined),
  }
  const frame = ['<', '>'] as const
  app.get('/', (request, reply) => sendParts(answer, { request, reply, frame, ...(keep && { keep }) }, options))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: (app.server.address() as AddressInfo).port, made }
}

async function long(sink: Sink): Promise<void> {
  for (let i = 0; i < 100; i++) {
    sink.add('x'.repeat(500))
    if (sink.due) await sink.drain()
  }
}

async function short(sink: Sink): Promise<void> {
  sink.add('x')
}

describe('an answer in parts', () => {
  it('goes out as one body where it is short, which can be kept', async () => {
    const kept: string[] = []
    const { port } = await serve(short, (body) => kept.push(body.toString()))
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect([await response.text(), response.headers.get('content-length'), kept]).toEqual(['<x>', '3', ['<x>']])
  })

  it('goes out as it is made where it is long, and is not kept', async () => {
    const kept: Buffer[] = []
    const { port } = await serve(long, (body) => kept.push(body))
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect(response.headers.get('content-length')).toBeNull()
    expect(await response.text()).toBe(`<${'x'.repeat(50_000)}>`)
    expect(kept).toEqual([])
  })

  it('is not made to its end for HEAD', async () => {
    const { port, made } = await serve(async (sink) => {
      for (;;) {
        sink.add('x'.repeat(500))
        if (sink.due) await sink.drain()
      }
    })
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
    while (!made.ended) await new Promise((resolve) => setTimeout(resolve, 1))
  })

  it('is a refusal where it fails before it began, and breaks off later', async () => {
    const refuse = async () => Promise.reject(new RuleError('busy', 'later'))
    const { port } = await serve(refuse)
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect([response.status, await response.text()]).toEqual([503, 'busy'])
    await app.close()
    const broken = await serve((sink) => long(sink).then(refuse))
    const begun = await fetch(`http://127.0.0.1:${broken.port}/`)
    expect(begun.status).toBe(200)
    await expect(begun.text()).rejects.toThrow()
  })
})
