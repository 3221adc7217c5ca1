import { InvariantError, RuleError } from '../errors/rule-error.js'
import type { Block } from '../primitives/block.js'
import { equalBytes } from '../primitives/bytes.js'
import type { Spec } from '../primitives/spec.js'
import { Overlay } from '../storage/database.js'
import { keys, type TipRow, values } from '../storage/schema.js'
import { putStatus } from './block-records.js'
import type { Checking } from './block-run.js'
import { connectInto } from './connect-block.js'
import { disconnectInto } from './disconnect-block.js'
import { HeaderIndex, type KnownHeader } from './header-index.js'
import { readSideBody } from './read-body.js'

/** Bytes of blocks after which a batch of a reorganisation takes no further one; a block that is larger has one to itself. */
const reorganisationBytes = 4 * 1024 * 1024

/** What a reorganisation came to. */
export interface Reorganised {
  /** Headers of blocks taken back, newest first. */
  readonly disconnected: readonly KnownHeader[]
  /** Headers of blocks connected, oldest first. */
  readonly connected: readonly KnownHeader[]
}

/** The new branch broke a rule: the chain is where it was, and `broken` are marked as invalid. */
export interface Abandoned {
  readonly broken: readonly KnownHeader[]
  readonly rule: RuleError
}

/** Rows that the first batch needs, beside the way. */
export interface Preparation {
  /** Bytes of the block among them. */
  readonly bytes: number
  stage(overlay: Overlay): void
}

export interface ReorganisationOptions extends Checking {
  /** What differs from {@link reorganisationBytes}. */
  readonly reorganisationBytes?: number
  /** Looks at a block before it is connected. */
  foresee?(block: Block): Promise<void>
  /** Adds rows to the batch that makes the change. */
  stage?(overlay: Overlay, reorganised: Reorganised): void
}

/**
 * Moves the active chain to another branch in batches of bounded size. The marker row says where the way began and where it
 * leads, so that a start can go on from whatever batch was the last; it goes with the last one. Readers are to be held at
 * the old tip meanwhile.
 */
export class Reorganisation {
  readonly #options: ReorganisationOptions
  readonly #from: TipRow
  #to: TipRow
  #overlay!: Overlay
  /** Headers as the overlay has them. */
  #headers!: HeaderIndex
  /** Bytes of the blocks in the overlay. */
  #bytes = 0
  /** Where the rows stand with what is staged. */
  #tip: TipRow
  /** Where they stand on disk. */
  #written: TipRow

  private constructor(options: ReorganisationOptions, { from, to, tip }: { from: TipRow; to: TipRow; tip: TipRow }) {
    this.#options = options
    this.#from = tipOf(from)
    this.#to = tipOf(to)
    this.#tip = tipOf(tip)
    this.#written = this.#tip
  }

  /** Goes from the tip to a branch whose records and bodies are there, but for what `prepare` stages. */
  static async run(
    options: ReorganisationOptions,
    way: { readonly from: TipRow; readonly to: TipRow },
    prepare: Preparation,
  ): Promise<Reorganised | Abandoned> {
    const reorganisation = new Reorganisation(options, { ...way, tip: way.from })
    return reorganisation.#run(prepare)
  }

  /** Goes on with one that a stop cut short; undefined where there is none. */
  static async resume(options: ReorganisationOptions): Promise<Reorganised | Abandoned | undefined> {
    const { newest } = options.database
    const [marker, tipRow] = [newest.get(keys.meta('reorganisation')), newest.get(keys.meta('tip'))]
    if (marker === undefined || tipRow === undefined) return undefined
    const way = { ...values.reorganisation.decode(marker), tip: values.tip.decode(tipRow) }
    return new Reorganisation(options, way).#run({ bytes: 0, stage: () => {} })
  }

