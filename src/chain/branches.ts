import { RuleError } from '../errors.js'
import type { Block } from '../primitives/block.js'
import { Overlay } from '../storage/database.js'
import { type BlockStatus, keys } from '../storage/schema.js'
import { readSideBody } from './bodies.js'
import type { BlockEvent, ChainChange } from './change.js'
import { connectInto } from './connect.js'
import { disconnectInto } from './disconnect.js'
import type { Headers, KnownHeader } from './headers.js'
import { chainWorkOf, type NewBlock, putRecord, putStatus } from './records.js'
import type { Checking } from './run.js'
import { sideBlockLimit, SideBlocks } from './side.js'

/** Blocks that a reorganisation may take back. */
export const reorganisationDepth = 288

export interface BranchesOptions extends Checking {
  readonly headers: Headers
  /** The tip of the active chain. */
  tip(): KnownHeader
  /** Writes what leaves the active chain as it is. */
  commit(overlay: Overlay): Promise<void>
  /** The number of the next block to come. */
  arrival(): number
}

/** A change to another branch, not written yet. */
export interface BranchChange {
  readonly overlay: Overlay
  readonly change: ChainChange
  /** To be called once it is written. */
  settle(): void
}

/** The blocks off the active chain of a chain without validators, and the way from one branch to another. */
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

  /** The branch must leave the active chain within reach, and all of it must be there to be connected. */
  checkReach(parent: KnownHeader): void {
    const { headers, tip } = this.#options
    let fork = parent
    for (let steps = 0; fork.status !== 'active'; steps++) {
      // A block may stand on an invalid one and not be marked itself: it was kept aside before anybody knew.
      if (fork.status === 'invalid') throw new RuleError('block-parent-invalid', `${fork.header.id} is invalid`)
      if (fork.status === 'header' || steps > sideBlockLimit) throw new RuleError('block-too-deep')
      fork = headers.known(fork.header.previous)
    }
    const depth = tip().header.height - fork.header.height
    if (depth > reorganisationDepth) {
      throw new RuleError('block-too-deep', `the branch leaves the chain ${depth} blocks below the tip`)
    }
  }

  /**
   * Leaves the active chain where the branch of `block` left it and follows the branch. When a block below it breaks a rule,
   * everything from there on is marked and it rejects with a {@link BranchError}.
   */
  async switchTo(block: Block, record: NewBlock): Promise<BranchChange> {
    const { database, headers } = this.#options
    const overlay = new Overlay(database)
    const branch = this.#branchOf(record.parent)
    const fork = branch.length === 0 ? record.parent : headers.known((branch[0] as KnownHeader).header.previous)
    const going = this.#above(fork.header.height)
    const disconnected = await disconnectInto(overlay, database, going, (gone, body) => {
      overlay.put(keys.sideBody(gone.header.hash), body.bytes)
      putStatus(overlay, gone, 'side')
    })
    const connected: BlockEvent[] = []
    for (const [i, known] of branch.entries()) {
      const body = readSideBody(database, known.header.hash)
      try {
        connected.push(await connectInto(overlay, body, this.#options))
      } catch (error) {
        if (error instanceof RuleError) await this.#refuse(branch.slice(i), block, record, error)
        throw error
      }
      overlay.del(keys.sideBody(known.header.hash))
      putStatus(overlay, known, 'active')
    }
    connected.push(await connectInto(overlay, block, this.#options))
    this.#putRecord(overlay, block, record, 'active')
    const settle = () => {
      going.forEach((known) => this.#side.add(known))
      branch.forEach((known) => this.#side.remove(known))
    }
    return { overlay, change: { disconnected, connected }, settle }
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

  /** Drops bodies that no reorganisation can reach any more; refuses the newcomer when that is not enough. */
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
    if (this.#side.full) throw new RuleError('block-unsettled-full')
  }

  async #refuse(broken: KnownHeader[], top: Block, record: NewBlock, error: RuleError): Promise<never> {
    const { database, commit, headers } = this.#options
    const overlay = new Overlay(database)
    for (const known of broken) {
      putStatus(overlay, known, 'invalid')
      overlay.del(keys.sideBody(known.header.hash))
    }
    this.#putRecord(overlay, top, record, 'invalid')
    await commit(overlay)
    headers.forget(broken.map(({ header }) => header.hash))
    broken.forEach((known) => this.#side.remove(known))
    throw new BranchError(error)
  }

  #putRecord(overlay: Overlay, block: Block, record: NewBlock, status: BlockStatus): void {
    const { size } = record
    putRecord(overlay, block, { chainWork: chainWorkOf(block, record), size, status, arrival: this.#options.arrival() })
  }

  /** The blocks from the fork, exclusive, up to `top`, inclusive, that are off the active chain. */
  #branchOf(top: KnownHeader): KnownHeader[] {
    const { headers } = this.#options
    const branch: KnownHeader[] = []
    for (let known = top; known.status !== 'active'; known = headers.known(known.header.previous)) branch.unshift(known)
    return branch
  }

  /** The active blocks above a height, newest first. */
  #above(floor: number): KnownHeader[] {
    const { headers, tip } = this.#options
    const above: KnownHeader[] = []
    for (let { height } = tip().header; height > floor; height--) above.push(headers.activeAt(height))
    return above
  }
}

/** A branch broke a rule below its newest block: everything is marked already. */
export class BranchError extends Error {
  readonly rule: RuleError

  constructor(rule: RuleError) {
    super(rule.message)
    this.rule = rule
  }
}
