import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { errorCodes } from 'fastify'
import { describe, expect, test } from 'vitest'
import { parserFailure, ruleErrorOf, statusOf } from '../../../../../src/answers/api/http/failures.js'
import { UserError } from '../../../../../src/base/errors/rule-error.js'
import { quietLog } from '../../../../support/builders/chain.js'

interface FrameworkError extends Error {
  readonly statusCode: number
  readonly code: string
}
/** An error of each kind that the framework has. */
const errors = Object.values(errorCodes).map((Kind) => new Kind('a', 'b', 'c') as unknown as FrameworkError)

describe('what the framework throws', () => {
  test('is the fault of the client where it says so, with nothing in the log', () => {
    const blamed = errors.filter(({ statusCode }) => statusCode < 500)
    expect(blamed.length).toBeGreaterThan(5)
    for (const error of blamed) {
      const log = quietLog()
      const status = statusOf(ruleErrorOf(error, log))
      expect([error.code, status >= 400 && status < 500, log.errors]).toEqual([error.code, true, []])
    }
  })

  test('is nothing to report where the client left', async () => {
    const left = new Readable({ read: () => {} })
    const thrown = finished(left).catch((error: unknown) => error)
    left.destroy()
    const log = quietLog()
    expect([ruleErrorOf(await thrown, log).code, log.errors]).toEqual(['request-timeout', []])
  })

  test('keeps its status where there is a code for it', () => {
    const made = (statusCode: number) => Object.assign(new Error('told'), { code: 'FST_ERR_NEW', statusCode })
    for (const status of [404, 405, 408, 413, 415, 429, 431]) {
      expect(statusOf(ruleErrorOf(made(status), quietLog()))).toBe(status)
    }
    expect(ruleErrorOf(made(400), quietLog())).toMatchObject({ code: 'request-form', message: 'told' })
    expect(ruleErrorOf(made(422), quietLog())).toMatchObject({ code: 'request-form' })
  })

  test('is a failure of this program otherwise, and logged', () => {
    const own = [
      ...errors.filter(({ statusCode }) => statusCode >= 500),
      // Only the framework may blame the request by a status.
      Object.assign(new Error('x'), { statusCode: 400 }),
      new TypeError('x'),
      new UserError('x'),
      'text',
    ]
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
