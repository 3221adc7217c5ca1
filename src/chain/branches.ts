import { brokenRule } from '../errors/broken-rule.js'
import { RuleError } from '../errors/rule-error.js'
import type { Block } from '../primitives/block.js'
import { Overlay } from '../storage/overlay.js'
import { keys } from '../storage/schema.js'
import type { BlockStatus } from '../storage/row-values.js'
import { chainWorkOf, type NewBlock, putRecord, putStatus } from './block-records.js'
import type { Checking } from './block-run.js'
import type { HeaderIndex, KnownHeader } from './header-index.js'
import { type Abandoned, Reorganisation, type ReorganisationOptions, type Reorganised } from './reorganise.js'
import { sideBlockLimit, SideBlocks } from './side-blocks.js'

/** @limit count: blocks that a reorganisation may disconnect */
export const reorganisationDepth = 288

/** Hooks of a reorganisation. */
export type ReorganisationParts = Pick<ReorganisationOptions, 'foresee' | 'stage'>

export interface BranchesOptions extends Checking {
  readonly headers: HeaderIndex
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
      if (fork.status === 'header' || steps > sideBlockLimit) throw brokenRule('block-too-deep')
      fork = headers.known(fork.header.previous)
    }
    const depth = tip().header.height - fork.header.height
    if (depth > reorganisationDepth) {
      throw new RuleError('block-too-deep', `the branch leaves the chain ${depth} blocks below the tip`)
    }
  }

  /**
   * Switches to the branch of `block`; resolves when it is on disk. A block of it breaks a rule → everything is restored, that
   * block and those above it are marked invalid. Then it rejects with a {@link BranchError}. The caller holds readers during
   * the switch.
   */
  async switchTo(block: Block, record: NewBlock, hooks: ReorganisationParts): Promise<Reorganised> {
    const stage = (overlay: Overlay) => {
      this.#putRecord(overlay, block, record, 'side')
      overlay.put(keys.sideBody(block.header.hash), block.bytes)
    }
    const way = { from: this.#options.tip().header, to: block.header }
    const end = await Reorganisation.run({ ...this.#options, ...hooks }, way, { bytes: record.size, stage })
    this.#side.add(record)
    if ('rule' in end) {
      end.broken.forEach((known) => this.#side.remove(known))
      throw new BranchError(end)
    }
    end.disconnected.forEach((known) => this.#side.add(known))
    end.connected.forEach((known) => this.#side.remove(known))
    return end
  }

  async keepAside(block: Block, record: NewBlock): Promise<void> {
    const overlay = new Overlay(this.#options.database)
    this.#putRecord(overlay, block, record, 'side')
    overlay.put(keys.sideBody(block.header.hash), block.bytes)
    await this.#options.commit(overlay)
    this.#side.add(record)
  }

  async markInvalid(block: Block, record: NewBlock): Promise<void> {
    const overlay = new Overlay(this.#options.database)
    this.#putRecord(overlay, block, record, 'invalid')
    await this.#options.commit(overlay)
  }

  /** Drops bodies below reorganisation depth; refuses the new block when that frees no room. */
  async makeRoom(): Promise<void> {
    if (!this.#side.full) return
    const { database, tip, commit, headers } = this.#options
    const gone = await this.#side.below(tip().header.height - reorganisationDepth)
    if (gone.length > 0) {
      const overlay = new Overlay(database)
      for (const known of gone) {
        overlay.del(keys.sideBody(known.header.hash))
        putStatus(overlay, known, 'header')
      }
      await commit(overlay)
      headers.forget(gone.map(({ header }) => header.hash))
      gone.forEach((known) => this.#side.remove(known))
    }
    if (this.#side.full) throw brokenRule('block-unsettled-full')
  }

  /** Whether there is room for blocks that leave a devnet, once bodies below reorganisation depth are dropped. */
  async hasRoom(): Promise<boolean> {
    try {
      await this.makeRoom()
      return true
    } catch (error) {
      if (error instanceof RuleError) return false
      throw error
    }
  }

  /** Stages a block that leaves the active chain as a side block; {@link count} follows once it is written. */
  stageLeft(overlay: Overlay, known: KnownHeader, body: Block): void {
    overlay.put(keys.sideBody(known.header.hash), body.bytes)
    putStatus(overlay, known, 'side')
  }

  /** Counts blocks that became side blocks, and such as joined the active chain. */
  count({ left, taken }: { readonly left: readonly KnownHeader[]; readonly taken: readonly KnownHeader[] }): void {
    left.forEach((known) => this.#side.add(known))
    taken.forEach((known) => this.#side.remove(known))
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
