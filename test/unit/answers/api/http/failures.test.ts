import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import { parserFailure, ruleErrorOf, statusOf } from '../../../../../src/answers/api/http/failures.js'
import { UserError } from '../../../../../src/base/errors/rule-error.js'
import { quietLog } from '../../../../support/builders/chain.js'

describe('what is thrown', () => {
  test('is nothing to report where the client left', async () => {
    const left = new Readable({ read: () => {} })
    const thrown = finished(left).catch((error: unknown) => error)
    left.destroy()
    const log = quietLog()
    expect([ruleErrorOf(await thrown, log).code, log.errors]).toEqual(['request-timeout', []])
  })

  test('is a failure of this program otherwise, and logged', () => {
    const own = [Object.assign(new Error('x'), { statusCode: 400 }), new TypeError('x'), new UserError('x'), 'text']
    for (const error of own) {
      const log = quietLog()
      expect(ruleErrorOf(error, log).code).toBe('internal')
      expect(log.errors).toHaveLength(1)
    }
  })
})

test.each([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_INVALID_METHOD', 400],
  ['HPE_PAUSED_H2_UPGRADE', 400],
  ['CONNECT', 405],
  [undefined, 400],
])('the parser refuses with %s: %i', (code, status) => {
  expect(statusOf(parserFailure(code))).toBe(status)
})
