import type { EngineRow, ShardLoad, ShardWriter } from '../engine/row-engine.js'
import { shardOf } from '../engine/slots.js'
import type { Database, OutboxView } from '../storage/database.js'
import { seal } from '../storage/rows/sealed-row.js'
import { isShipped, shippedTables } from '../storage/rows/shipped-rows.js'
import { meta, rangeOf, schemaVersion } from '../storage/rows/tables.js'
import { abortable } from '../../base/runtime/abortable.js'
import { batchOf, StreamBroken } from './shard-step.js'

/** Fills shards with all rows of one moment; the outbox keeps what follows. */

/** @tuning bytes: rows read from the database at once for shards that are filled */
const pageBytes = 1024 * 1024

export interface Filling {
  readonly database: Database
  readonly engine: ShardWriter
  /** Hash of the genesis block. */
  readonly genesis: Uint8Array
  /** Numbers of the shards to fill. */
  readonly shards: readonly number[]
  readonly epoch: number
  /** UUID of a stream that begins with it, of 16 bytes; undefined: the present one continues. */
  readonly stream: Uint8Array | undefined
  /** Takes how many rows and bytes have been read. */
  readonly onRows?: (rows: number, bytes: number) => void
  readonly signal?: AbortSignal
}

/** Fills shards; the rows that they had stay until all new ones are there. The database has a tip. */
export async function fillShards(filling: Filling): Promise<void> {
  const view = await closedView(filling)
  const loads: (readonly [number, ShardLoad])[] = []
  const { epoch, genesis, engine, signal } = filling
  try {
    for (const shard of filling.shards) loads.push([shard, await beginLoad(filling, shard)])
    await copyRows(filling, view, loads)
    // It may take hours.
    await abortable(signal, Promise.all(loads.map(([, load]) => load.ready())))
    const state = {
      ...batchOf(view.at),
      epoch,
      layout: schemaVersion,
      chain: Buffer.from(genesis),
      shards: engine.shards,
    }
    for (const [number, load] of loads) await abortable(signal, load.finish({ ...state, number }))
  } finally {
    // What a load is at ends with it.
    await Promise.all(loads.map(([, load]) => load.close()))
    view.rows.close()
  }
}

/** Begins to fill a shard; one that begins after the filling was aborted is closed. */
async function beginLoad({ engine, signal }: Filling, shard: number): Promise<ShardLoad> {
  const begun = engine.load(shard)
  try {
    return await abortable(signal, begun)
  } catch (error) {
    begun.then((load) => load.close()).catch(() => {})
    throw error
  }
}

async function copyRows(
  { engine, signal, onRows }: Filling,
  { rows }: OutboxView,
  loads: readonly (readonly [number, ShardLoad])[],
): Promise<void> {
  let [count, bytes] = [0, 0]
  for (const table of shippedTables) {
    for await (const page of rows.pages(rangeOf(table), pageBytes)) {
      const sealed = page.map(([key, value]): EngineRow => [key, seal(key, value)])
      const placed = sealed
        .filter(([key]) => isShipped(key))
        .map((row) => [shardOf(row[0], engine.shards), row] as const)
      const puts = loads.map(([number, load]) =>
        load.put(placed.filter(([on]) => on === 'every' || on === number).map(([, row]) => row)),
      )
      await abortable(signal, Promise.all(puts))
      count += page.length
      bytes += sealed.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
      onRows?.(count, bytes)
    }
  }
}

/** The rows of now, not in the middle of a reorganisation. */
async function closedView(filling: Filling): Promise<OutboxView> {
  const { database, stream, signal } = filling
  const tip = meta.tip.get(database)
  let view =
    stream === undefined || tip === undefined ? await database.freezeOutbox() : await database.beginOutbox(stream, tip)
  while (view === undefined || view.isOpen || view.at.sequence > database.outbox.synced) {
    view?.rows.close()
    if (database.outbox.position === undefined) throw new StreamBroken('the outbox became full')
    await moved(database, signal)
    view = await database.freezeOutbox()
  }
  return view
}

/** Waits for the next batch of the stream that may be shipped. */
async function moved(database: Database, signal?: AbortSignal): Promise<void> {
  let end: () => void = () => {}
  const move = new Promise<void>((resolve) => (end = database.outbox.onMoved(resolve)))
  await abortable(signal, move).finally(end)
}
