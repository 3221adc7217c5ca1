import type { ApiContext } from '../context.js'
import { assetBalance, assetUnspent, balance, nativeAsset, unspentGroups } from './assets.js'
import { blockByHash, blockByHeight, blockHash, blockTransactions, confirmByHash, confirmByHeight } from './blocks.js'
import { nodeState } from './node.js'
import { type ParameterKind, type ParameterValues, readParameter } from './parameters.js'
import { sendTransaction, transaction, transactionPool } from './transactions.js'

/** What a handler gets. */
export interface RestRequest {
  readonly context: ApiContext
  /** Segments of the path by name, not read yet. */
  readonly segments: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array | undefined
}

/** One path of the interface with what stands behind it. */
export interface RestRoute {
  readonly methods: readonly ('GET' | 'POST')[]
  /** Below `/api/v1/`, parameters as `:name`. */
  readonly path: string
  readonly parameters: Readonly<Record<string, ParameterKind>>
  /** The confirm endpoints wrap their answers in another envelope. */
  readonly envelope: 'standard' | 'confirm'
  /** Whether only this machine may ask, and no page of another site. */
  readonly control: boolean
  /** Whether there is nothing to do without a body of JSON. */
  readonly takesJson: boolean
  /** The JSON text of the answer's result. */
  run(request: RestRequest): string | Promise<string>
  /** Whether the answer that {@link run} just gave follows from the chain alone, and so holds until the tip changes. */
  lasts(request: RestRequest): boolean
}

export const restPrefix = '/api/v1/'

type Kinds = Readonly<Record<string, ParameterKind>>
type Values<P extends Kinds> = { [Name in keyof P]: ParameterValues[P[Name]] }
type Run<P extends Kinds> = (context: ApiContext, values: Values<P>, request: RestRequest) => string | Promise<string>

function route<P extends Kinds>(
  path: string,
  parameters: P,
  run: Run<P>,
  options: Partial<Pick<RestRoute, 'methods' | 'envelope' | 'control' | 'takesJson' | 'lasts'>> = {},
): RestRoute {
  return {
    methods: ['GET'],
    envelope: 'standard',
    control: false,
    takesJson: false,
    lasts: () => false,
    ...options,
    path,
    parameters,
    run: (request) => {
      const read = Object.entries(parameters).map(([name, kind]) => [
        name,
        readParameter(kind, name, request.segments[name] ?? ''),
      ])
      return run(request.context, Object.fromEntries(read) as Values<P>, request)
    },
  }
}

const ofChain = { lasts: () => true }
const confirm = { envelope: 'confirm', lasts: () => true } as const

/** Every path of the REST interface. Paths match exactly: case, number of segments, no slash at the end. */
export const restRoutes: readonly RestRoute[] = [
  route('node/connectioncount', {}, ({ nodeInfo }) => String(nodeInfo().neighbors.length)),
  route('node/state', {}, nodeState),
  route('block/height', {}, ({ reader }) => String(reader.height), ofChain),
  route('transactionpool', {}, transactionPool),
  route('restart', {}, () => '""', { methods: ['GET', 'POST'], control: true }),
  route('block/hash/:height', { height: 'height' }, ({ reader }, { height }) => blockHash(reader, height), ofChain),
  route(
    'block/details/height/:height',
    { height: 'height' },
    ({ reader }, { height }) => blockByHeight(reader, height),
    ofChain,
  ),
  route('block/details/hash/:hash', { hash: 'hash' }, ({ reader }, { hash }) => blockByHash(reader, hash), ofChain),
  route(
    'confirm/details/height/:height',
    { height: 'height' },
    ({ reader }, { height }) => confirmByHeight(reader, height),
    confirm,
  ),
  route('confirm/details/hash/:hash', { hash: 'hash' }, ({ reader }, { hash }) => confirmByHash(reader, hash), confirm),
  route(
    'block/transactions/height/:height',
    { height: 'height' },
    ({ reader }, { height }) => blockTransactions(reader, height),
    ofChain,
  ),
  route('transaction/:hash', { hash: 'hash' }, (context, { hash }) => transaction(context, hash), {
    lasts: ({ context, segments }) =>
      context.mempool.get(readParameter('hash', 'hash', segments['hash'] ?? '')) === undefined,
  }),
  route('asset/balances/:addr', { addr: 'address' }, ({ reader }, { addr }) => balance(reader, addr), ofChain),
  route('asset/utxos/:addr', { addr: 'address' }, ({ reader }, { addr }) => unspentGroups(reader, addr), ofChain),
  route('asset/:hash', { hash: 'any' }, ({ reader }) => nativeAsset(reader)),
  route(
    'asset/balance/:addr/:assetid',
    { addr: 'address', assetid: 'assetId' },
    ({ reader }, { addr, assetid }) => assetBalance(reader, addr, assetid),
    ofChain,
  ),
  route(
    'asset/utxo/:addr/:assetid',
    { addr: 'address', assetid: 'assetId' },
    ({ reader }, { addr, assetid }) => assetUnspent(reader, addr, assetid),
    ofChain,
  ),
  route('transaction', {}, (context, _, { body }) => sendTransaction(context, body), {
    methods: ['POST'],
    takesJson: true,
  }),
]
