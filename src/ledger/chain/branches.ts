import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Block } from '../../base/primitives/block.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { joinedHeight } from '../storage/rows/prune-rows.js'
import { Overlay } from '../storage/write/overlay.js'
import { type BlockStatus, tables } from '../storage/rows/tables.js'
import { chainWorkOf, type NewBlock, putRecord, putStatus } from './block-records.js'
import type { Checking } from './block-run.js'
import type { HeaderIndex, KnownHeader } from './header-index.js'
import { type Abandoned, Reorganisation, type ReorganisationOptions, type Reorganised } from './reorganise.js'
import { type SideBlock, sideBlockLimit, SideBlocks } from './side-blocks.js'

/** @limit count: blocks that a reorganisation may disconnect */
export const reorganisationDepth = 288

/** The part of a chain that branches can leave. */
interface ChainEnd {
  readonly tip: { readonly header: Pick<Header, 'height'> }
  readonly joinedHeight: number
}

/** Height of the lowest block that branches may leave a chain at: below a state that it began with there is nothing to take back. */
export function lowestFork({ tip, joinedHeight: joined }: ChainEnd): number {
  return Math.max(tip.header.height - reorganisationDepth, joined)
}

/** Hooks of a reorganisation. */
export type ReorganisationParts = Pick<ReorganisationOptions, 'foresee' | 'stage'>

/** The best verified headers above stored blocks; their blocks are on the way. */
export interface PursuedHeaders {
  /** The stored block that they begin on; undefined: the parent of each block that arrives. */
  readonly base: KnownHeader | undefined
  /** Chain work at their end. */
  readonly work: bigint
  has(header: Header): boolean
}

export interface BranchesOptions extends Checking {
  readonly headers: HeaderIndex
  pursued(): PursuedHeaders | undefined
  /** Tip of the active chain. */
  tip(): KnownHeader
  /** Writes rows that leave the active chain unchanged. */
  commit(overlay: Overlay): Promise<void>
  /** Arrival number of the next block. */
  arrival(): number
}

/** Side blocks of a chain without validators, and the switch from one branch to another. */
export class Branches {
  readonly #options: BranchesOptions
  readonly #side: SideBlocks

  private constructor(options: BranchesOptions, side: SideBlocks) {
    this.#options = options
    this.#side = side
  }

  static async open(options: BranchesOptions): Promise<Branches> {
    return new Branches(options, await SideBlocks.open(options.database, options.headers))
  }

  /** Throws unless the fork point is within reorganisation depth and the whole branch is stored. */
  checkReach(parent: KnownHeader): void {
    const { headers, tip } = this.#options
    let fork = parent
    for (let steps = 0; fork.status !== 'active'; steps++) {
      // A side block stored before its ancestor turned out invalid is not marked itself.
      if (fork.status === 'invalid') throw new RuleError('block-parent-invalid', `${fork.header.id} is invalid`)
      if (fork.header.height < this.#deepest || steps > sideBlockLimit) throw brokenRule('block-too-deep')
      if (fork.status === 'header') {
        throw new RuleError('block-parent-unknown', `${fork.header.id} below it gave way to a branch with more work`)
      }
      fork = headers.known(fork.header.previous)
    }
    if (fork.header.height < this.#deepest) {
      const depth = tip().header.height - fork.header.height
      throw new RuleError('block-too-deep', `the branch leaves the chain ${depth} blocks below the tip`)
    }
  }

  /** Height of the lowest block that branches may leave the chain at. */
  get #deepest(): number {
    const { database, tip } = this.#options
    return lowestFork({ tip: tip(), joinedHeight: joinedHeight(database) })
  }

