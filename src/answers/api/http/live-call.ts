import type { RuleError } from '../../../base/errors/rule-error.js'
import type { LiveLine } from '../../../base/runtime/live-log.js'

/** Characters of a method or path, and of the reason of a failure, in a line of the live log. */
const longestName = 120
const longestReason = 160

/** An answered call. */
export interface AnsweredCall {
  /** `rest`: any path that is not JSON-RPC. */
  readonly via: 'rest' | 'http' | 'websocket'
  /** Method of JSON-RPC, or method and path of HTTP, as the client wrote it. */
  readonly name: string
  /** `ok`, an error code of JSON-RPC, or an HTTP status. */
  readonly status: string | number
  readonly failure?: RuleError | undefined
  readonly milliseconds: number
}

/** The line of a call in the live log. Made only if the log shows it. */
export function callLine({ via, name, status, failure, milliseconds }: AnsweredCall): LiveLine {
  const called = name.slice(0, longestName)
  const reason = failure?.message.slice(0, longestReason)
  const failed = failure !== undefined || (typeof status === 'number' && (status < 0 || status >= 400))
  const outcome = failed ? [String(status), failure?.code, reason].filter((part) => part !== undefined).join(' ') : 'ok'
  const time = `${milliseconds.toFixed(milliseconds < 10 ? 2 : 0)} ms`
  return {
    text: `${via === 'websocket' ? 'ws ' : ''}${called}  ${outcome}  ${time}`,
    fields: {
      via,
      call: called,
      status,
      ...(failure === undefined ? {} : { code: failure.code, reason }),
      ms: Math.round(milliseconds * 1000) / 1000,
    },
    failed,
  }
}
