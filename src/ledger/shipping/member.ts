import type { ShardPlace, ShardState } from '../engine/row-engine.js'

/** A shard that gets steps. */
export interface Member {
  readonly database: number
  /** Its part of the rows from the next step on. */
  readonly place: ShardPlace
  state: ShardState
}
