import { InvariantError, RuleError } from '../../base/errors/rule-error.js'
import type { Block } from '../../base/primitives/block.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { coinStateOf, type Spec } from '../../base/primitives/spec.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import { Overlay } from '../storage/write/overlay.js'
import { meta, tables, type TipRow } from '../storage/rows/tables.js'
import { putStatus } from './block-records.js'
import type { Checking } from './block-run.js'
import { connectInto } from './connect-block.js'
import { disconnectInto } from './disconnect-block.js'
import { HeaderIndex, type KnownHeader } from './header-index.js'
import { readSideBody } from './read-body.js'

/** @tuning bytes: blocks in one batch of a reorganisation, or one larger block */
const reorganisationBytes = 4 * 1024 * 1024

/** Result of a reorganisation. */
export interface Reorganised {
  /** Headers of disconnected blocks, newest first. */
  readonly disconnected: readonly KnownHeader[]
  /** Headers of connected blocks, oldest first. */
  readonly connected: readonly KnownHeader[]
}

/** The new branch broke a rule: the chain is restored, and the blocks in `broken` are marked as invalid. */
export interface Abandoned {
  readonly broken: readonly KnownHeader[]
  readonly rule: RuleError
}

/** Additional rows of the first batch. */
export interface Preparation {
  /** Bytes of the block among these rows. */
  readonly bytes: number
  stage(overlay: Overlay): void
}

export interface ReorganisationOptions extends Checking {
  /** Replaces {@link reorganisationBytes}. */
  readonly reorganisationBytes?: number
  /** Called with each block before it is connected. */
  foresee?(block: Block): Promise<void>
  /** Adds rows to the last batch, which makes the change visible. */
  stage?(overlay: Overlay, reorganised: Reorganised): void
}

/**
 * Moves the active chain to another branch in batches of bounded size. A marker row holds both tips from the first batch until
 * the last, so that a start can resume after any batch. Readers are held at the old tip until the end.
 */
export class Reorganisation {
  readonly #options: ReorganisationOptions
  readonly #from: TipRow
  #to: TipRow
  #overlay!: Overlay
  /** Headers as seen through the overlay. */
  #headers!: HeaderIndex
  /** Bytes of blocks in the overlay. */
  #bytes = 0
  /** Tip of the rows, staged ones included. */
  #tip: TipRow
  /** Tip of the rows on disk. */
  #written: TipRow

  private constructor(options: ReorganisationOptions, { from, to, tip }: { from: TipRow; to: TipRow; tip: TipRow }) {
    this.#options = options
    this.#from = tipOf(from)
    this.#to = tipOf(to)
    this.#tip = tipOf(tip)
    this.#written = this.#tip
  }

  /** Moves from the tip to a stored branch; `prepare` stages the rows that are missing. */
  static async run(
    options: ReorganisationOptions,
    way: { readonly from: TipRow; readonly to: TipRow },
    prepare: Preparation,
  ): Promise<Reorganised | Abandoned> {
    const reorganisation = new Reorganisation(options, { ...way, tip: way.from })
    return reorganisation.#run(prepare)
  }

  /** Resumes an interrupted reorganisation, from the tip of the rows; undefined if there is none. */
  static async resume(options: ReorganisationOptions, tip: TipRow): Promise<Reorganised | Abandoned | undefined> {
    const way = meta.reorganisation.get(options.database.newest)
    if (way === undefined) return undefined
    return new Reorganisation(options, { ...way, tip }).#run({ bytes: 0, stage: () => {} })
  }

