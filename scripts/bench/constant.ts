/**
 * A process that answers a constant, to measure HTTP alone: `/LENGTH` gives a buffer of so many bytes. Sends the port of a
 * server with the listeners, steps and headers of the node's, and that of bare node:http, which reads the body of a POST.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apiLimits } from '../../src/answers/api/api-limits.js'
import { Access } from '../../src/answers/api/http/access.js'
import { accessDefaults } from '../../src/answers/api/http/access-options.js'
import { HttpPort } from '../../src/answers/api/http/http-port.js'
import { Tally } from '../../src/answers/api/metrics/answer-metrics.js'

const type = 'application/json; charset=utf-8'
const answers = new Map<string, Buffer>()

function answerTo(path: string): Buffer {
  let answer = answers.get(path)
  if (answer === undefined) answers.set(path, (answer = Buffer.alloc(Number(path.slice(1)), 'x')))
  return answer
}

const tally = new Tally()
const alike = await HttpPort.open({
  hosts: ['127.0.0.1'],
  port: 0,
  limits: apiLimits,
  access: new Access(accessDefaults, undefined),
  log: { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} },
  tallyOf: () => tally,
  rows: [
    {
      path: '/:length',
      methods: ['GET', 'POST'],
      form: ({ message }) => ({ status: 400, headers: {}, body: message }),
      body: apiLimits.restBody,
      headers: { 'x-chain-height': '3' },
      run: ({ path }) => ({ headers: { 'content-type': type }, body: answerTo(path) }),
    },
  ],
})

const bare = createServer((request, response) => {
  const answer = answerTo(request.url ?? '')
  const send = () => response.writeHead(200, { 'content-type': type, 'content-length': answer.length }).end(answer)
  if (request.method !== 'POST') return void send()
  // No server can answer a call before it has its body.
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part)).on('end', () => Buffer.concat(parts).length > 0 && send())
})
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve))

process.on('disconnect', () => process.exit())
process.send?.([alike.port, (bare.address() as AddressInfo).port])
