import type { Code } from '../../../base/errors/error-codes.js'
import { brokenRule } from '../../../base/errors/broken-rule.js'
import { RuleError, UserError } from '../../../base/errors/rule-error.js'
import type { Log } from '../../../base/runtime/env.js'
import { RowMiss, RowsMoved } from '../../../ledger/engine/engine-failures.js'
import { StorageError } from '../../../ledger/storage/failure.js'
import { PassingError } from '../../identifiers/passing-error.js'
import { interfaceErrors } from './error-mapping.js'
import { NeedsNode } from './needs-node.js'

/** Seconds after which a client should try again, by the code of a temporary refusal. */
const retries: Readonly<Partial<Record<Code, number>>> = {
  busy: 2,
  'resolver-behind': 2,
  'behind-height': 1,
  'shards-apart': 1,
  'shard-down': 5,
}

/** Seconds of `Retry-After` of a refusal; undefined where it is no temporary one. */
export function retryAfterOf(rule: RuleError): number | undefined {
  return rule instanceof PassingError ? rule.retryAfter : retries[rule.code]
}

/**
 * The RuleError to report for any thrown value. An unexpected error is logged with its stack and becomes `internal`, without details;
 * failures of the storage are described without its paths.
 */
export function ruleErrorOf(error: unknown, log: Log): RuleError {
  if (error instanceof RuleError) return error
  // A long answer of a gateway had begun, or asks in the midst for what it has not.
  if (error instanceof RowsMoved || error instanceof RowMiss)
    return new RuleError('busy', 'a block arrived meanwhile; ask again')
  if (error instanceof NeedsNode) return brokenRule('gateway-reads-only')
  const { code, message, stack }: Thrown = error instanceof Error ? error : { message: String(error) }
  // The client, or a time-out that has answered already, closed the connection before the body was complete, or the answer.
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') return brokenRule('request-timeout')
  // A UserError needs no stack: its cause is not in the code.
  log.error({ error: message, ...(error instanceof UserError ? {} : { stack }) }, 'a request failed')
  // The message of a storage names paths.
  return error instanceof StorageError ? new RuleError('internal', error.fact) : brokenRule('internal')
}

/** The members that are read of something thrown. */
type Thrown = Pick<NodeJS.ErrnoException, 'message'> & Partial<Pick<NodeJS.ErrnoException, 'code' | 'stack'>>

/** The method of a request for a tunnel to another host. Node hands it out apart from all others. */
export const tunnelMethod = 'CONNECT'

/** The failure for an error code of Node's HTTP parser, or for {@link tunnelMethod}. */
export function parserFailure(code: string | undefined): RuleError {
  if (code === 'HPE_HEADER_OVERFLOW') return brokenRule('request-headers')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return brokenRule('request-timeout')
  if (code === tunnelMethod) return new RuleError('request-method', 'CONNECT: this is no proxy, so it opens no tunnel')
  if (code === 'HPE_PAUSED_H2_UPGRADE') return new RuleError('request-form', 'HTTP/2 is not spoken here')
  const why = code === undefined ? '' : ` (${code})`
  return new RuleError('request-form', `the bytes are no HTTP request that can be read here${why}`)
}

/** HTTP status of a failure; JSON-RPC has codes of its own for failures of a method. */
export function statusOf(error: RuleError): number {
  return interfaceErrors[error.code].http
}
