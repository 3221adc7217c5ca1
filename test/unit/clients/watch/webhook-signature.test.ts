import { describe, expect, it } from 'vitest'
import {
  readWebhookKey,
  signatureTolerance,
  signedHeaders,
  verifyWebhook,
} from '../../../../src/clients/watch/webhook-signature.js'

// An example of the libraries of Standard Webhooks.
const key = readWebhookKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'key')
const body = '{"test": 2432232314}'
const [id, seconds] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330]
const headers = signedHeaders(key, id, body, seconds)

describe('the signature of a webhook', () => {
  it('is that of the specification', () => {
    expect(headers).toEqual({
      'webhook-id': id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
    expect(verifyWebhook(key, { ...headers }, body, seconds)).toBe(true)
    const two = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` }
    expect(verifyWebhook(key, two, body, seconds)).toBe(true)
  })

  it('holds for no other key, body, id or time, and for five minutes alone', () => {
    const other = readWebhookKey(`whsec_${Buffer.alloc(24).toString('base64')}`, 'key')
    expect(verifyWebhook(other, { ...headers }, body, seconds)).toBe(false)
    expect(verifyWebhook(key, { ...headers }, `${body} `, seconds)).toBe(false)
    for (const name of Object.keys(headers)) {
      for (const value of [undefined, '', 'x', '1614265331', ['v1,a'], 'v1,', 'v2,rAvf']) {
        expect(verifyWebhook(key, { ...headers, [name]: value }, body, seconds), `${name} ${String(value)}`).toBe(false)
      }
    }
    for (const sign of [1, -1]) {
      expect(verifyWebhook(key, { ...headers }, body, seconds + sign * signatureTolerance)).toBe(true)
      expect(verifyWebhook(key, { ...headers }, body, seconds + sign * (signatureTolerance + 1))).toBe(false)
    }
  })

  it('takes keys of 24 to 64 bytes', () => {
    const text = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`
    for (const bytes of [24, 64]) expect(readWebhookKey(`${text(bytes)}\n`, 'key')).toHaveLength(bytes)
    for (const wrong of [text(23), text(65), 'whsec_', 'secret', text(32).slice(6), 'whsec_äää']) {
      expect(() => readWebhookKey(wrong, 'hook.key')).toThrow('hook.key: a key is whsec_')
    }
  })
})
