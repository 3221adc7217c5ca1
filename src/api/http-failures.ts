import { brokenRule } from '../errors/broken-rule.js'
import { RuleError, UserError } from '../errors/rule-error.js'
import type { Log } from '../runtime/env.js'
import { interfaceErrors } from './error-mapping.js'

/** Seconds after which a client refused as `busy` should try again. */
export const retryAfter = 2

/**
 * The RuleError to report for whatever was thrown. An unexpected error is logged with its stack and becomes `internal`, without
 * details.
 */
export function ruleErrorOf(error: unknown, log: Log): RuleError {
  if (error instanceof RuleError) return error
  const { code, message, stack } = error instanceof Error ? (error as NodeJS.ErrnoException) : unknownError(error)
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return brokenRule('request-too-large')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return brokenRule('request-media-type')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new RuleError('request-form', 'the body does not have the length that Content-Length says')
    case 'FST_ERR_BAD_URL':
      return new RuleError('request-parameter', 'the path is not valid percent-encoding of UTF-8')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new RuleError('request-parameter', 'a segment of the path is too long')
    // The client, or a time-out that has answered already, closed the connection before the body was complete.
    case 'ECONNRESET':
      return brokenRule('request-timeout')
    default:
      // A UserError needs no stack: its cause is not in the code.
      log.error({ error: message, ...(error instanceof UserError ? {} : { stack }) }, 'a request failed')
      return brokenRule('internal')
  }
}

function unknownError(error: unknown): { code: undefined; message: string; stack: undefined } {
  return { code: undefined, message: String(error), stack: undefined }
}

/** The failure for an error code of Node's HTTP parser. */
export function parserFailure(code: string | undefined): RuleError {
  if (code === 'HPE_HEADER_OVERFLOW') return brokenRule('request-headers')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return brokenRule('request-timeout')
  return new RuleError('request-form', `the bytes are no HTTP request${code === undefined ? '' : ` (${code})`}`)
}

/** HTTP status of a failure; JSON-RPC has codes of its own for failures of a method. */
export function statusOf(error: RuleError): number {
  return interfaceErrors[error.code].http
}
