import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Duplex } from 'node:stream'
import { expect, it } from 'vitest'
import { inTurn } from '../../../../../src/answers/api/http/connections.js'
import { lingeringClose, lingerWhereSending } from '../../../../../src/answers/api/http/lingering-close.js'

/**
 * What a client gets for these bytes from a server that ends the connection with its answer to a POST, whose body it does not wait for; and the
 * paths that the server is asked for until the connection is gone.
 */
async function exchange(...pieces: string[]): Promise<{ answers: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer()
  lingerWhereSending(server)
  const serve = inTurn(64, ({ method, url = '' }, response) => {
    asked.push(url)
    response.writeHead(413, method === 'POST' ? { connection: 'close' } : {}).end('no')
  })
  server.on('request', serve)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let answers = ''
  socket.on('data', (chunk: Buffer) => (answers += chunk.toString()))
  for (const piece of pieces) socket.write(piece)
  // Its end alone would come before all is written.
  await once(socket, 'close')
  await new Promise((resolve) => server.close(resolve))
  return { answers, asked }
}

const size = 8 * 1024 * 1024
const post = `POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`
const next = 'GET /next HTTP/1.1\r\nHost: x\r\n\r\n'

it('reads a refused body to its end, and takes nothing behind it for a request', async () => {
  const { answers, asked } = await exchange(next, post, ' '.repeat(size), next)
  expect(answers).toMatch(/413.*413/s)
  expect(asked).toEqual(['/next', '/large'])
})

it('closes at once where the request is whole', async () => {
  const { answers, asked } = await exchange(next, next.replace('Host', 'Connection: close\r\nHost'))
  expect(answers).toMatch(/413.*413/s)
  expect(asked).toEqual(['/next', '/next'])
})

it('takes the reset of a connection without any listener', async () => {
  const socket = new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => done() })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  lingeringClose(socket)
  expect(socket.listenerCount('error')).toBe(1)
  socket.destroy(new Error('reset'))
  await closed
})
