import { Type } from '@sinclair/typebox'
import { rateText } from '../../../ledger/mempool/fee-rate.js'
import { nodeState } from '../results/node-result.js'
import { closed, uint32 } from '../schemas/common-schemas.js'
import { nodeStateSchema } from '../schemas/node-schemas.js'
import { count } from '../schemas/number-schemas.js'
import { JsonText, method, type RpcMethod } from './method.js'

const none = Type.Object({})
const zero = Type.Literal(0)
const feeFloor = Type.String({
  pattern: '^\\d+(\\.\\d{1,3})?$',
  description: 'sela that the pool asks for each byte at present; 0: as much as the chain asks',
})
const nodeSummary = closed({
  version: count('of the network protocol'),
  balance: zero,
  blocks: uint32('height of the tip'),
  timeoffset: zero,
  connections: count('nodes past the handshake'),
  testnet: Type.Boolean({ description: 'whether the chain is a devnet' }),
  keypoololdest: zero,
  keypoolsize: zero,
  unlocked_until: zero,
  paytxfee: zero,
  relayfee: Type.Number({ minimum: 0, description: 'coins that the pool asks for 1000 bytes at present' }),
  feefloor: feeFloor,
  policy: closed(
    {
      size: count('bytes of a transaction that the pool takes, at most'),
      inputs: count('inputs of one'),
      signaturecost: count('signature checks for the programs of one'),
      ancestors: count('unconfirmed ancestors of one'),
      didoperations: count('operations of a DID that wait at a time; a deactivate has one more place'),
      replacements: count(
        'waiting transactions that one replaces, at most: it spends the same, nothing builds on them, and it pays their fees and ' +
          'the price of its own size, and more for a byte than each',
      ),
    },
    'bounds of transactions that this pool takes; others may differ',
  ),
  errors: Type.Literal(''),
})

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
    name: 'getinfo',
    summary: 'The node in the form that older clients read; what this node does not have is 0 or empty.',
    params: none,
    result: nodeSummary,
    run: ({ reader, mempool, nodeInfo }) => ({
      version: nodeInfo().version,
      balance: 0,
      blocks: reader.height,
      timeoffset: 0,
      connections: nodeInfo().neighbors.length,
      testnet: reader.chain.spec.devnet,
      keypoololdest: 0,
      keypoolsize: 0,
      unlocked_until: 0,
      paytxfee: 0,
      relayfee: mempool.floor / 1e8,
      feefloor: rateText(mempool.floor),
      policy: {
        size: mempool.limits.transactionSize,
        inputs: mempool.limits.inputs,
        signaturecost: mempool.limits.signatureCost,
        ancestors: mempool.limits.ancestors,
        didoperations: mempool.limits.didOperations,
        replacements: mempool.limits.replacements,
      },
      errors: '',
    }),
  }),
  method({
    name: 'getfeerate',
    summary:
      'Least price of a byte for which the pool takes transactions at present, beside the least fees of the chain.',
    params: none,
    result: closed({ floor: feeFloor, perkilobyte: count('sela that it asks for 1000 bytes, rounded up') }),
    run: ({ mempool: { floor } }) => ({ floor: rateText(floor), perkilobyte: floor }),
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
