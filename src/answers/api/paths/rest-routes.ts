import { type TSchema, Type } from '@sinclair/typebox'
import type { ApiContext } from '../api-context.js'
import { type ParameterValues, readParameter } from '../parameters.js'
import type { StreamedAnswer } from '../streams/streamed-answer.js'
import {
  blockByHash,
  blockByHeight,
  blockHash,
  blockTransactions,
  confirmByHash,
  confirmByHeight,
} from '../results/block-results.js'
import { assetBalance, assetUnspent, balance, nativeAsset, unspentGroups } from '../results/coin-results.js'
import { nodeState } from '../results/node-result.js'
import { transaction, transactionPool } from '../results/transaction-results.js'
import * as blocks from '../schemas/block-schemas.js'
import * as coins from '../schemas/coin-schemas.js'
import { amount, uint32 } from '../schemas/common-schemas.js'
import * as node from '../schemas/node-schemas.js'
import { count } from '../schemas/number-schemas.js'
import { asset, transactionObject, txid } from '../schemas/transaction-schemas.js'
import { sendTransaction, sendTransactionBody } from './send-transaction.js'

/** Input of a handler. */
export interface RestRequest {
  readonly context: ApiContext
  /** Segments of the path by name, not parsed. */
  readonly segments: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array | undefined
}

export type RestResult = string | StreamedAnswer

/** One path of the interface with its handler. */
export interface RestRoute {
  readonly methods: readonly ('GET' | 'POST')[]
  /** Below `/api/v1/`, parameters as `:name`. */
  readonly path: string
  readonly parameters: Readonly<Record<string, RestParameterKind>>
  /** One sentence for the reference. */
  readonly summary: string
  /** Schema of the result on success. */
  readonly result: TSchema
  /** Schema of the JSON body; absent: none is needed. */
  readonly body?: TSchema
  /** REST numbers of the objects that may be unknown. */
  readonly unknown: readonly (44001 | 44003 | 44004)[]
  /** Whether it may be removed. */
  readonly deprecated: boolean
  /** The confirm endpoints wrap their answers in another envelope. */
  readonly envelope: 'standard' | 'confirm'
  /** Whether the request needs this machine or the token, and must not come from a page of another site. */
  readonly control: boolean
  /** JSON text of the result, or what writes it. */
  run(request: RestRequest): RestResult | Promise<RestResult>
  /** Whether an answer that {@link run} would begin now depends on the chain alone, and so holds until the tip changes. */
  lasts(request: RestRequest): boolean
}

export const restPrefix = '/api/v1/'

/** Kinds of parameters by their names in paths. */
const kinds = { height: 'height', hash: 'hash', addr: 'address', assetid: 'assetId' } as const
type Kinds = typeof kinds
export type RestParameterKind = Kinds[keyof Kinds] | 'any'

/** Names of the `:name` segments of a path. */
export type NamesIn<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never
type Values<Path extends string> = { [Name in NamesIn<Path> & keyof Kinds]: ParameterValues[Kinds[Name]] }

type Description = Pick<RestRoute, 'summary' | 'result'> & Partial<Omit<RestRoute, 'path' | 'run'>>

function route<Path extends string>(
  path: NamesIn<Path> extends keyof Kinds ? Path : never,
  description: Description,
  run: (context: ApiContext, values: Values<Path>, request: RestRequest) => RestResult | Promise<RestResult>,
): RestRoute {
  const names = path.split('/').flatMap((segment) => (segment.startsWith(':') ? [segment.slice(1) as keyof Kinds] : []))
  const parameters = description.parameters ?? Object.fromEntries(names.map((name) => [name, kinds[name]]))
  return {
    methods: ['GET'],
    envelope: 'standard',
    control: false,
    unknown: [],
    deprecated: false,
    lasts: () => false,
    ...description,
    path,
    parameters,
    run: (request) => {
      const read = Object.entries(parameters).map(([name, kind]) => [
        name,
        readParameter(kind, name, request.segments[name] ?? ''),
      ])
      return run(request.context, Object.fromEntries(read) as Values<Path>, request)
    },
  }
}

/** Answers that depend on the chain alone. */
const ofChain = { lasts: () => true }
const confirm = { ...ofChain, envelope: 'confirm', result: blocks.confirmObject, unknown: [44003, 44004] } as const

