import { endOf } from '../../base/runtime/end-of-time.js'
import { UserError } from '../../base/errors/rule-error.js'
import { type Deliver, NotTakenYet, ReceiverGone } from './delivery.js'
import { signedHeaders } from './webhook-signature.js'

/** @tuning ms: time for the answer of a webhook */
const patience = 15_000

export interface WebhookOptions {
  /** The operator's own, with any host; redirects are not followed. */
  readonly url: string
  readonly key: Uint8Array
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Overrides the time for an answer. */
  readonly patience?: number
}

/** Posts messages to a URL, signed. Any answer of 200 to 299 takes a message; the body of the answer is not read. */
export function webhook({ url, key, now, patience: most = patience }: WebhookOptions): Deliver {
  return async (message, signal) => {
    const body = JSON.stringify(message)
    const seconds = Math.floor(now() / 1000)
    const end = endOf(most, signal)
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...signedHeaders(key, message.id, body, seconds) },
        body,
        redirect: 'manual',
        signal: end.signal,
      })
      // An endless answer ends here.
      await response.body?.cancel()
      if (!response.ok) throw refusalOf(url, response, now())
    } finally {
      end.release()
    }
  }
}

/** Error of an answer that takes no message, with what it says of the next attempt. */
function refusalOf(url: string, { status, headers }: Response, now: number): Error {
  const said = `${url} answers ${status}`
  // So the receiver ends it, by the Standard Webhooks specification.
  if (status === 410) {
    return new ReceiverGone(
      `${said}, which ends it: name another --webhook; with the same --state a watch begins with this message`,
    )
  }
  const to = headers.get('location')
  if (status >= 300 && status < 400 && to !== null) {
    return new UserError(`${said}, a redirect to ${to.slice(0, 200)}, which is not followed: name where it leads`)
  }
  const wait = waitOf(headers.get('retry-after'), now)
  return wait > 0 ? new NotTakenYet(said, wait) : new UserError(said)
}

/** Milliseconds of `Retry-After`, which has seconds or a date; 0 for none and for any other text. */
function waitOf(text: string | null, now: number): number {
  if (text === null) return 0
  const milliseconds = /^\s*\d+\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Math.max(0, milliseconds) || 0
}

/** The URL of a webhook; a UserError for one that is no http or https, or has a password in it. */
export function webhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === '')
    return url.href
  throw new UserError(`${text.slice(0, 200)}: a webhook is a URL of http or https, without a user or password in it`, 2)
}
