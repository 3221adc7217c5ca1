import { Type } from '@sinclair/typebox'
import { slots } from './slots.js'

/** The form of an option with the URLs of shards, in their order, one for each. */
export const shardUrls = {
  schema: Type.Array(Type.String({ pattern: '^postgres(ql)?://', maxLength: 2048 }), {
    minItems: 1,
    maxItems: slots,
    uniqueItems: true,
  }),
  // Hosts of one URL are separated by commas too.
  separator: /,(?=postgres(?:ql)?:\/\/)/,
  expects: `a list of 1 to ${slots} different URLs like postgres://user@host:5432/database`,
}
