import { Header } from '../../../src/base/primitives/header.js'
import { Reader } from '../../../src/base/primitives/codec.js'
import type {
  EngineAnswer,
  EngineQuestion,
  EngineRange,
  EngineRow,
  EngineStep,
  RowEngine,
  ShardState,
} from '../../../src/ledger/engine/row-engine.js'
import { shardOf } from '../../../src/ledger/engine/slots.js'
import type { FrozenRows } from '../../../src/ledger/storage/stored-rows.js'
import { seal } from '../../../src/ledger/storage/rows/sealed-row.js'
import { meta, schemaVersion, tables } from '../../../src/ledger/storage/rows/tables.js'
import type { TestChain } from '../builders/chain.js'

/** An engine whose shards have the rows of a chain in memory at once: the rows of a gateway without the way that they take to it. */
export class LedgerEngine implements RowEngine {
  readonly shards: number
  /** Questions so far, by shard. */
  readonly reads: number[]
  /** Awaited before each read, so that a test can hold shards back or let them fail. */
  hold: (shard: number) => Promise<void> | void = () => {}
  /** Changes a row on its way out. */
  change: (row: EngineRow, shard: number) => EngineRow = (row) => row
  /** Changes the rows of a range on their way out. */
  order: (rows: EngineRow[]) => EngineRow[] = (rows) => rows
  /** Changes what a shard says of itself; undefined: it was never loaded. */
  describe: (state: ShardState) => ShardState | undefined = (state) => state
  #node: TestChain
  /** States that shards which are held back show, by their number. */
  readonly #behind = new Map<number, ShardState>()
  readonly #watchers = new Set<() => void>()

  constructor(node: TestChain, shards = 1) {
    this.#node = node
    this.shards = shards
    this.reads = new Array<number>(shards).fill(0)
    node.chain.events.on('change', () => this.moved())
  }

  /** Lets a shard show the state of now until the returned function is called. */
  async hideAfter(shard: number): Promise<() => void> {
    this.#behind.set(shard, await this.#told(shard))
    return () => {
      this.#behind.delete(shard)
      this.moved()
    }
  }

  /** Has the rows of another chain from now on. */
  show(node: TestChain): void {
    this.#node = node
  }

  /** Tells the gateway at once; else it finds out when it reads. */
  moved(): void {
    for (const watcher of this.#watchers) watcher()
  }

  async state(shard: number): Promise<ShardState | undefined> {
    return this.describe(await this.#told(shard))
  }

  async read(shard: number, { keys, ranges }: EngineQuestion): Promise<EngineAnswer> {
    this.reads[shard] = (this.reads[shard] ?? 0) + 1
    await this.hold(shard)
    const rows = this.#node.database.freeze()
    try {
      const at = this.#behind.get(shard) ?? (await this.#stateOf(rows, shard))
      const shown = this.describe(at) ?? at
      const found = await rows.getMany([...keys])
      return {
        at: shown,
        rows: keys.flatMap((key, i) =>
          found[i] === undefined ? [] : [this.change([key, seal(key, found[i])], shard)],
        ),
        ranges: await Promise.all(ranges.map(async (range) => this.order(await this.#range(rows, range, shard)))),
      }
    } finally {
      rows.close()
    }
  }

  async apply(_: number, __: EngineStep): Promise<'elsewhere'> {
    return 'elsewhere'
  }

  watch(_: number, moved: () => void): () => void {
    this.#watchers.add(moved)
    return () => this.#watchers.delete(moved)
  }

  async close(): Promise<void> {
    this.#watchers.clear()
  }

  /** The state of a shard before {@link describe}. */
  async #told(shard: number): Promise<ShardState> {
    this.reads[shard] = (this.reads[shard] ?? 0) + 1
    await this.hold(shard)
    const behind = this.#behind.get(shard)
    if (behind !== undefined) return behind
    const rows = this.#node.database.freeze()
    try {
      return await this.#stateOf(rows, shard)
    } finally {
      rows.close()
    }
  }

  async #range(rows: FrozenRows, { gte, lt, limit, bytes, reverse = false }: EngineRange, shard: number) {
    const found: EngineRow[] = []
    let size = 0
    for await (const page of rows.pages({ gte, lt }, 64 * 1024, { reverse })) {
      for (const [key, value] of page) {
        const place = shardOf(key, this.shards)
        if (place !== 'every' && place !== shard) continue
        if (found.length === limit || size >= bytes) return found
        const row = this.change([key, seal(key, value)], shard)
        found.push(row)
        size += row[1].length
      }
    }
    return found
  }

  async #stateOf(rows: FrozenRows, shard: number): Promise<ShardState> {
    const [last] = await rows.rows(tables.journal.range(), { reverse: true, limit: 1 })
    const { height, hash } = meta.tip.decode(rows.get(meta.tip.key) as Buffer)
    const { header } = tables.header.decode(rows.get(tables.header.key(hash)) as Buffer)
    return {
      stream: 'rows of a test',
      sequence: last === undefined ? 0 : tables.journal.fields(last[0])[0],
      ...{ height, hash: Buffer.from(hash), time: Header.read(new Reader(header)).time },
      ...{ layout: schemaVersion, chain: Buffer.from(this.#node.chain.genesis.header.hash) },
      ...{
        number: shard,
        shards: this.shards,
        swept: this.shards,
        epoch: 1,
        digest: Buffer.alloc(32),
        written: 0,
        now: 0,
      },
    }
  }
}
