import type { Code } from '../../../base/errors/error-codes.js'
import { type RuleError } from '../../../base/errors/rule-error.js'
import { defined } from '../../../base/primitives/defined.js'
import { interfaceErrors, restDescriptions } from './error-mapping.js'
import { retryAfterOf, statusOf } from './failures.js'
import type { RefusalForm } from './path-row.js'

/** The forms that answers have on the wire. A result is JSON text already. */

export const jsonType = 'application/json; charset=utf-8'

/** Envelopes of answers over HTTP: REST, its confirm endpoints, JSON-RPC, and failures of the paths for light resolvers. */
export type Envelope = 'standard' | 'confirm' | 'rpc' | 'light'

/** Returns the texts around the result of a successful REST endpoint. */
export function frameOf(envelope: 'standard' | 'confirm'): [string, string] {
  return envelope === 'standard'
    ? [`{"Desc":"${restDescriptions[0]}","Error":0,"Result":`, '}']
    : ['{"error":null,"id":null,"jsonrpc":"2.0","result":', '}']
}

/** A failure before or instead of an answer. A request that could not be read has no id, so JSON-RPC answers `null`. */
export function failure(envelope: Envelope, error: RuleError): string {
  const { rest } = interfaceErrors[error.code]
  const description = restDescriptions[rest] ?? ''
  if (envelope === 'standard') return JSON.stringify({ Desc: description, Error: rest, Result: error.message })
  if (envelope === 'confirm') {
    const told = { code: rest, message: description, data: error.message }
    return JSON.stringify({ error: told, id: null, jsonrpc: '2.0', result: null })
  }
  if (envelope === 'light') return JSON.stringify({ error: rpcErrorOf(error, interfaceErrors[error.code].rpc) })
  return rpcFailure('null', error, rpcCodeWithoutMethod(error))
}

/** Refuses with a failure in an envelope; a temporary one names the time to ask again. */
export function jsonForm(envelope: Envelope): RefusalForm {
  return (rule) => ({
    status: statusOf(rule),
    headers: {
      'content-type': jsonType,
      ...defined({ 'retry-after': retryAfterOf(rule)?.toString() }),
    },
    body: failure(envelope, rule),
  })
}

/** Returns the code of a failure before a method was read: an unknown method is an invalid request then. */
function rpcCodeWithoutMethod(error: RuleError): number {
  const { rpc } = interfaceErrors[error.code]
  return rpc === -32601 ? -32600 : rpc
}

const rpcMessages: Readonly<Record<number, string>> = {
  [-32700]: 'Parse error',
  [-32600]: 'Invalid Request',
  [-32601]: 'Method not found',
  [-32602]: 'Invalid params',
  [-32603]: 'Internal error',
  [-32001]: 'Resolver internal error.',
}

/** The interface has a message of its own for these, beside that of their code. */
const rpcMessageOf: Readonly<Partial<Record<Code, string>>> = { 'query-invalid': 'Query parameters invalid.' }

/** Returns the texts around a result of JSON-RPC; `id` is JSON text. */
export function rpcFrame(id: string): [string, string] {
  return [`{"id":${id},"jsonrpc":"2.0","result":`, '}']
}

/** A JSON-RPC answer with an error. Where clients look for the REST code, `data` begins with it: refused transactions, few coins. */
export function rpcFailure(id: string, error: RuleError, code: number = interfaceErrors[error.code].rpc): string {
  return `{"id":${id},"jsonrpc":"2.0","error":${JSON.stringify(rpcErrorOf(error, code))}}`
}

function rpcErrorOf(error: RuleError, code: number): { code: number; message: string; data: string } {
  const { rest } = interfaceErrors[error.code]
  const message = rpcMessageOf[error.code] ?? rpcMessages[code] ?? 'Server error'
  // Blocks have no number there: 45002 stands for whatever REST never says.
  const text = code === -32000 && rest !== 45002 ? `${restDescriptions[rest]}: ${error.message}` : error.message
  const data = text !== error.message || code === -32011 ? `${rest} ${text}` : text
  return { code, message, data }
}
