import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { requestText } from '../../../../src/base/runtime/http-request.js'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const made = createServer(answer)
  server = made
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

const bounds = { timeout: 60_000, maxAnswer: 10 }

describe('requestText', () => {
  it('gets, and posts JSON', async () => {
    const url = await serving((request, response) => {
      response.statusCode = 418
      response.end(`${request.method} ${request.headers['content-type']?.slice(-4) ?? '-'}`)
    })
    expect(await requestText(url, undefined, bounds)).toMatchObject({ status: 418, text: 'GET -' })
    expect(await requestText(url, '{}', bounds)).toMatchObject({ status: 418, text: 'POST json' })
  })

  it('takes an answer of as many bytes as it may have, and none of more', async () => {
    let length = 10
    const url = await serving((_, response) => response.end('x'.repeat(length)))
    expect((await requestText(url, undefined, bounds)).text).toBe('x'.repeat(10))
    length = 11
    await expect(requestText(url, undefined, bounds)).rejects.toThrow('more than 10 bytes')
  })

  it('ends after its time, and with a connection that closes', async () => {
    const url = await serving((request, response) => {
      if (request.url === '/closed') request.socket.destroy()
      else response.write('x')
    })
    await expect(requestText(url, undefined, { ...bounds, timeout: 100 })).rejects.toThrow()
    await expect(requestText(`${url}/closed`, undefined, bounds)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('ends after its time although garbage is collected meanwhile', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const url = await serving(() => {})
    const asked = requestText(url, undefined, { ...bounds, timeout: 300 }).catch((error: unknown) => error)
    for (let i = 0; i < 5; i++) {
      await setTimeout(20)
      collect()
    }
    expect(await asked).toMatchObject({ name: 'AbortError', cause: { name: 'TimeoutError' } })
  })

  it('ends with the failure of the system over a kept connection too', async () => {
    let served = 0
    const url = await serving(({ socket }, response) => {
      if (served++ === 0) response.end('kept')
      else socket.resetAndDestroy()
    })
    await requestText(url, undefined, bounds)
    await expect(requestText(url, undefined, { ...bounds, once: true })).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('asks again over a new connection where a kept one is closed', async () => {
    const sockets = new Set<Socket>()
    const url = await serving(({ socket }, response) => {
      if (sockets.has(socket)) socket.destroy()
      else response.end('fresh')
      sockets.add(socket)
    })
    expect((await requestText(url, '{}', bounds)).text).toBe('fresh')
    expect((await requestText(url, '{}', bounds)).text).toBe('fresh')
    expect(sockets.size).toBe(2)
  })
})
