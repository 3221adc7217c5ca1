import { RuleError } from '../../../base/errors/rule-error.js'
import { utf8 } from '../../../base/primitives/bytes.js'
import type { Exchange } from '../http/exchange.js'
import { NeedsNode } from '../http/needs-node.js'
import type { HttpAnswer } from '../http/path-row.js'
import type { NodePort } from './node-port.js'

/** Has a node answer a request for which a gateway has no rows; any other error is thrown again. */
export function orByNode({ context: { nodes } }: NodePort, { url, method, body, client }: Exchange) {
  return (error: unknown): Promise<HttpAnswer> => {
    if (!(error instanceof NeedsNode) || nodes === undefined) throw error
    return nodes.request(url, method === 'POST' ? textOf(body) : undefined, client)
  }
}

/** Text of a body that is passed on to another node. */
export function textOf(body: Uint8Array | undefined): string {
  const text = body === undefined ? undefined : utf8(body)
  if (text === undefined) throw new RuleError('request-json', 'the body is missing or not UTF-8')
  return text
}
