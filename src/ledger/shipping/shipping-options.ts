import { onOrOff, optionsFor, wholeNumber } from '../../base/runtime/option.js'
import { shardUrls } from '../engine/shard-urls.js'

/** Settings made by the options of shipping. */
export interface ShippingTarget {
  /** URLs of the shards that get the rows, in their order. */
  readonly shards: readonly string[]
  /** Bytes of rows that wait for shards. */
  readonly backlog: number
  /** Whether shards with rows of others are filled anew. */
  readonly takeOver: boolean
  /** Seconds without a sign of the node that ships after which this one takes its place. */
  readonly standBy: number
}

/** @tuning bytes: rows that wait for shards */
export const shipBacklog = 8 * 2 ** 30

const { option, tuning, table } = optionsFor<ShippingTarget>()

export const shippingOptions = table('shipping', {
  shards: option({
    flag: '--ship <url...>',
    ...shardUrls,
    description:
      'copy the rows of the node to PostgreSQL, one URL for each shard; further hosts of a URL behind commas are replicas of that shard',
  }),
  backlog: tuning('backlog', {
    flag: '--ship-backlog <bytes>',
    ...wholeNumber(2 ** 20, 2 ** 50, 'bytes'),
    default: shipBacklog,
    description: 'rows kept for shards that do not answer; beyond that the shards are filled again',
  }),
  takeOver: option({
    flag: '--ship-take-over',
    ...onOrOff(false),
    description: 'fill shards again that have the rows of another node, or of an earlier time of this one',
  }),
  standBy: option({
    flag: '--ship-stand-by <seconds>',
    ...wholeNumber(20, 86_400, 'seconds'),
    description: 'wait while another node ships to the shards, and take its place once it has not for so long',
  }),
})
