import { equalBytes } from '../../base/primitives/bytes.js'
import type { ShardState } from '../engine/row-engine.js'
import { schemaVersion } from '../storage/rows/tables.js'
import type { Outbox } from '../storage/write/outbox.js'
import { uuidOf } from './shard-step.js'

/** Decides whether batches of a data directory may be added to shards. */

export type Judgement =
  /** All follow this directory's stream. */
  | { readonly kind: 'follow'; readonly states: readonly ShardState[] }
  /** Some are empty, and the others follow. */
  | { readonly kind: 'fill'; readonly empty: readonly number[]; readonly epoch: number }
  /** No shard has rows. */
  | { readonly kind: 'empty' }
  /** They have rows that do not come before this directory's next ones; `mayReplace`: of the same chain. */
  | { readonly kind: 'foreign'; readonly why: string; readonly mayReplace: boolean }

interface Own {
  /** Hash of the genesis block. */
  readonly genesis: Uint8Array
  readonly outbox: Pick<Outbox, 'position' | 'digestAt'>
}

export async function judgeShards(
  { genesis, outbox }: Own,
  states: readonly (ShardState | undefined)[],
): Promise<Judgement> {
  const filled = states.filter((state) => state !== undefined)
  if (filled.length === 0) return { kind: 'empty' }
  const foreign = (why: string, mayReplace = true) => ({ kind: 'foreign', why, mayReplace }) as const
  if (!filled.every(({ chain }) => equalBytes(chain, genesis)))
    return foreign('they have the rows of another chain', false)
  const isPlaced = (state: ShardState | undefined, number: number) =>
    state === undefined || (state.number === number && state.shards === states.length)
  if (!states.every(isPlaced)) return foreign(`they are not the ${states.length} shards of the list, in its order`)
  if (filled.some(({ layout }) => layout !== schemaVersion)) return foreign('their rows have another layout')
  const stream = outbox.position && uuidOf(outbox.position.stream)
  if (stream === undefined) return foreign('the data directory has not kept what they lack')
  for (const state of filled) {
    if (state.stream !== stream)
      return foreign('they have the rows of another data directory, or of an earlier filling')
    const own = await outbox.digestAt(state.sequence)
    if (own === undefined) return foreign('the data directory has not kept what they lack')
    if (!equalBytes(own, state.digest))
      return foreign('they have other batches under the same numbers, as after a restored copy')
  }
  const empty = [...states.keys()].filter((number) => states[number] === undefined)
  const epoch = highestEpoch(filled)
  if (filled.some((state) => state.epoch !== epoch)) return foreign('another node is filling them')
  return empty.length === 0 ? { kind: 'follow', states: filled } : { kind: 'fill', empty, epoch }
}

/** The highest epoch of shards; 0 without one. */
export function highestEpoch(states: readonly (ShardState | undefined)[]): number {
  return Math.max(0, ...states.map((state) => state?.epoch ?? 0))
}
