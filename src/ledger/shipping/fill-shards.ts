import type { EngineRow, ShardLoad, ShardWriter } from '../engine/row-engine.js'
import { shardOf } from '../engine/slots.js'
import type { Database, OutboxView } from '../storage/database.js'
import { seal } from '../storage/rows/sealed-row.js'
import { isShipped, shippedTables } from '../storage/rows/shipped-rows.js'
import { meta, rangeOf, schemaVersion } from '../storage/rows/tables.js'
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
  const close = () => Promise.all(loads.map(([, load]) => load.close()))
  // To make rows fit to be read may take hours.
  filling.signal?.addEventListener('abort', close)
  try {
    for (const shard of filling.shards) loads.push([shard, await filling.engine.load(shard)])
    await copyRows(filling, view, loads)
    await Promise.all(loads.map(([, load]) => load.ready()))
    const { epoch, genesis, engine } = filling
    const state = {
      ...batchOf(view.at),
      epoch,
      layout: schemaVersion,
      chain: Buffer.from(genesis),
      shards: engine.shards,
    }
    for (const [number, load] of loads) await load.finish({ ...state, number })
  } finally {
    filling.signal?.removeEventListener('abort', close)
    await close()
    view.rows.close()
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
      signal?.throwIfAborted()
      const sealed = page.map(([key, value]): EngineRow => [key, seal(key, value)])
      const placed = sealed
        .filter(([key]) => isShipped(key))
        .map((row) => [shardOf(row[0], engine.shards), row] as const)
      await Promise.all(
        loads.map(([number, load]) =>
          load.put(placed.filter(([on]) => on === 'every' || on === number).map(([, row]) => row)),
        ),
      )
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
  await new Promise<void>((resolve) => {
    const end = database.outbox.onMoved(() => {
      end()
      resolve()
    })
    signal?.addEventListener('abort', () => resolve(), { once: true })
  })
  signal?.throwIfAborted()
}
