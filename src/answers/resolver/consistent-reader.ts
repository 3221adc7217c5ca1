import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { RowSource } from '../../ledger/storage/stored-rows.js'
import { present } from '../../ledger/storage/rows/row-reader.js'
import { meta, tables, type TipRow } from '../../ledger/storage/rows/tables.js'

/** @tuning count: attempts to read rows of one state while blocks arrive */
const maxAttempts = 20

/**
 * Reads rows of one state without a snapshot, which would cost as much as the rest of an answer. Every batch that connects or
 * disconnects a block rewrites the tip row: rows read between two equal tip rows belong together. Exception: a devnet advanced
 * and was taken back to the same tip; then the tip in memory is another object.
 */
export class ConsistentReader {
  readonly #database: RowSource
  readonly #tip: () => { readonly hash: Hash }

  /** `tip`: the same hash object means that the chain has not moved in between. */
  constructor(database: RowSource, tip: () => { readonly hash: Hash }) {
    this.#database = database
    this.#tip = tip
  }

  /**
   * Gives `read` the tip as of which it reads. Not of one state → it reads again, and errors of the attempt are dropped. `busy`
   * where blocks arrive faster than that.
   */
  read<T>(read: (tip: TipRow) => T | Promise<T>): Promise<T> {
    return this.#database.settle(() => this.#attempt(read))
  }

  async #attempt<T>(read: (tip: TipRow) => T | Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const at = this.#tipRow()
      const { hash } = this.#tip()
      const same = () => equalBytes(at, this.#tipRow()) && this.#tip().hash === hash
      try {
        const found = await read(meta.tip.decode(at))
        if (same()) return found
      } catch (error) {
        if (same()) throw error
      }
    }
    throw tooFast()
  }

  /** The same while a block is on the active chain: rows up to there stay the same, whatever follows it. Else `MovedAway`. */
  readAsOf<T>({ height, hash }: TipRow, read: () => T | Promise<T>): Promise<T> {
    return this.read(() => {
      const active = this.#database.get(tables.active.key(height))
      if (active === undefined || !equalBytes(active, hash)) throw new MovedAway()
      return read()
    })
  }

  /** Runs `read` again, as often as a reorganisation takes back the block as of which it reads. */
  async untilStable<T>(read: () => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      try {
        return await read()
      } catch (error) {
        if (!(error instanceof MovedAway)) throw error
      }
    }
    throw tooFast()
  }

  #tipRow(): Uint8Array {
    return present(this.#database.get(meta.tip.key), 'the row of the tip')
  }
}

/** A reorganisation took the block back as of which rows are read. */
class MovedAway extends Error {}

function tooFast(): RuleError {
  return new RuleError('busy', 'blocks arrive faster than this can be read; try again')
}
