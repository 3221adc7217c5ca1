/**
 * A process that answers a constant, to measure HTTP alone: `/LENGTH` gives a buffer of so many bytes. Prints the port of a
 * server with the listeners, hooks and headers of the node's, and that of bare node:http.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import cors from '@fastify/cors'
import fastify from 'fastify'
import { apiLimits, BodyBudget, countAnswers, countBodies, Listeners, Tally } from './dist.js'

const type = 'application/json; charset=utf-8'
const answers = new Map<string, Buffer>()

function answerTo(path: string): Buffer {
  let answer = answers.get(path)
  if (answer === undefined) answers.set(path, (answer = Buffer.alloc(Number(path.slice(1)), 'x')))
  return answer
}

const app = fastify({ serverFactory: (handler) => createServer(handler) })
const tally = new Tally()
countAnswers(app, { requests: () => tally })
await app.register(cors, { origin: '*', methods: ['GET', 'HEAD', 'POST'], strictPreflight: false, maxAge: 86_400 })
app.decorateRequest('counted', null)
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
app.route({
  method: ['GET', 'POST'],
  url: '/:length',
  preParsing: countBodies(new BodyBudget(apiLimits)),
  handler: (request, reply) => reply.header('content-type', type).send(answerTo(request.url)),
})
await app.ready()
const alike = await Listeners.open({
  hosts: ['127.0.0.1'],
  port: 0,
  limits: apiLimits,
  handler: app.routing,
  parserAnswer: () => ({ status: 400, body: '{}' }),
  exempt: () => false,
})

const bare = createServer((request, response) => {
  const answer = answerTo(request.url ?? '')
  request.resume()
  response.writeHead(200, { 'content-type': type, 'content-length': answer.length }).end(answer)
})
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve))

console.log(JSON.stringify([alike.port, (bare.address() as AddressInfo).port]))
