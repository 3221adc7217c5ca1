import { expect } from 'vitest'
import type { EngineRow, ShardBatch } from '../../../src/ledger/engine/row-engine.js'
import { shardOf } from '../../../src/ledger/engine/slots.js'
import { uuidOf } from '../../../src/ledger/shipping/shard-step.js'
import type { Database } from '../../../src/ledger/storage/database.js'
import { seal } from '../../../src/ledger/storage/rows/sealed-row.js'
import { isShipped } from '../../../src/ledger/storage/rows/shipped-rows.js'

/** The rows that a shard is to have, in order of keys. */
export async function rowsOfShard(database: Database, shard: number, shards: number): Promise<EngineRow[]> {
  const wanted: EngineRow[] = []
  for await (const [key, value] of database.newest.scan({})) {
    if (!isShipped(key)) continue
    const on = shardOf(key, shards)
    if (on === 'every' || on === shard) wanted.push([key, seal(key, value)])
  }
  return wanted
}

/** Expects that each shard has exactly the rows that it is to have, key and value. */
export async function expectSameRows(
  database: Database,
  rowsOf: (shard: number) => readonly EngineRow[] | Promise<readonly EngineRow[]>,
  shards: number,
): Promise<void> {
  for (let shard = 0; shard < shards; shard++) {
    const text = (rows: readonly EngineRow[]) => rows.map((row) => row.map((bytes) => bytes.toString('hex')).join(' '))
    const [own, wanted] = [text(await rowsOf(shard)), text(await rowsOfShard(database, shard, shards))]
    const [has, lacks] = [new Set(own), new Set(wanted)]
    expect({
      tooMany: own.filter((row) => !lacks.has(row)).slice(0, 3),
      missing: wanted.filter((row) => !has.has(row)).slice(0, 3),
    }).toEqual({ tooMany: [], missing: [] })
    expect(own.length).toBe(wanted.length)
  }
}

/** Whether a shard has all batches of a database. */
export function hasAll({ outbox }: Database, at: ShardBatch | undefined): boolean {
  const { position } = outbox
  return position !== undefined && at?.stream === uuidOf(position.stream) && at.sequence === position.sequence
}
