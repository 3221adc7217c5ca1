import { equalBytes } from '../../base/primitives/bytes.js'
import { databaseOf, isPlace, placed } from '../engine/placement.js'
import type { ShardState } from '../engine/row-engine.js'
import { schemaVersion } from '../storage/rows/tables.js'
import type { Outbox } from '../storage/write/outbox.js'
import { uuidOf } from './shard-step.js'

/** Decides whether batches of a data directory may be added to shards. */

/** Shards with rows that do not come before this directory's next ones. */
export interface Unfit {
  /** `behind`: they have its stream, but it has deleted batches that they lack. */
  readonly kind: 'foreign' | 'behind'
  readonly why: string
  /** Whether they have rows of the same chain. */
  readonly mayReplace: boolean
}

export type Judgement =
  /** All follow this directory's stream; shards that are to be divided have their place of before. */
  | { readonly kind: 'follow'; readonly states: readonly ShardState[] }
  /** Some are empty or have rows that are too old for the room of a division, and the others follow. */
  | {
      readonly kind: 'fill'
      readonly empty: readonly number[]
      readonly epoch: number
      /** The shards that are to be divided, which are whole without those that are empty; undefined: they are not. */
      readonly divided: readonly ShardState[] | undefined
    }
  /** No shard has rows. */
  | { readonly kind: 'empty' }
  | Unfit

interface Own {
  /** Hash of the genesis block. */
  readonly genesis: Uint8Array
  readonly outbox: Pick<Outbox, 'position' | 'digestAt'>
  /** UUID of the stream that the directory had last in this run, of 16 bytes; undefined: none. */
  readonly stream: Uint8Array | undefined
}

const lacking = 'the data directory has not kept what they lack'

export async function judgeShards(
  { genesis, outbox, stream }: Own,
  states: readonly (ShardState | undefined)[],
): Promise<Judgement> {
  const filled = states.filter((state) => state !== undefined)
  if (filled.length === 0) return { kind: 'empty' }
  const foreign = (why: string, mayReplace = true) => ({ kind: 'foreign', why, mayReplace }) as const
  const behind = { kind: 'behind', why: lacking, mayReplace: true } as const
  if (!filled.every(({ chain }) => equalBytes(chain, genesis)))
    return foreign('they have the rows of another chain', false)
  if (!arePlaced(states)) return foreign(`they are not the ${states.length} shards of the list, in its order`)
  if (filled.some(({ layout }) => layout !== schemaVersion)) return foreign('their rows have another layout')
  if (stream === undefined) return foreign(lacking)
  if (filled.some((state) => state.stream !== uuidOf(stream)))
    return foreign('they have the rows of another data directory, or of an earlier filling')
  const { position } = outbox
  if (position === undefined) return behind
  const divided = placed(states)
  const isRoom = (state: ShardState) => divided !== undefined && !divided.includes(state)
  const empty = [...states.keys()].filter((number) => states[number] === undefined)
  for (const state of filled) {
    if (state.sequence > position.sequence)
      return foreign('they have batches that the data directory has not made, as after a restored copy')
    const own = await outbox.digestAt(state.sequence)
    if (own === undefined && isRoom(state)) empty.push(states.indexOf(state))
    else if (own === undefined) return behind
    else if (!equalBytes(own, state.digest))
      return foreign('they have other batches under the same numbers, as after a restored copy')
  }
  const epoch = highestEpoch(filled)
  if (filled.some((state) => state.epoch !== epoch)) return foreign('another node is filling them')
  return empty.length === 0 ? { kind: 'follow', states: filled } : { kind: 'fill', empty, epoch, divided }
}

/**
 * Whether databases have the shards of the list, or of a list with a divisor of their number: then each shard is divided over its own
 * database and those behind it.
 */
function arePlaced(states: readonly (ShardState | undefined)[]): boolean {
  const databases = states.length
  const former = states.find((state) => state !== undefined && state.shards !== databases)?.shards ?? databases
  const isFormer = (state: ShardState, database: number) =>
    state.shards === former && databaseOf(state.number, former, databases) === database
  return (
    databases % former === 0 &&
    states.every(
      (state, database) =>
        state === undefined || isPlace(state, { number: database, shards: databases }) || isFormer(state, database),
    )
  )
}

/** The highest epoch of shards; 0 without one. */
export function highestEpoch(states: readonly (ShardState | undefined)[]): number {
  return Math.max(0, ...states.map((state) => state?.epoch ?? 0))
}
