import type { IncomingMessage } from 'node:http'
import { isLoopbackUrl } from '../../answers/api/http/origin.js'
import { answerTo } from '../../base/runtime/http-request.js'
import { oneLine } from '../../base/runtime/visible-text.js'
import type { AnswerParts, Send } from '../../clients/client/http.js'

/** Statuses that `fetch` follows, and that it refuses where redirects are errors. */
const redirects = [301, 302, 303, 307, 308]

/**
 * Sends to nodes of this machine by Node's own client, and elsewhere by `fetch`: Node 20 takes as long to load `fetch` as itself. A node of
 * this machine needs neither TLS nor a compressed answer.
 */
export const sendToLoopback: Send = async (url, sent) => {
  if (!isPlainLoopback(url)) return withoutRedirect(url, await fetch(url, { ...sent, redirect: 'manual' }))
  const { method = 'GET', headers, body, signal } = sent
  const answer = await answerTo(url, { method, headers, body }, { once: true, signal })
  if (redirects.includes(answer.statusCode ?? 0)) {
    answer.destroy()
    throw redirected(url, answer.headers.location)
  }
  return partsOf(url, answer)
}

/** An answer of `fetch`, unless it leads elsewhere. */
async function withoutRedirect(url: string, answer: Response): Promise<Response> {
  if (!redirects.includes(answer.status)) return answer
  await answer.body?.cancel()
  throw redirected(url, answer.headers.get('location') ?? undefined)
}

/** The error of an answer that leads elsewhere: no other host is asked than the one that was named. */
function redirected(url: string, location = ''): Error {
  const target = location !== '' && URL.canParse(location, url) ? new URL(location, url).href : 'another address'
  return new TypeError(`it redirects to ${oneLine(target.slice(0, longestTarget))}, which is not followed`)
}

/** @tuning characters: address of a redirect that is shown in a message */
const longestTarget = 200

/** Whether a URL names this machine, without TLS and without a password. */
function isPlainLoopback(url: string): boolean {
  const { protocol, username, password } = new URL(url)
  return protocol === 'http:' && username === '' && password === '' && isLoopbackUrl(url)
}

function partsOf(url: string, answer: IncomingMessage): AnswerParts {
  const status = answer.statusCode ?? 0
  return {
    status,
    ok: status >= 200 && status < 300,
    url,
    headers: { get: (name) => answer.headers[name]?.toString() ?? null },
    body: { getReader: () => readerOf(answer) },
  }
}

function readerOf(answer: IncomingMessage) {
  const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>
  return {
    read: () => chunks.next(),
    cancel: async () => {
      answer.destroy()
    },
  }
}
