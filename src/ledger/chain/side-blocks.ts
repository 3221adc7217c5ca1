import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import type { Database } from '../storage/database.js'
import { tables } from '../storage/rows/tables.js'
import type { HeaderIndex, KnownHeader } from './header-index.js'

/** @limit count: blocks kept off the active chain */
export const sideBlockLimit = 1024
/**
 * A reorganisation of the greatest depth fits at more than 3 MB a block.
 * @limit bytes: blocks kept off the active chain
 */
const sideByteLimit = 2 ** 31

/** A stored block off the active chain. */
export interface SideBlock {
  readonly hash: Hash
  readonly previous: Hash
  readonly height: number
  /** Chain work including the block. */
  readonly chainWork: bigint
  /** Bytes of the whole block. */
  readonly size: number
  readonly arrival: number
}

/** Fields of a {@link KnownHeader} that side blocks are chosen by. */
type StoredBlock = Pick<KnownHeader, 'chainWork' | 'size' | 'arrival'> & {
  readonly header: Pick<Header, 'hash' | 'previous' | 'height'>
}

/** Stored side blocks, their number and bytes. */
export class SideBlocks {
  readonly #blocks = new Map<string, SideBlock>()
  #bytes = 0

  private constructor() {}

  /** Reads the names of the side blocks in a database. */
  static async open(database: Database, headers: HeaderIndex): Promise<SideBlocks> {
    const side = new SideBlocks()
    const rows = await database.keys(tables.sideBody.range())
    for (const known of rows.flatMap((key) => headers.get(key.subarray(1)) ?? [])) side.add(known)
    return side
  }

  /** Whether no further side block fits. */
  get full(): boolean {
    return isFull(this.#blocks.size, this.#bytes)
  }

  add({ header, chainWork, size, arrival }: StoredBlock): void {
    this.remove(header)
    // Copies: a header may be a view into a large row.
    const [hash, previous] = [Uint8Array.from(header.hash), Uint8Array.from(header.previous)]
    this.#blocks.set(mapKey(hash), { hash, previous, height: header.height, chainWork, size, arrival })
    this.#bytes += size
  }

  remove({ hash }: { readonly hash: Hash }): void {
    const id = mapKey(hash)
    this.#bytes -= this.#blocks.get(id)?.size ?? 0
    this.#blocks.delete(id)
  }

  /** Side blocks below a height. */
  below(height: number): SideBlock[] {
    return [...this.#blocks.values()].filter((block) => block.height < height)
  }

  /**
   * Blocks that make room for another one, whose branch has the chain work `work`: from the tip down, of the branch with the
   * least work first, and of the one that came last among equals. Undefined when only branches with as much work are left, and
   * such as lead to `kept`.
   */
  lighterThan(work: bigint, kept: readonly Hash[]): SideBlock[] | undefined {
    const [stays, children] = [this.#upTo(kept), this.#children()]
    const isFree = (block: SideBlock) => !stays.has(mapKey(block.hash)) && (children.get(mapKey(block.hash)) ?? 0) === 0
    const tips = [...this.#blocks.values()]
      .filter((block) => isFree(block) && block.chainWork < work)
      .sort(lighterFirst)
    const going: SideBlock[] = []
    let bytes = this.#bytes
    for (const tip of tips) {
      // A block below a tip has less work than the tip, so than all other tips.
      for (let block: SideBlock | undefined = tip; block !== undefined && isFree(block);) {
        if (!isFull(this.#blocks.size - going.length, bytes)) return going
        going.push(block)
        bytes -= block.size
        const below = mapKey(block.previous)
        children.set(below, (children.get(below) ?? 0) - 1)
        block = this.#blocks.get(below)
      }
    }
    return isFull(this.#blocks.size - going.length, bytes) ? undefined : going
  }

  /** Names of blocks and of their ancestors aside. */
  #upTo(tips: readonly Hash[]): Set<string> {
    const names = new Set<string>()
    for (const tip of tips) {
      let id = mapKey(tip)
      for (let block; (block = this.#blocks.get(id)) !== undefined && !names.has(id); id = mapKey(block.previous)) {
        names.add(id)
      }
    }
    return names
  }

  /** Number of side blocks on top of each block. */
  #children(): Map<string, number> {
    const children = new Map<string, number>()
    for (const { previous } of this.#blocks.values()) {
      const id = mapKey(previous)
      children.set(id, (children.get(id) ?? 0) + 1)
    }
    return children
  }
}

function isFull(count: number, bytes: number): boolean {
  return count >= sideBlockLimit || bytes >= sideByteLimit
}

function lighterFirst(a: SideBlock, b: SideBlock): number {
  if (a.chainWork === b.chainWork) return b.arrival - a.arrival
  return a.chainWork < b.chainWork ? -1 : 1
}
