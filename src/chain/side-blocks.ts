import type { Database } from '../storage/database.js'
import { rangeOf, table } from '../storage/schema.js'
import type { HeaderIndex, KnownHeader } from './header-index.js'

/** @limit count: blocks kept off the active chain */
export const sideBlockLimit = 1024
/**
 * A reorganisation of the greatest depth fits at more than 3 MB a block.
 * @limit bytes: blocks kept off the active chain
 */
const sideByteLimit = 2 ** 31

/** Counts stored side blocks and their bytes. */
export class SideBlocks {
  readonly #database: Database
  readonly #headers: HeaderIndex
  #count = 0
  #bytes = 0

  private constructor(database: Database, headers: HeaderIndex) {
    this.#database = database
    this.#headers = headers
  }

  /** Counts the side blocks in a database. */
  static async open(database: Database, headers: HeaderIndex): Promise<SideBlocks> {
    const side = new SideBlocks(database, headers)
    for (const known of await side.#all()) side.add(known)
    return side
  }

  /** Whether no further side block fits. */
  get full(): boolean {
    return this.#count >= sideBlockLimit || this.#bytes >= sideByteLimit
  }

  add({ size }: { readonly size: number }): void {
    this.#count++
    this.#bytes += size
  }

  remove({ size }: { readonly size: number }): void {
    this.#count--
    this.#bytes -= size
  }

  /** Side blocks below a height. */
  async below(height: number): Promise<KnownHeader[]> {
    return (await this.#all()).filter(({ header }) => header.height < height)
  }

  async #all(): Promise<KnownHeader[]> {
    const keys = await this.#database.keys(rangeOf(table.sideBody))
    return keys.flatMap((key) => this.#headers.get(key.subarray(1)) ?? [])
  }
}
