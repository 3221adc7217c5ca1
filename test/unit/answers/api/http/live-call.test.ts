import { expect, it } from 'vitest'
import { callLine } from '../../../../../src/answers/api/http/live-call.js'
import { RuleError } from '../../../../../src/base/errors/rule-error.js'

it('says what was called, how it ended and how long it took', () => {
  expect(callLine({ via: 'http', name: 'getblock', status: 'ok', milliseconds: 0.4321 })).toEqual({
    text: 'getblock  ok  0.43 ms',
    fields: { via: 'http', call: 'getblock', status: 'ok', ms: 0.432 },
    failed: false,
  })
  expect(callLine({ via: 'websocket', name: 'getblock', status: 'ok', milliseconds: 12.7 }).text).toBe(
    'ws getblock  ok  13 ms',
  )
  expect(callLine({ via: 'rest', name: 'GET /x', status: 302, milliseconds: 1 }).text).toBe('GET /x  ok  1.00 ms')
})

it('says why a call failed, with a bounded reason', () => {
  const failure = new RuleError('request-path', `nothing is at ${'/x'.repeat(500)}`)
  const { text, fields, failed } = callLine({
    ...{ via: 'rest', name: `GET ${'/x'.repeat(5000)}`, status: 404, failure, milliseconds: 1 },
  })
  expect(failed).toBe(true)
  expect(text).toMatch(/^GET (?:\/x)+ {2}404 request-path nothing is at (?:\/x)+ {2}1.00 ms$/)
  expect(text.length).toBeLessThan(350)
  expect(fields).toMatchObject({ status: 404, code: 'request-path' })
  expect(callLine({ via: 'http', name: 'x', status: -32603, milliseconds: 1 }).failed).toBe(true)
})
