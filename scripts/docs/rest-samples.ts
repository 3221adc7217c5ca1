import { type DevnetStory, hashAt, openDevnetStory, payee } from './devnet-story.js'

/** The requests of the REST reference, one per path of the table. */

/** Request and answer of a path, as the page shows them. */
export interface RestExchange {
  /** With its parameters filled in. */
  readonly path: string
  readonly body: object | undefined
  readonly answer: unknown
}

interface RestSample {
  /** Values of the parameters, by name. */
  readonly values?: (story: DevnetStory) => Readonly<Record<string, string>>
  readonly body?: (story: DevnetStory) => object
  /** Members of the result that differ from run to run, and what to show instead. */
  readonly shown?: object
}

const atHeight: RestSample = { values: () => ({ height: '1' }) }
const byHash: RestSample = { values: ({ devnet }) => ({ hash: hashAt(devnet, 1) }) }
const ofPayee: RestSample = { values: () => ({ addr: payee.address }) }
const inAsset: RestSample = {
  values: (story) => ({ addr: payee.address, assetid: nativeAssetOf(story) }),
}

/** By path, in the order in which they are sent: the pool is shown with a transaction, and nothing follows the restart. */
export const restSamples: Readonly<Record<string, RestSample>> = {
  transaction: { body: ({ unsent }) => ({ Action: 'sendrawtransaction', data: unsent.toHex() }) },
  'node/connectioncount': {},
  // The sample node listens on free ports.
  'node/state': { shown: { PRCPort: 20336, RestPort: 20334, WSPort: 20335 } },
  'block/height': {},
  transactionpool: {},
  'block/hash/:height': atHeight,
  'block/details/height/:height': atHeight,
  'block/details/hash/:hash': byHash,
  'confirm/details/height/:height': atHeight,
  'confirm/details/hash/:hash': byHash,
  'block/transactions/height/:height': atHeight,
  'transaction/:hash': { values: ({ paid }) => ({ hash: paid.txid }) },
  'asset/balances/:addr': ofPayee,
  'asset/utxos/:addr': ofPayee,
  'asset/:hash': { values: (story) => ({ hash: nativeAssetOf(story) }) },
  'asset/balance/:addr/:assetid': inAsset,
  'asset/utxo/:addr/:assetid': inAsset,
  restart: {},
}

/** The exchange of every path; `prefix` stands before the paths of the samples. */
export async function runRestSamples(prefix: string): Promise<ReadonlyMap<string, RestExchange>> {
  const exchanges = new Map<string, RestExchange>()
  const story = await openDevnetStory()
  try {
    for (const [pattern, { values, body: bodyOf, shown }] of Object.entries(restSamples)) {
      const path = prefix + filled(pattern, values?.(story) ?? {})
      const body = bodyOf?.(story)
      const answer = await story.devnet.rest(path, body)
      exchanges.set(pattern, { path, body, answer: shown === undefined ? answer : replaced(answer, shown) })
    }
    return exchanges
  } finally {
    await story.devnet.close()
  }
}

/** The path with a value for each `:name`. */
function filled(pattern: string, values: Readonly<Record<string, string>>): string {
  return pattern.replace(/:(\w+)/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`the sample of ${pattern} has no ${name}`)
    return value
  })
}

function replaced(answer: unknown, shown: object): unknown {
  const { Result, ...envelope } = answer as { Result: object }
  return { ...envelope, Result: { ...Result, ...shown } }
}

/** Id of the asset of the chain, display order. */
function nativeAssetOf({ paid }: DevnetStory): string {
  const { vout } = paid.toJSON() as { vout: { assetid: string }[] }
  return vout[0]?.assetid ?? ''
}
