import { Type } from '@sinclair/typebox'
import { nodeState } from '../results/node-result.js'
import { nodeStateSchema } from '../schemas/node-schemas.js'
import { count } from '../schemas/number-schemas.js'
import { JsonText, method, type RpcMethod } from './method.js'

const none = Type.Object({})

/** The node and its peers. */
export const nodeMethods: readonly RpcMethod[] = [
  method({
    name: 'getconnectioncount',
    summary: 'Number of connected nodes.',
    params: none,
    result: count('past the handshake'),
    run: ({ nodeInfo }) => nodeInfo().neighbors.length,
  }),
  method({
    name: 'getneighbors',
    summary: 'The connected nodes, and which side opened the connection.',
    params: none,
    result: Type.Array(Type.String({ pattern: '^\\S+ \\((in|out)bound\\)$', description: 'host:port (inbound)' })),
    run: ({ nodeInfo }) =>
      nodeInfo().neighbors.map(({ address, external }) => `${address} (${external ? 'inbound' : 'outbound'})`),
  }),
  method({
    name: 'getnodestate',
    summary: 'Version, height, ports and peers of the node, as REST shows them.',
    params: none,
    result: nodeStateSchema,
    run: (context) => new JsonText(nodeState(context)),
  }),
]
