import { mapKey } from '../../base/primitives/bytes.js'
import type { EngineRow, ShardBatch, ShardTip } from '../engine/row-engine.js'
import { shardOf } from '../engine/slots.js'
import type { OutboxRow } from '../storage/rows/tables.js'
import type { NumberedRow, Outbox, OutboxPosition } from '../storage/write/outbox.js'
import { outboxChanges } from '../storage/write/outbox-rows.js'

/** Gathers batches of the outbox into one step of all shards. */

/** @tuning bytes: rows of a step, beyond which it takes no further batch */
const stepBytes = 4 * 1024 * 1024
/** @tuning count: batches of a step */
const stepBatches = 1000

/** Changes of one shard: the last one of each key. */
export interface ShardChanges {
  readonly puts: EngineRow[]
  readonly dels: Buffer[]
}

export interface ShippedStep {
  readonly to: ShardBatch & ShardTip
  /** Bytes of the stream up to its last batch. */
  readonly total: number
  readonly changes: readonly ShardChanges[]
}

/** The outbox does not have the batch that follows. */
export class StreamBroken extends Error {
  override readonly name = 'StreamBroken'
}

/** A UUID as text. */
export function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** A position as shards have it. */
export function batchOf({ stream, sequence, digest, height, hash, time }: OutboxPosition): ShardBatch & ShardTip {
  return { stream: uuidOf(stream), sequence, digest: Buffer.from(digest), height, hash: Buffer.from(hash), time }
}

/**
 * The step that follows a batch: at most up to `until`, and no further than its size allows. A reorganisation is never divided, since no
 * reader may see the middle of it. Undefined: nothing follows yet. Throws StreamBroken where what follows is gone.
 */
export async function gatherStep(
  outbox: Pick<Outbox, 'after'>,
  from: ShardBatch,
  shards: number,
  until = Infinity,
): Promise<ShippedStep | undefined> {
  const changed = new Map<string, readonly [Buffer, Buffer | undefined]>()
  let last: NumberedRow | undefined
  let previous: { readonly sequence: number; readonly digest: Uint8Array } = from
  let waiting: OutboxRow[] = []
  let [bytes, batches] = [0, 0]
  for await (const row of outbox.after(from.sequence)) {
    if (row.sequence > until) break
    if (row.before !== previous.sequence || !Buffer.from(previous.digest).equals(row.digestBefore)) {
      throw new StreamBroken(`batch ${row.sequence} follows batch ${row.before}, the shards have ${previous.sequence}`)
    }
    previous = row
    waiting.push(row)
    bytes += row.rows.length
    batches++
    if (row.isOpen === 1) continue
    for (const { rows } of waiting) for (const change of outboxChanges(rows)) changed.set(mapKey(change[0]), change)
    waiting = []
    last = row
    if (bytes >= stepBytes || batches >= stepBatches) break
  }
  if (last === undefined) return undefined
  const { sequence, digest, height, hash, time, total } = last
  const to = { stream: from.stream, sequence, digest: Buffer.from(digest), height, hash: Buffer.from(hash), time }
  return { to, total, changes: divide([...changed.values()], shards) }
}

/** The changes of each shard. */
function divide(changes: readonly (readonly [Buffer, Buffer | undefined])[], shards: number): ShardChanges[] {
  const divided: ShardChanges[] = Array.from({ length: shards }, () => ({ puts: [], dels: [] }))
  for (const [key, sealed] of changes) {
    const shard = shardOf(key, shards)
    for (const { puts, dels } of shard === 'every' ? divided : divided.slice(shard, shard + 1)) {
      if (sealed === undefined) dels.push(key)
      else puts.push([key, sealed])
    }
  }
  return divided
}
