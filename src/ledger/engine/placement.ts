import type { ShardPlace, ShardPosition } from './row-engine.js'

/**
 * Which databases of a list have the shards. There may be several for each: then the first of them has the shard, and the others are for the
 * parts into which it will be divided.
 */

/** The database that has a shard. */
export function databaseOf(shard: number, shards: number, databases: number): number {
  return (shard * databases) / shards
}

/** The shards that databases form together, by what each says of itself; undefined: they form none. */
export function shardsAmong(states: readonly (ShardPlace | undefined)[]): number | undefined {
  const { shards } = states[0] ?? { shards: 0 }
  if (states.length === 0 || states.length % shards !== 0) return undefined
  const isThere = (shard: number) =>
    isPlace(states[databaseOf(shard, shards, states.length)], { number: shard, shards })
  return Array.from({ length: shards }, (_, shard) => shard).every(isThere) ? shards : undefined
}

/** The states of the shards in their order; undefined where databases form none. */
export function placed<State extends ShardPlace>(states: readonly (State | undefined)[]): State[] | undefined {
  const shards = shardsAmong(states)
  if (shards === undefined) return undefined
  return Array.from({ length: shards }, (_, shard) => states[databaseOf(shard, shards, states.length)] as State)
}

export function isPlace(state: ShardPlace | undefined, { number, shards }: ShardPlace): boolean {
  return state?.number === number && state.shards === shards
}

/** Whether a shard is at a position. */
export function isAt(state: ShardPosition, at: ShardPosition): boolean {
  return state.sequence === at.sequence && state.stream === at.stream && state.shards === at.shards
}
