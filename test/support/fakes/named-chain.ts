import type { RequestListener } from 'node:http'
import type { OwnChain } from '../../../src/answers/api/http/chain-of-node.js'
import { quietLog } from '../builders/chain.js'

/** A chain by its name alone. */
export const namedChain: OwnChain = { genesis: '5a'.repeat(32), log: quietLog() }

/** A node that says of which chain it is, and answers all else as it is told. */
export function nodeOfChain(genesis: string, answer: RequestListener): RequestListener {
  return (request, response) => {
    if (request.url !== '/api/v1/block/hash/0') return answer(request, response)
    // The next question comes by a connection of its own.
    response.writeHead(200, { connection: 'close' }).end(JSON.stringify({ Error: 0, Result: genesis }))
  }
}
