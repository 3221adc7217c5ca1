import { afterEach, describe, expect, it } from 'vitest'
import { apiLimits } from '../../../../../src/answers/api/api-limits.js'
import { Access } from '../../../../../src/answers/api/http/access.js'
import { accessDefaults } from '../../../../../src/answers/api/http/access-options.js'
import { HttpPort } from '../../../../../src/answers/api/http/http-port.js'
import { bodyOf } from '../../../../../src/answers/api/streams/answer-stream.js'
import { AnswerAdmission } from '../../../../../src/answers/api/streams/admission.js'
import { SharedAnswers } from '../../../../../src/answers/api/streams/shared-answer.js'
import { StreamedAnswer, type Sink } from '../../../../../src/answers/api/streams/streamed-answer.js'
import { RuleError } from '../../../../../src/base/errors/rule-error.js'
import { quietLog } from '../../../../support/builders/chain.js'

const limits = { ...apiLimits, answerPart: 1000, answerWindow: 4000 }
let server: HttpPort
afterEach(() => server.close())

/** A port of one answer, and what became of it. */
async function serve(write: (sink: Sink) => Promise<void>) {
  const made = { ended: false, bodies: [] as string[] }
  const answer = new StreamedAnswer({
    key: 'key',
    repeatable: false,
    write: (sink) => write(sink).finally(() => (made.ended = true)),
  })
  const sharedAnswers = new SharedAnswers(new AnswerAdmission(limits))
  server = await HttpPort.open({
    ...{ hosts: ['127.0.0.1'], port: 0, limits, log: quietLog(), access: new Access(accessDefaults, undefined) },
    rows: [
      {
        path: '/',
        methods: ['GET'],
        form: ({ code }) => ({ status: 503, headers: {}, body: code }),
        run: async ({ client }) => {
          const body = await bodyOf(answer, client, sharedAnswers, ['<', '>'])
          if (body instanceof Buffer) made.bodies.push(body.toString())
          return { body }
        },
      },
    ],
  })
  return { port: server.port, made }
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
  it('goes out as one body where it is short', async () => {
    const { port, made } = await serve(short)
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect([await response.text(), response.headers.get('content-length'), made.bodies]).toEqual(['<x>', '3', ['<x>']])
  })

  it('goes out as it is made where it is long', async () => {
    const { port, made } = await serve(long)
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect(response.headers.get('content-length')).toBeNull()
    expect(await response.text()).toBe(`<${'x'.repeat(50_000)}>`)
    expect(made.bodies).toEqual([])
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
    await server.close()
    const broken = await serve((sink) => long(sink).then(refuse))
    const begun = fetch(`http://127.0.0.1:${broken.port}/`).then((answer) => answer.text())
    // Whether the client has seen its head depends on the version of Node.
    await expect(begun).rejects.toThrow()
  })
})