  /**
   * Switches to the branch of `block`; resolves when it is on disk. A block of it breaks a rule → everything is restored, that
   * block and those above it are marked invalid. Then it rejects with a {@link BranchError}. The caller holds readers during
   * the switch.
   */
  async switchTo(block: Block, record: NewBlock, hooks: ReorganisationParts): Promise<Reorganised> {
    const stage = (overlay: Overlay) => {
      this.#putRecord(overlay, block, record, 'side')
      overlay.put(tables.sideBody.key(block.header.hash), block.bytes)
    }
    const way = { from: this.#options.tip().header, to: block.header }
    const end = await Reorganisation.run({ ...this.#options, ...hooks }, way, { bytes: record.size, stage })
    if ('rule' in end) {
      end.broken.forEach(({ header }) => this.#side.remove(header))
      throw new BranchError(end)
    }
    this.count({ left: end.disconnected, taken: end.connected })
    return end
  }

  /** Stores a block off the active chain; where there is no room, blocks of branches with less work go for it. */
  async keepAside(block: Block, record: NewBlock): Promise<void> {
    const going = await this.#giveWay(block, record)
    const overlay = new Overlay(this.#options.database)
    this.#stageDrop(overlay, going)
    const { hash } = block.header
    this.#putRecord(overlay, block, record, 'side')
    overlay.put(tables.sideBody.key(hash), block.bytes)
    await this.#commit(overlay, [...going, block.header])
    going.forEach((gone) => this.#side.remove(gone))
    this.#side.add(this.#options.headers.known(hash))
  }

  async markInvalid(block: Block, record: NewBlock): Promise<void> {
    const overlay = new Overlay(this.#options.database)
    this.#putRecord(overlay, block, record, 'invalid')
    await this.#commit(overlay, [block.header])
  }

  /** Throws where no further block fits, and none gives way to a new one. */
  async checkRoom(block: Block, record: NewBlock): Promise<void> {
    await this.#giveWay(block, record)
  }

  /** Whether a block fits, once bodies below reorganisation depth are dropped. */
  async hasRoom(): Promise<boolean> {
    const deep = this.#side.full ? this.#side.below(this.#deepest) : []
    if (deep.length > 0) {
      const overlay = new Overlay(this.#options.database)
      this.#stageDrop(overlay, deep)
      await this.#commit(overlay, deep)
      deep.forEach((gone) => this.#side.remove(gone))
    }
    return !this.#side.full
  }

  /**
   * Blocks that give way to a new one, none where it fits: tips of branches with less work than it has, or than the pursued headers
   * that it is part of. Never its own ancestors, those of the pursued headers, and branches whose transactions are still to return
   * to the pool.
   */
  async #giveWay(block: Block, record: NewBlock): Promise<readonly SideBlock[]> {
    if (await this.hasRoom()) return []
    const { database, pursued } = this.#options
    const ahead = pursued()
    const own = chainWorkOf(block, record)
    const work = ahead !== undefined && ahead.work > own && ahead.has(block.header) ? ahead.work : own
    const left = await database.rows(tables.leftBranch.range())
    const kept: Hash[] = [record.parent.header.hash, ...left.map(([, row]) => tables.leftBranch.decode(row).tip.hash)]
    if (ahead?.base !== undefined) kept.push(ahead.base.header.hash)
    const going = this.#side.lighterThan(work, kept)
    if (going === undefined) throw brokenRule('block-unsettled-full')
    return going
  }

  /** Stages that only the headers of side blocks stay. */
  #stageDrop(overlay: Overlay, going: readonly SideBlock[]): void {
    for (const { hash } of going) {
      overlay.del(tables.sideBody.key(hash))
      putStatus(overlay, this.#options.headers.known(hash), 'header')
    }
  }

  async #commit(overlay: Overlay, changed: readonly { readonly hash: Hash }[]): Promise<void> {
    const { commit, headers } = this.#options
    await commit(overlay)
    headers.forget(changed.map(({ hash }) => hash))
  }

  /** Stages a block that leaves the active chain as a side block; {@link count} follows once it is written. */
  stageLeft(overlay: Overlay, known: KnownHeader, body: Block): void {
    overlay.put(tables.sideBody.key(known.header.hash), body.bytes)
    putStatus(overlay, known, 'side')
  }

  /** Counts blocks that became side blocks, and such as joined the active chain. */
  count({ left, taken }: { readonly left: readonly KnownHeader[]; readonly taken: readonly KnownHeader[] }): void {
    left.forEach((known) => this.#side.add(known))
    taken.forEach(({ header }) => this.#side.remove(header))
  }

  #putRecord(overlay: Overlay, block: Block, record: NewBlock, status: BlockStatus): void {
    const { size } = record
    putRecord(overlay, block, { chainWork: chainWorkOf(block, record), size, status, arrival: this.#options.arrival() })
  }
}

/** A branch broke a rule: the chain is restored, and the blocks in `broken` are marked as invalid already. */
export class BranchError extends Error {
  readonly rule: RuleError
  readonly broken: readonly KnownHeader[]

  constructor({ rule, broken }: Abandoned) {
    super(rule.message)
    this.rule = rule
    this.broken = broken
  }
}
