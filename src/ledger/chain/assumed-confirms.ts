import { checkConfirm } from '../consensus/check-confirm.js'
import type { Verifier } from '../../base/crypto/verifier.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { parseConfirm } from '../../base/primitives/confirm.js'
import type { Header } from '../../base/primitives/header.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import type { Spec } from '../../base/primitives/spec.js'
import { forEachCooperatively } from '../../base/runtime/cooperative.js'
import type { RowSource } from '../storage/stored-rows.js'
import type { Overlay } from '../storage/write/overlay.js'
import { meta, tables } from '../storage/rows/tables.js'

/** State of a confirm, by height; 0 for unknown. */
const state = { verified: 1, wrong: 2 } as const

interface AssumedConfirmsDependencies {
  readonly spec: Spec
  readonly database: Pick<RowSource, 'get'>
  readonly verifier: Verifier
}

/** A header of the active chain and its confirm as stored; empty without validators. */
export interface StoredConfirm {
  readonly header: Header
  readonly confirm: Uint8Array
}

/**
 * Confirms of blocks assumed valid. The block hash does not cover the confirm, so its sender may have forged the signatures.
 * Each is verified once, before it is served. A wrong one gives way to a right one that comes with the block again.
 */
export class AssumedConfirms {
  readonly #dependencies: AssumedConfirmsDependencies
  /** By height, while the chain is open. */
  #states = new Uint8Array(0)

  constructor(dependencies: AssumedConfirmsDependencies) {
    this.#dependencies = dependencies
  }

  /** Stages that blocks up to a height were connected without verifying the signatures of their confirms. */
  stage(overlay: Overlay, height: number): void {
    if (this.#dependencies.spec.hasValidators) meta.assumed.put(overlay, height)
  }

  /** Whether the confirm of the active block at a height is verified. */
  holds(height: number): boolean {
    return height > this.#top || this.#states[height] === state.verified
  }

  /** Verifies the unverified ones; resolves with the number of valid ones before the first invalid one. */
  async verify(confirms: readonly StoredConfirm[]): Promise<number> {
    const top = this.#top
    const isWrong = ({ header: { height } }: StoredConfirm) => height <= top && this.#states[height] === state.wrong
    const end = confirms.findIndex(isWrong)
    const rest = end < 0 ? confirms : confirms.slice(0, end)
    const open = rest.filter(({ header }) => !this.holds(header.height))
    if (open.length === 0) return rest.length
    const checks: SignatureCheck[] = []
    const owners: StoredConfirm[] = []
    await forEachCooperatively(open, (stored) => {
      for (const check of checkConfirm(this.#dependencies.spec, stored.header, parseConfirm(stored.confirm))) {
        checks.push(check)
        owners.push(stored)
      }
    })
    const failing = owners[await this.#dependencies.verifier.verifyAll(checks)]
    const good = failing === undefined ? open : open.slice(0, open.indexOf(failing))
    for (const { header } of good) this.#note(header.height, 'verified')
    if (failing === undefined) return rest.length
    this.#note(failing.header.height, 'wrong')
    return rest.indexOf(failing)
  }

  /**
   * Stages another confirm of an active block, where the stored one is wrong and this one holds; returns whether it did. Once the
   * row is written, `kept` has to be called.
   */
  async stageRight(overlay: Overlay, { header, confirm }: StoredConfirm): Promise<boolean> {
    const { database, spec, verifier } = this.#dependencies
    const stored = database.get(tables.confirm.key(header.hash))
    if (stored === undefined || equalBytes(stored, confirm)) return false
    if ((await this.verify([{ header, confirm: stored }])) === 1) return false
    const checks = checkConfirm(spec, header, parseConfirm(confirm))
    if ((await verifier.verifyAll(checks)) >= 0) return false
    overlay.put(tables.confirm.key(header.hash), confirm)
    return true
  }

  /** Forgets what was found: the rows are others. */
  forget(): void {
    this.#states = new Uint8Array(0)
  }

  /** The confirm stored for a height is one that was found to hold. */
  kept(height: number): void {
    this.#note(height, 'verified')
  }

  #note(height: number, found: 'verified' | 'wrong'): void {
    if (height >= this.#states.length) {
      const states = new Uint8Array(Math.max(height, this.#top) + 1)
      states.set(this.#states)
      this.#states = states
    }
    this.#states[height] = state[found]
  }

  /** Height of the highest block connected without verification; -1 if none. */
  get #top(): number {
    return meta.assumed.get(this.#dependencies.database) ?? -1
  }
}