/** Every path of the REST interface. Paths match exactly: case, number of segments, no slash at the end. */
export const restRoutes: readonly RestRoute[] = [
  route(
    'node/connectioncount',
    { summary: 'number of connected nodes', result: count('past the handshake') },
    ({ nodeInfo }) => String(nodeInfo().neighbors.length),
  ),
  route(
    'node/state',
    { summary: 'version, height, ports and peers of the node', result: node.nodeStateSchema },
    nodeState,
  ),
  route(
    'block/height',
    { ...ofChain, summary: 'height of the tip', result: uint32('0 is the genesis block') },
    ({ reader }) => String(reader.height),
  ),
  route(
    'transactionpool',
    { summary: 'transactions that wait for a block', result: Type.Array(transactionObject) },
    (context) => transactionPool(context),
  ),
  route(
    'restart',
    {
      methods: ['GET', 'POST'],
      control: true,
      summary:
        'puts a new HTTP listener in the place of the old one, which answers what it has accepted; from this machine or with the admin token',
      result: Type.Literal(''),
    },
    () => '""',
  ),
  route(
    'block/hash/:height',
    { ...ofChain, summary: 'hash of the block at a height', result: blocks.blockHashSchema, unknown: [44003] },
    ({ reader }, { height }) => blockHash(reader, height),
  ),
  route(
    'block/details/height/:height',
    {
      ...ofChain,
      summary: 'the block at a height, with its transactions',
      result: blocks.blockWithTransactions,
      unknown: [44003],
    },
    ({ reader }, { height }) => blockByHeight(reader, height),
  ),
  route(
    'block/details/hash/:hash',
    {
      ...ofChain,
      summary: 'a block by hash, with the ids of its transactions',
      result: blocks.blockWithIds,
      unknown: [44003],
    },
    ({ reader }, { hash }) => blockByHash(reader, hash),
  ),
  route(
    'confirm/details/height/:height',
    { ...confirm, summary: 'proposer and voters of the block at a height' },
    ({ reader }, { height }) => confirmByHeight(reader, height),
  ),
  route(
    'confirm/details/hash/:hash',
    { ...confirm, summary: 'proposer and voters of a block by hash' },
    ({ reader }, { hash }) => confirmByHash(reader, hash),
  ),
  route(
    'block/transactions/height/:height',
    {
      ...ofChain,
      summary: 'ids of the transactions of the block at a height',
      result: blocks.blockTransactionIds,
      unknown: [44003],
    },
    ({ reader }, { height }) => blockTransactions(reader, height),
  ),
  route(
    'transaction/:hash',
    {
      summary: 'a transaction, mined or waiting',
      result: transactionObject,
      unknown: [44001],
      lasts: ({ context, segments }) => context.reader.isMined(readParameter('hash', 'hash', segments['hash'] ?? '')),
    },
    (context, { hash }) => transaction(context, hash),
  ),
  route(
    'asset/balances/:addr',
    { ...ofChain, summary: 'sum of the unspent outputs of an address', result: amount() },
    ({ reader }, { addr }) => JSON.stringify(balance(reader, addr)),
  ),
  route(
    'asset/utxos/:addr',
    { ...ofChain, summary: 'unspent outputs of an address, in one group per asset', result: coins.unspentGroupsSchema },
    ({ reader }, { addr }) => unspentGroups(reader, addr),
  ),
  route(
    'asset/:hash',
    { parameters: { hash: 'any' }, summary: 'the native asset, whatever the hash', result: asset, deprecated: true },
    ({ reader }) => nativeAsset(reader),
  ),
  route(
    'asset/balance/:addr/:assetid',
    { ...ofChain, summary: 'balance of an address in one asset', result: amount(), deprecated: true },
    ({ reader }, { addr, assetid }) => assetBalance(reader, addr, assetid),
  ),
  route(
    'asset/utxo/:addr/:assetid',
    {
      ...ofChain,
      summary: 'unspent outputs of an address in one asset, as a plain list',
      result: coins.unspentOutputs,
      deprecated: true,
    },
    ({ reader }, { addr, assetid }) => assetUnspent(reader, addr, assetid),
  ),
  route(
    'transaction',
    {
      methods: ['POST'],
      summary: 'takes a signed transaction and answers its id',
      body: sendTransactionBody,
      result: txid,
    },
    (context, _, { body }) => sendTransaction(context, body),
  ),
]
