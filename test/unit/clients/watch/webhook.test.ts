import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { verifyWebhook } from '../../../../src/clients/watch/webhook-signature.js'
import { whileCollecting } from '../../../support/assert/heap-probe.js'
import { webhook, webhookUrl } from '../../../../src/clients/watch/webhook.js'
import { NotTakenYet, ReceiverGone } from '../../../../src/clients/watch/delivery.js'
import type { WatchMessage } from '../../../../src/clients/watch/watch-message.js'

const key = Buffer.alloc(32, 7)
const message: WatchMessage = {
  ...{ format: 'didledger/watch/1', id: 'ab'.repeat(32), kind: 'gap', reason: 'pruned', text: 'ask' },
}
const never = new AbortController().signal

async function receiver(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

const post = (url: string, patience = 10_000, signal = never) =>
  webhook({ url, key, now: () => 1_700_000_000_000, patience })(message, signal)

describe('a webhook', () => {
  it('gets the message as JSON, signed for its time', async () => {
    let taken = false
    const url = await receiver((request, response) => {
      void (async () => {
        let body = ''
        for await (const chunk of request) body += String(chunk)
        taken = verifyWebhook(key, request.headers, body, 1_700_000_000) && JSON.parse(body).id === message.id
        response.writeHead(204).end()
      })()
    })
    await post(url)
    expect(taken).toBe(true)
  })

  it.each([199 + 101, 302, 307, 404, 500])('has not taken a message that it answers with %i', async (status) => {
    let asked = 0
    const url = await receiver((_, response) => {
      asked++
      response.writeHead(status, { location: '/hook' }).end()
    })
    await expect(post(url)).rejects.toThrow(`answers ${status}`)
    expect(asked).toBe(1)
  })

  it('is told again after the time that its Retry-After names, in seconds or as a date', async () => {
    const waits: (number | undefined)[] = []
    // The time of a webhook in these tests.
    const after = (ms: number) => new Date(1_700_000_000_000 + ms).toUTCString()
    for (const retryAfter of ['7', after(90_000), after(-1000), 'soon', '', '-5']) {
      const url = await receiver((_, response) => void response.writeHead(429, { 'retry-after': retryAfter }).end())
      const refused: unknown = await post(url).catch((error: unknown) => error)
      expect(String(refused)).toContain('answers 429')
      waits.push(refused instanceof NotTakenYet ? refused.wait : undefined)
    }
    expect(waits).toEqual([7000, 90_000, undefined, undefined, undefined, undefined])
  })

  it('takes nothing more once it has answered 410', async () => {
    const url = await receiver((_, response) => void response.writeHead(410, { 'retry-after': '1' }).end())
    const refused: unknown = await post(url).catch((error: unknown) => error)
    expect([refused, String(refused)]).toEqual([expect.any(ReceiverGone), expect.stringContaining('name another')])
  })

  it('that redirects is named with the place to which it leads', async () => {
    const url = await receiver((_, response) => void response.writeHead(308, { location: 'https://b.example/' }).end())
    await expect(post(url)).rejects.toThrow('answers 308, a redirect to https://b.example/, which is not followed')
  })

  it('may answer without end: its body is not read, and the connection ends', async () => {
    let sent = 0
    let closed = false
    const url = await receiver((_, response) => {
      response.writeHead(200)
      const chunk = Buffer.alloc(65_536)
      const more = () => {
        while (!closed && response.write(chunk)) sent += chunk.length
      }
      response.on('drain', more).on('close', () => (closed = true))
      more()
    })
    await post(url)
    await expect.poll(() => closed).toBe(true)
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  it('is not waited for beyond its patience, nor after a stop', async () => {
    const url = await receiver(() => {})
    // A signal that only the request holds would be collected, and never abort.
    await expect(whileCollecting(() => post(url, 300))).rejects.toThrow('no answer came in time')
    const stop = new AbortController()
    const posted = post(url, 60_000, stop.signal)
    stop.abort()
    await expect(posted).rejects.toThrow(/abort/)
  })

  it('has a URL of http or https, without a user, a password or a fragment', () => {
    expect(webhookUrl('https://example.org/hook?x=1')).toBe('https://example.org/hook?x=1')
    for (const text of [
      '',
      'hook',
      'ftp://example.org',
      'http://u@example.org',
      'http://u:p@example.org',
      'http://e/#x',
    ])
      expect(() => webhookUrl(text), text).toThrow('a webhook is a URL of http or https')
  })
})
