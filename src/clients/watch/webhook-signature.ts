import { createHmac, timingSafeEqual } from 'node:crypto'
import { UserError } from '../../base/errors/rule-error.js'

/**
 * Signatures of webhooks, as the Standard Webhooks specification has them: HMAC-SHA256 over `id.timestamp.body`, with the time against
 * replays.
 */

/** Prefix of a key in text. */
const keyPrefix = 'whsec_'
/** Bytes of a key. */
const [leastKey, mostKey] = [24, 64]
/** Seconds by which the clocks of sender and receiver may differ. */
export const signatureTolerance = 300

/** Headers of a signed message. */
export interface SignedHeaders {
  readonly 'webhook-id': string
  /** Unix seconds. */
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** The key in a text: `whsec_` and base64 of 24 to 64 bytes. A UserError for any other. */
export function readWebhookKey(text: string, where: string): Uint8Array {
  const given = text.trim()
  const encoded = given.startsWith(keyPrefix) ? given.slice(keyPrefix.length) : ''
  const key = Buffer.from(encoded, 'base64')
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && key.length >= leastKey && key.length <= mostKey) return key
  throw new UserError(
    `${where}: a key is ${keyPrefix} and base64 of ${leastKey} to ${mostKey} random bytes, as of: echo "${keyPrefix}$(openssl rand -base64 32)"`,
  )
}

/** Signs a body that is sent now. `seconds`: Unix time. */
export function signedHeaders(key: Uint8Array, id: string, body: string, seconds: number): SignedHeaders {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature(key, id, String(seconds), body)}`,
  }
}

/** Whether a body is from the holder of the key, and was sent within {@link signatureTolerance} of this time in Unix seconds. */
export function verifyWebhook(
  key: Uint8Array,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string,
  now: number,
): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': sent, 'webhook-signature': signed } = headers
  if (typeof id !== 'string' || typeof sent !== 'string' || typeof signed !== 'string') return false
  if (!/^[0-9]{1,12}$/.test(sent) || Math.abs(now - Number(sent)) > signatureTolerance) return false
  const right = Buffer.from(signature(key, id, sent, body), 'base64')
  return signed.split(' ').some((one) => {
    const given = one.startsWith('v1,') ? Buffer.from(one.slice(3), 'base64') : Buffer.alloc(0)
    return given.length === right.length && timingSafeEqual(given, right)
  })
}

function signature(key: Uint8Array, id: string, sent: string, body: string): string {
  return createHmac('sha256', key).update(`${id}.${sent}.${body}`).digest('base64')
}
