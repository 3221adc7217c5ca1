/**
 * Rows of a node in another engine: PostgreSQL, or what speaks its protocol.
 *
 *   node    -> shipping: the rows of each batch -> RowEngine.apply    exactly once, in order
 *   gateway -> EngineRows: rows of one state    -> RowEngine.read     one view of a shard, and which state it is of
 *
 * Imports runtime, primitives, errors, storage; used by shipping, cli, api, node, gateway.
 * - A shard is one database with the rows of some slots; the rows of its state are all there, or none of them.
 * - Keys and values are those of LevelDB, with their checksums: an engine that changes one is found out by the reader.
 */

/** A part of the rows. */
export interface ShardPlace {
  readonly number: number
  /** Shards that the rows are divided over. */
  readonly shards: number
}

/** Which batches of which data directory a shard has, and over how many: of two reads with the same position all rows belong together. */
export interface ShardPosition extends Pick<ShardPlace, 'shards'> {
  /** UUID of the stream of batches. */
  readonly stream: string
  /** Number of the last batch applied, as in the journal. */
  readonly sequence: number
}

/** The block after which the rows of a shard are. */
export interface ShardTip {
  readonly height: number
  /** In internal order. */
  readonly hash: Buffer
  /** Unix seconds. */
  readonly time: number
}

/** A batch of the journal that writers agree on: the digest covers it and all before it. */
export interface ShardBatch extends Omit<ShardPosition, 'shards'> {
  /** SHA-256 of the batch's number and journal row. */
  readonly digest: Buffer
}

/** Description of a shard by itself. */
export interface ShardState extends ShardBatch, ShardTip, ShardPlace {
  /** Version of the layout of rows, as in docs/schema.md. */
  readonly layout: number
  /** Hash of the genesis block. */
  readonly chain: Buffer
  /** As `shards`, but less until the rows that went to other shards have been deleted: they are out of date, and no answer. */
  readonly swept: number
  /** Number of the shipper that may write. */
  readonly epoch: number
  /** Unix milliseconds at which the engine took the last batch, by the engine's clock, and what that clock shows now. */
  readonly written: number
  readonly now: number
}

/** Rows of a range in order of their keys, at most `limit`. */
export interface EngineRange {
  readonly gte: Buffer
  readonly lt: Buffer
  readonly limit: number
  /** Bytes of values after which no further row is read; the first row is read in any case. */
  readonly bytes: number
  readonly reverse?: boolean
}

/** Rows to read in one view of a shard. */
export interface EngineQuestion {
  readonly keys: readonly Buffer[]
  readonly ranges: readonly EngineRange[]
}

/** Key and sealed value. */
export type EngineRow = readonly [key: Buffer, sealed: Buffer]

export interface EngineAnswer {
  /** The state that all rows are of. */
  readonly at: ShardState
  /** In no order; keys without a row have none. */
  readonly rows: readonly EngineRow[]
  readonly ranges: readonly (readonly EngineRow[])[]
}

/** One step of a shard from one position to the next. One to a smaller part makes the rows of the others out of date. */
export interface EngineStep {
  readonly epoch: number
  readonly from: ShardBatch
  readonly to: ShardBatch & ShardTip & ShardPlace
  readonly puts: readonly EngineRow[]
  readonly dels: readonly Buffer[]
}

/** The shard whose rows are looked at for those of others. */
export type EngineSweep = ShardPlace & Pick<ShardState, 'epoch'>

/** An engine with the rows of a node. Every call ends: with an EngineDown where the engine does not answer in time. */
export interface RowEngine {
  /** Databases that its URLs name, each of which is or may become a shard. */
  readonly shards: number
  /** Undefined: the shard has never been loaded. */
  state(shard: number): Promise<ShardState | undefined>
  /**
   * Rows in one view. `wanted`: the position that the reader needs; of several copies of a shard one that has it answers, else the one that
   * takes writes, with the position that it has.
   */
  read(shard: number, question: EngineQuestion, wanted?: ShardPosition): Promise<EngineAnswer>
  /** `elsewhere`: the shard is not at `from`, or another epoch writes; nothing was changed. */
  apply(shard: number, step: EngineStep): Promise<'applied' | 'elsewhere'>
  /** Calls back when the shard moved, at the latest 100 ms afterwards; the returned function ends it. */
  watch(shard: number, moved: () => void): () => void
  close(): Promise<void>
}

/** Description of a shard that has just been filled. */
export type LoadedShard = Omit<ShardState, 'written' | 'now' | 'swept'>

/** Rows on their way into a shard, whose readers see the rows of before until {@link finish}. One that fails leaves these. */
export interface ShardLoad {
  put(rows: readonly EngineRow[]): Promise<void>
  /** Makes the rows fit to be read, which takes long. */
  ready(): Promise<void>
  /** Puts them in the place of all that the shard had, with its state. */
  finish(at: LoadedShard): Promise<void>
  /** Drops them; after {@link finish} it changes nothing. */
  close(): Promise<void>
}

/** An engine that a node fills. */
export interface ShardWriter extends RowEngine {
  /** Begins to fill a shard; a UserError while another process does. */
  load(shard: number): Promise<ShardLoad>
  /**
   * Deletes rows that went to other shards, among some rows from a key on. Resolves with the key to go on from; undefined: that was all, or
   * the shard has been filled anew.
   */
  sweep(shard: number, from: Buffer, of: EngineSweep): Promise<Buffer | undefined>
}