  async #run(prepare: Preparation): Promise<Reorganised | Abandoned> {
    this.#begin(prepare)
    const failure = await this.#follow({ assumed: this.#returning })
    if (failure === undefined) return this.#finish()
    // Staged rows are dropped; written blocks are reverted.
    this.#to = this.#from
    this.#tip = this.#written
    this.#begin(prepare)
    for (const { hash } of failure.broken) {
      this.#setStatus(this.#headers.known(hash), 'invalid')
      this.#overlay.del(tables.sideBody.key(hash))
    }
    const again = await this.#follow({ assumed: true })
    // It was valid when connected. A RuleError would be attributed to the new block.
    if (again !== undefined) {
      throw new InvariantError(`the branch that was left does not connect any more: ${again.rule.message}`)
    }
    await this.#finish()
    return { rule: failure.rule, broken: failure.broken.map(({ hash }) => this.#headers.known(hash)) }
  }

  /** Whether it returns to the old tip. */
  get #returning(): boolean {
    return equalBytes(this.#from.hash, this.#to.hash)
  }

  /** Disconnects down to the fork point and connects the target branch. */
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
    await disconnectInto(this.#overlay, this.#options.database.newest, [known], this.#options, (gone, body) => {
      this.#overlay.put(tables.sideBody.key(gone.header.hash), body.bytes)
      this.#setStatus(gone, 'side')
    })
    this.#move({ hash: known.header.previous, height: height - 1 })
  }

  async #connect({ hash, height }: TipRow, { assumed }: { assumed: boolean }): Promise<void> {
    const known = this.#headers.known(hash)
    await this.#makeRoom(known.size)
    await this.#coverCoins(height)
    const body = await readSideBody(this.#overlay, hash)
    if (!assumed) await this.#options.foresee?.(body)
    const layer = new Overlay(this.#overlay)
    await connectInto(layer, body, this.#options, { assumed })
    await runCooperatively(layer.mergeSteps(this.#overlay))
    this.#overlay.del(tables.sideBody.key(hash))
    this.#setStatus(known, 'active')
    this.#move({ hash, height })
  }

  /** Writes the staged rows where the block at a height commits to coins of a state among them. */
  async #coverCoins(height: number): Promise<void> {
    const state = coinStateOf(this.#options.sanity.spec, height)
    const hash = state === undefined ? undefined : this.#overlay.get(tables.active.key(state))
    if (state === undefined || hash === undefined || this.#options.coinRoots.covers({ hash, height: state })) return
    await this.#write({ sync: false })
    this.#newOverlay()
  }

  /** Writes the last batch; readers may see the new branch afterwards. */
  async #finish(): Promise<Reorganised> {
    const { database } = this.#options
    const { branch: left, forkHeight } = this.#branchOf(this.#from)
    const { branch: taken } = this.#branchOf(this.#to, forkHeight)
    const known = ({ hash }: TipRow) => this.#headers.known(hash)
    const reorganised = { disconnected: left.map(known).reverse(), connected: taken.map(known) }
    if (!this.#returning) {
      const row = tables.leftBranch.encode({ tip: this.#from, forkHeight })
      this.#overlay.put(tables.leftBranch.key(database.sequence + 1), row)
      this.#options.stage?.(this.#overlay, reorganised)
    }
    this.#overlay.del(meta.reorganisation.key)
    await this.#write({ sync: true })
    return reorganised
  }

  #move(tip: TipRow): void {
    this.#tip = tipOf(tip)
  }

  /** Starts an overlay on the written rows. */
  #newOverlay(): void {
    this.#overlay = new Overlay(this.#options.database.newest)
    this.#bytes = 0
    this.#headers = new HeaderIndex({ get: (key) => this.#overlay.get(key) })
  }

  /** Starts the first batch of a direction, with the marker row. */
  #begin({ bytes, stage }: Preparation): void {
    this.#newOverlay()
    stage(this.#overlay)
    this.#bytes = bytes
    const row = meta.reorganisation.encode({ from: this.#from, to: this.#to })
    this.#overlay.put(meta.reorganisation.key, row)
  }

  /** Writes the staged rows when one more block would exceed the batch size. */
  async #makeRoom(size: number): Promise<void> {
    const limit = this.#options.reorganisationBytes ?? reorganisationBytes
    if (this.#bytes > 0 && this.#bytes + size > limit) {
      await this.#write({ sync: false })
      this.#newOverlay()
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

  /** Blocks from above the active chain, or above a height, up to `top`; oldest first. */
  #branchOf(top: TipRow, floor = -1): { branch: TipRow[]; forkHeight: number } {
    const branch: TipRow[] = []
    let known = this.#headers.known(top.hash)
    const isOff = () => (floor < 0 ? known.status !== 'active' : known.header.height > floor)
    for (; isOff(); known = this.#headers.known(known.header.previous)) branch.push(tipOf(known.header))
    return { branch: branch.reverse(), forkHeight: known.header.height }
  }
}

/** Stages the rows of the tip. */
export function putTip(overlay: Overlay, spec: Spec, { hash, height }: TipRow): void {
  meta.tip.put(overlay, { hash, height })
  meta.upgrades.put(overlay, spec.upgradesDigest(height))
}

/** A small copy: hashes may be views into large rows. */
function tipOf({ hash, height }: TipRow): TipRow {
  return { hash: Uint8Array.from(hash), height }
}
