import { Type } from '@sinclair/typebox'
import { onOrOff, optionsFor, wholeNumber } from '../base/runtime/option.js'
import { rowMemoryBytes } from '../ledger/engine/engine-rows.js'
import { shardUrls } from '../ledger/engine/shard-urls.js'

/** Settings made by the options of a gateway. */
export interface GatewayTarget {
  /** URLs of the shards, in their order. */
  readonly shards: readonly string[]
  /** REST of nodes. */
  readonly nodes: readonly string[]
  /** Bytes of rows in memory. */
  readonly rows: number
  /** Whether some of its own answers are checked by their proofs. */
  readonly verifyOwn: boolean
}

/** The largest row has to fit into an eighth of it. */
const leastRows = 64 * 1024 * 1024

const { option, tuning, table } = optionsFor<GatewayTarget>(['gateway'])

export const gatewayOptions = table('gateway', {
  shards: option({
    flag: '--shards <url...>',
    ...shardUrls,
    description:
      'the PostgreSQL database with the rows of a node, of several the shards in their order; hosts of replicas follow in the URL: ' +
      'postgres://a,b/db',
  }),
  nodes: option({
    flag: '--node <url...>',
    schema: Type.Array(Type.String({ pattern: '^https?://' }), { maxItems: 16, uniqueItems: true }),
    default: [],
    description:
      'REST address of a node for transactions, the pool and what else the rows do not have; several are tried in turn',
    expects: 'a list of at most 16 different URLs, http://… or https://…',
  }),
  rows: tuning({
    flag: '--rows <bytes>',
    ...wholeNumber(leastRows, 2 ** 40, 'bytes'),
    default: rowMemoryBytes,
    description: 'rows that are kept in memory until the tip changes',
  }),
  verifyOwn: option({
    flag: '--verify-own',
    ...onOrOff(false),
    description:
      'check one of 1000 answers about DIDs by its proof, from the genesis block on, and stop where one does not hold',
  }),
})
