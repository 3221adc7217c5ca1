import { Reader } from '../../base/primitives/codec.js'
import { Header } from '../../base/primitives/header.js'
import type { FrozenRows, RowSource } from '../storage/stored-rows.js'
import { present } from '../storage/rows/row-reader.js'
import { meta, tables, type TipRow } from '../storage/rows/tables.js'

/** A block of the active chain. */
export interface SnapshotBlock {
  readonly header: Header
  /** Bytes of the whole block on the wire. */
  readonly size: number
  readonly transactionCount: number
}

/** The active chain as it was at one moment, for answers of many reads: blocks that come or go later do not show. */
export class ChainSnapshot {
  readonly rows: FrozenRows
  readonly tip: TipRow

  private constructor(rows: FrozenRows) {
    this.rows = rows
    this.tip = present(meta.tip.get(rows), 'the row of the tip')
  }

  /** Runs `read` on the present state, which is kept until the promise settles. */
  static read<T>(database: RowSource, read: (chain: ChainSnapshot) => T | Promise<T>): Promise<T> {
    return database.settle(async () => {
      const rows = database.freeze()
      try {
        return await read(new ChainSnapshot(rows))
      } finally {
        rows.close()
      }
    })
  }

  /** The blocks at heights from 0 to that of the tip, in the order asked for. */
  async blocks(heights: readonly number[]): Promise<SnapshotBlock[]> {
    const hashes = await this.rows.getMany(heights.map((height) => tables.active.key(height)))
    const wanted = hashes.map((hash) => tables.header.key(present(hash, 'an active block')))
    return (await this.rows.getMany(wanted)).map((row) => {
      const { header, size, transactionCount } = tables.header.decode(present(row, 'a header'))
      return { header: Header.read(new Reader(header)), size, transactionCount }
    })
  }
}
