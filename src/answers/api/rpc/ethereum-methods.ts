import { Type } from '@sinclair/typebox'
import { needed } from '../http/needs-node.js'
import { closed } from '../schemas/common-schemas.js'
import { method, type RpcMethod } from './method.js'

const none = Type.Object({})
/** Schema of a number as Ethereum clients read it: no leading zeros. */
const quantity = (description: string) =>
  Type.String({ pattern: '^0x(0|[1-9a-f][0-9a-f]*)$', description: `${description}, in hex` })
const hex = (number: number) => `0x${number.toString(16)}`

/** Calls of the smart-contract parent chain that have a true answer here, in the forms that its clients expect. */
export const ethereumMethods: readonly RpcMethod[] = [
  method({
    name: 'eth_blockNumber',
    lasts: 'chain',
    summary: 'Height of the tip.',
    params: none,
    result: quantity('height'),
    run: ({ reader }) => hex(reader.height),
  }),
  method({
    name: 'eth_chainId',
    lasts: 'chain',
    summary: 'The chain’s number among those of this family: evmChainId of its spec, which the genesis block binds.',
    params: none,
    result: quantity('number'),
    run: ({ reader }) => hex(reader.chain.spec.evmChainId),
  }),
  method({
    name: 'eth_syncing',
    summary: 'false, or while the node is catching up how far it is.',
    params: none,
    result: Type.Union([
      Type.Literal(false),
      closed({
        startingBlock: quantity('height of the genesis block'),
        currentBlock: quantity('height of the tip'),
        highestBlock: quantity('height of the best tip that a peer has proved'),
      }),
    ]),
    run: ({ health }) => {
      const { catchingUp, height, target } = needed(health().sync)
      return catchingUp && { startingBlock: hex(0), currentBlock: hex(height), highestBlock: hex(target) }
    },
  }),
  method({
    name: 'net_version',
    lasts: 'chain',
    summary: 'The number of eth_chainId in decimal.',
    params: none,
    result: Type.String({ pattern: '^[0-9]+$' }),
    run: ({ reader }) => String(reader.chain.spec.evmChainId),
  }),
  method({
    name: 'net_peerCount',
    summary: 'Number of connected nodes.',
    params: none,
    result: quantity('number'),
    run: ({ nodeInfo }) => hex(nodeInfo().neighbors.length),
  }),
  method({
    name: 'net_listening',
    summary: 'Whether the node takes connections of other nodes.',
    params: none,
    result: Type.Boolean(),
    run: ({ nodeInfo }) => nodeInfo().ports.p2p !== 0,
  }),
  method({
    name: 'web3_clientVersion',
    summary: 'Program and version.',
    params: none,
    result: Type.String({ description: 'didledger/v and the version' }),
    run: ({ nodeInfo }) => `didledger/v${nodeInfo().compile}`,
  }),
]