  async #run(prepare: Preparation): Promise<Reorganised | Abandoned> {
    this.#begin(prepare)
    const failure = await this.#follow({ assumed: this.#returning })
    if (failure === undefined) return this.#finish()
    // What is staged is dropped; what is written is taken back the way it came.
    this.#to = this.#from
    this.#tip = this.#written
    this.#begin(prepare)
    for (const { hash } of failure.broken) {
      this.#setStatus(this.#headers.known(hash), 'invalid')
      this.#overlay.del(keys.sideBody(hash))
    }
    const again = await this.#follow({ assumed: true })
    // It was valid when it was connected. A broken rule would be taken for one of the new block.
    if (again !== undefined) {
      throw new InvariantError(`the branch that was left does not connect any more: ${again.rule.message}`)
    }
    await this.#finish()
    return { rule: failure.rule, broken: failure.broken.map(({ hash }) => this.#headers.known(hash)) }
  }

  /** Whether it leads back to where it began. */
  get #returning(): boolean {
    return equalBytes(this.#from.hash, this.#to.hash)
  }

  /** Leaves the active chain where the branch of the goal did, and connects that branch. */
  async #follow({
    assumed,
  }: {
    assumed: boolean
  }): Promise<{ rule: RuleError; broken: readonly TipRow[] } | undefined> {
    const { branch, forkHeight } = this.#branchOf(this.#to)
    for (let { height } = this.#tip; height > forkHeight; height--) await this.#disconnect(height)
    for (const [i, next] of branch.entries()) {
      try {
        await this.#connect(next, { assumed })
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        return { rule: error, broken: branch.slice(i) }
      }
    }
    return undefined
  }

  async #disconnect(height: number): Promise<void> {
    const known = this.#headers.activeAt(height)
    await this.#makeRoom(known.size)
    await disconnectInto(this.#overlay, this.#options.database.newest, [known], (gone, body) => {
      this.#overlay.put(keys.sideBody(gone.header.hash), body.bytes)
      this.#setStatus(gone, 'side')
    })
    this.#move({ hash: known.header.previous, height: height - 1 })
  }

  async #connect({ hash, height }: TipRow, { assumed }: { assumed: boolean }): Promise<void> {
    const known = this.#headers.known(hash)
    await this.#makeRoom(known.size)
    const body = await readSideBody(this.#overlay, hash)
    if (!assumed) await this.#options.foresee?.(body)
    const layer = new Overlay(this.#overlay)
    await connectInto(layer, body, this.#options, { assumed })
    layer.mergeInto(this.#overlay)
    this.#overlay.del(keys.sideBody(hash))
    this.#setStatus(known, 'active')
    this.#move({ hash, height })
  }

  /** The last batch, with which readers may see the new branch. */
  async #finish(): Promise<Reorganised> {
    const { database } = this.#options
    const { branch: left, forkHeight } = this.#branchOf(this.#from)
    const { branch: taken } = this.#branchOf(this.#to, forkHeight)
    const known = ({ hash }: TipRow) => this.#headers.known(hash)
    const reorganised = { disconnected: left.map(known).reverse(), connected: taken.map(known) }
    if (!this.#returning) {
      const row = values.leftBranch.encode({ tip: this.#from, forkHeight })
      this.#overlay.put(keys.leftBranch(database.sequence + 1), row)
      this.#options.stage?.(this.#overlay, reorganised)
    }
    this.#overlay.del(keys.meta('reorganisation'))
    await this.#write({ sync: true })
    return reorganised
  }

  #move(tip: TipRow): void {
    this.#tip = tipOf(tip)
  }

  /** An overlay on what is written. */
  #lay(): void {
    this.#overlay = new Overlay(this.#options.database.newest)
    this.#bytes = 0
    this.#headers = new HeaderIndex({ get: (key) => this.#overlay.get(key) })
  }

  /** The first batch of a direction: it says where the way leads. */
  #begin({ bytes, stage }: Preparation): void {
    this.#lay()
    stage(this.#overlay)
    this.#bytes = bytes
    const row = values.reorganisation.encode({ from: this.#from, to: this.#to })
    this.#overlay.put(keys.meta('reorganisation'), row)
  }

  /** Writes what is staged when one more block would make it too much. */
  async #makeRoom(size: number): Promise<void> {
    const limit = this.#options.reorganisationBytes ?? reorganisationBytes
    if (this.#bytes > 0 && this.#bytes + size > limit) {
      await this.#write({ sync: false })
      this.#lay()
    }
    this.#bytes += size
  }

  async #write(options: { sync: boolean }): Promise<void> {
    putTip(this.#overlay, this.#options.sanity.spec, this.#tip)
    await this.#overlay.commit({ kind: 'reorganisation', ...this.#tip }, options)
    this.#written = this.#tip
  }

  #setStatus(known: KnownHeader, status: KnownHeader['status']): void {
    putStatus(this.#overlay, known, status)
    this.#headers.forget([known.header.hash])
  }

  /** The blocks up to `top` above the active chain, or above a height; oldest first. */
  #branchOf(top: TipRow, floor = -1): { branch: TipRow[]; forkHeight: number } {
    const branch: TipRow[] = []
    let known = this.#headers.known(top.hash)
    const isOff = () => (floor < 0 ? known.status !== 'active' : known.header.height > floor)
    for (; isOff(); known = this.#headers.known(known.header.previous)) branch.push(tipOf(known.header))
    return { branch: branch.reverse(), forkHeight: known.header.height }
  }
}

/** Stages the rows that name the tip. */
export function putTip(overlay: Overlay, spec: Spec, { hash, height }: TipRow): void {
  overlay.put(keys.meta('tip'), values.tip.encode({ hash, height }))
  overlay.put(keys.meta('upgrades'), spec.upgradesDigest(height))
}

/** A copy that holds no more than it says: hashes may be parts of large rows. */
function tipOf({ hash, height }: TipRow): TipRow {
  return { hash: Uint8Array.from(hash), height }
}
