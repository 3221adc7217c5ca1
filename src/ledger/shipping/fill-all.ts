import { equalBytes } from '../../base/primitives/bytes.js'
import { UserError } from '../../base/errors/rule-error.js'
import { meta } from '../storage/rows/tables.js'
import { type Filling, fillShards } from './fill-shards.js'
import { highestEpoch } from './judge-shards.js'

/** Size of a filling, and the block that it is of. */
export interface Filled {
  readonly rows: number
  readonly bytes: number
  readonly height: number
}

/** Fills all shards as a command asks for it, whatever rows of the same chain they have. */
export async function fillAll(
  filling: Pick<Filling, 'database' | 'engine' | 'genesis' | 'stream' | 'onRows'>,
): Promise<Filled> {
  const { database, engine, genesis, onRows } = filling
  const tip = meta.tip.get(database)
  if (tip === undefined) throw new UserError('the directory has no block yet')
  const shards = Array.from({ length: engine.shards }, (_, shard) => shard)
  const states = await Promise.all(shards.map((shard) => engine.state(shard)))
  if (states.some((state) => state !== undefined && !equalBytes(state.chain, genesis))) {
    throw new UserError('the shards have the rows of another chain: name others, or drop their schema didledger')
  }
  let [rows, bytes] = [0, 0]
  const count = (...read: [number, number]) => {
    ;[rows, bytes] = read
    onRows?.(...read)
  }
  await fillShards({ ...filling, shards, epoch: highestEpoch(states) + 1, onRows: count })
  return { rows, bytes, height: tip.height }
}
