import { InvariantError } from '../../../base/errors/rule-error.js'
import { mapKey } from '../../../base/primitives/bytes.js'
import type { Shipped } from './shipped.js'
import { meta, tables } from './tables.js'

/** Finds out of a key whether another engine gets its row. */

const byTable = new Map<number, Shipped>(Object.values(tables).map(({ number, shipped }) => [number, shipped]))
const byMetaKey = new Map<string, Shipped>(Object.values(meta).map(({ key, shipped }) => [mapKey(key), shipped]))

/** Shards with the row of a key, as its table or its meta row says. */
export function shippedOf(key: Uint8Array): Shipped {
  const shipped = key[0] === tables.meta.number ? byMetaKey.get(mapKey(key)) : byTable.get(key[0] as number)
  if (shipped === undefined) throw new InvariantError(`no table has a row ${Buffer.from(key).toString('hex')}`)
  return shipped
}

export function isShipped(key: Uint8Array): boolean {
  return shippedOf(key) !== 'none'
}

/** Numbers of the tables with shipped rows. */
export const shippedTables: readonly number[] = [...byTable]
  .filter(([, shipped]) => shipped !== 'none')
  .map(([number]) => number)
  .sort((a, b) => a - b)
