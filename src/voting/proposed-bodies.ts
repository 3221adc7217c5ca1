import type { ChainChange, ChainIndexer } from '../ledger/chain/chain-change.js'
import { mapKey } from '../base/primitives/bytes.js'
import { Reader } from '../base/primitives/codec.js'
import type { Hash } from '../base/primitives/hash.js'
import { Header } from '../base/primitives/header.js'
import type { Database } from '../ledger/storage/database.js'
import type { CommitInfo } from '../ledger/storage/write/row-changes.js'
import { Overlay } from '../ledger/storage/write/overlay.js'
import { tables } from '../ledger/storage/rows/tables.js'

/** @limit count: bodies of blocks kept while their height is open: those that the vote may need, and the newest others */
const maxBodies = 16
/** @limit bytes: all bodies kept for the vote */
const maxBodyBytes = 64 * 1024 * 1024

interface KnownBody {
  readonly hash: Hash
  readonly height: number
  readonly size: number
}

/**
 * Bodies of blocks that are voted on, as rows: a signer of a block has its body on disk, and serves it also after a
 * restart. The batch that moves the tip past their height deletes them.
 */
export class ProposedBodies implements ChainIndexer {
  readonly #database: Database
  readonly #tip: () => Omit<CommitInfo, 'kind'>
  /** Oldest first. */
  readonly #known = new Map<string, KnownBody>()
  #bytes = 0

  private constructor(database: Database, tip: () => Omit<CommitInfo, 'kind'>) {
    this.#database = database
    this.#tip = tip
  }

  /** Reads the rows of earlier runs. `tip` returns the tip at the time of the call. */
  static async open(database: Database, tip: () => Omit<CommitInfo, 'kind'>): Promise<ProposedBodies> {
    const bodies = new ProposedBodies(database, tip)
    for await (const [key, value] of database.scan(tables.candidate.range())) {
      const { height } = Header.read(new Reader(value))
      bodies.#remember({ hash: Uint8Array.from(key.subarray(1)), height, size: value.length })
    }
    return bodies
  }

  has(hash: Hash): boolean {
    return this.#known.has(mapKey(hash))
  }

  /** The bytes of a whole block. */
  get(hash: Hash): Uint8Array | undefined {
    return this.has(hash) ? this.#database.get(tables.candidate.key(hash)) : undefined
  }

  /** Keeps the bytes of a block; resolves when they are on disk. When full, drops the oldest that are not in `needed`. */
  async put({ hash, height }: Header, bytes: Uint8Array, needed: readonly Hash[] = []): Promise<void> {
    if (this.has(hash)) return
    const overlay = new Overlay(this.#database)
    const keep = new Set(needed.map(mapKey))
    for (const [id, body] of this.#known) {
      if (this.#known.size < maxBodies && this.#bytes + bytes.length <= maxBodyBytes) break
      if (!keep.has(id)) this.#drop(body, overlay)
    }
    overlay.put(tables.candidate.key(hash), bytes)
    await overlay.commit({ kind: 'voting', ...this.#tip() }, { sync: true })
    this.#remember({ hash, height, size: bytes.length })
  }

  stage(overlay: Overlay, { connected }: ChainChange): void {
    const height = connected.at(-1)?.header.height ?? 0
    for (const body of [...this.#known.values()]) if (body.height <= height) this.#drop(body, overlay)
  }

  async follow(): Promise<void> {}

  #remember(body: KnownBody): void {
    const id = mapKey(body.hash)
    // Two concurrent calls may put the same body.
    if (this.#known.has(id)) return
    this.#known.set(id, body)
    this.#bytes += body.size
  }

  #drop(body: KnownBody, overlay: Overlay): void {
    overlay.del(tables.candidate.key(body.hash))
    this.#known.delete(mapKey(body.hash))
    this.#bytes -= body.size
  }
}
