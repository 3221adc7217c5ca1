import { displayHash } from '../../../src/base/primitives/bytes.js'
import { addressOf } from '../../../src/base/primitives/address.js'
import { didOfKey } from '../../../src/base/primitives/did-key.js'
import { lightPrefix } from '../../../src/answers/api/paths/light-routes.js'
import { restPrefix } from '../../../src/answers/api/paths/rest-routes.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import type { TestChain } from '../builders/chain.js'
import { ask } from './api.js'

/** A request of the contract: a GET of a path, or a call of JSON-RPC. */
export interface ContractQuestion {
  readonly path: string
  readonly call?: { readonly method: string; readonly params: unknown }
  readonly headers?: Readonly<Record<string, string>>
}

/** Names that a chain has, and can be asked for. */
interface ChainNames {
  readonly dids: readonly string[]
  readonly txids: readonly string[]
  readonly addresses: readonly string[]
  readonly credentials: readonly string[]
  readonly heights: readonly number[]
  readonly hashes: readonly string[]
}

async function namesOf({ database, reader }: TestChain): Promise<ChainNames> {
  const some = async (range: { gte: Buffer; lt: Buffer }, limit: number) => database.rows(range, { limit })
  const heights = [0, 1, 2, 7, Math.floor(reader.height / 2), reader.height - 1, reader.height, reader.height + 1]
  const dids = (await some(tables.didHead.range(), 6)).map(([key]) => didOfKey(tables.didHead.fields(key)[0]))
  const declared = await some(tables.declared.range(), 4)
  return {
    dids: [...dids, 'did:ledger:iXMsb6ippqkCHN3EeWc4CCA9ySTm1L3v8v'],
    txids: [
      ...(await some(tables.location.range(), 6)).map(([key]) => displayHash(tables.location.fields(key)[0])),
      '0'.repeat(64),
    ],
    addresses: (await some(tables.balance.range(), 4)).map(([key]) => addressOf(tables.balance.fields(key)[0])),
    credentials: declared.map(
      ([key, fragment]) => `${didOfKey(tables.declared.fields(key)[0])}#${fragment.toString()}`,
    ),
    heights,
    hashes: heights.flatMap((height) => reader.headerAt(height)?.header.id ?? []),
  }
}

/** Requests for every kind of answer that follows from the chain alone, with names that the chain has and some that it has not. */
export async function contractQuestions(node: TestChain): Promise<ContractQuestion[]> {
  const { dids, txids, addresses, credentials, heights, hashes } = await namesOf(node)
  const rest = (path: string): ContractQuestion => ({ path: restPrefix + path })
  const call = (method: string, params: unknown = []): ContractQuestion => ({ path: '/rpc', call: { method, params } })
  const light = (path: string): ContractQuestion => ({ path: lightPrefix + path })
  const conditions = [
    { service: 'Hub' },
    { credential: 'BasicProfileCredential' },
    { query: { 'publicKey.id': { $exists: true } } },
    { query: { id: { $regex: 'i' } }, limit: 3, context: true },
    { query: { expires: { $lt: '2040-01-01T00:00:00Z' } }, skip: 1, limit: 2 },
  ]
  return [
    ...heights.flatMap((height) => [
      rest(`block/details/height/${height}`),
      rest(`block/transactions/height/${height}`),
      rest(`block/hash/${height}`),
      rest(`confirm/details/height/${height}`),
      call('getblockbyheight', { height }),
      call('getblockhash', { height }),
      call('listblocks', { before: height, limit: 3 }),
      call('getconfirmbyheight', { height }),
      light(`anchor/${height}`),
    ]),
    ...hashes.flatMap((hash) => [
      rest(`block/details/hash/${hash}`),
      rest(`confirm/details/hash/${hash}`),
      call('getblock', { blockhash: hash, verbosity: 2 }),
      call('getblock', { blockhash: hash, verbosity: 0 }),
    ]),
    ...txids.flatMap((txid) => [
      call('getrawtransaction', { txid, verbose: true }),
      call('getrawtransaction', { txid, verbose: false }),
    ]),
    ...txids.slice(0, -1).map((txid) => rest(`transaction/${txid}`)),
    ...addresses.flatMap((address) => [
      rest(`asset/balances/${address}`),
      rest(`asset/utxos/${address}`),
      call('getreceivedbyaddress', { address }),
      call('listunspent', { addresses: [address] }),
      call('getaddresshistory', { address, limit: 5 }),
    ]),
    ...dids.flatMap((did) => [
      call('resolvedid', { did }),
      call('resolvedid', { did, all: true, context: true }),
      call('did_resolveDID', [{ did, all: false }]),
      call('resolvedid', { did, proof: { depth: 1 } }),
      call('did_listCredentials', { did, skip: 0, limit: 10 }),
      call('did_prove', { did, history: true }),
      { path: `/1.0/identifiers/${did}` },
      {
        path: `/1.0/identifiers/${did}`,
        headers: { accept: 'application/ld+json;profile="https://w3id.org/did-resolution"' },
      },
      light(`did/${did}`),
    ]),
    ...credentials.flatMap((id) => [
      call('did_resolveCredential', { id }),
      call('did_resolveCredential', { id, proof: {} }),
    ]),
    ...conditions.map((condition) => call('query', condition)),
    ...[
      'getblockcount',
      'getbestblockhash',
      'getchaininfo',
      'countdids',
      'listdidoperations',
      'listdays',
      'listvoters',
      'light_trust',
    ].map((name) => call(name, {})),
    rest('block/height'),
    light('trust'),
    light('changes/0'),
    light('headers/1/20'),
  ]
}

/** The parts of an answer that a gateway has to give as the node does. */
export async function answerTo(port: number, { path, call, headers }: ContractQuestion) {
  const question = call && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...call }),
  }
  const { status, headers: answered, text } = await ask(port, path, question ?? { headers: headers ?? {} })
  const { 'content-type': type, etag, 'x-chain-height': height } = answered
  return { status, type, etag, height, text }
}
