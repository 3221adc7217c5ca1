import { RuleError } from '../../base/errors/rule-error.js'
import type { Waiting } from '../../ledger/mempool/reevaluation.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { ClockState } from './clock.js'

/** @limit count: snapshots that a devnet keeps */
export const maxSnapshots = 1000
/** @limit bytes: pooled transactions in all snapshots */
export const maxSnapshotBytes = 64 * 1024 * 1024

/** A state to which the devnet can be reverted. */
export interface Snapshot {
  readonly tip: Hash
  readonly clock: ClockState
  /** Pooled transactions in order of arrival. */
  readonly pool: readonly Waiting[]
}

/** Snapshots by number, oldest first. Their tips are all on the active chain. */
export class Snapshots {
  readonly #held = new Map<number, { readonly snapshot: Snapshot; readonly bytes: number }>()
  #bytes = 0
  #last = 0

  /** Keeps a snapshot and returns its number: 1, 2, and so on. Throws `snapshot-limit` if full. */
  add(snapshot: Snapshot): number {
    const bytes = snapshot.pool.reduce((sum, { transaction }) => sum + transaction.bytes.length, 0)
    if (this.#held.size >= maxSnapshots || this.#bytes + bytes > maxSnapshotBytes) {
      throw new RuleError(
        'snapshot-limit',
        `${this.#held.size} snapshots with ${this.#bytes} bytes of pooled transactions are kept, at most ` +
          `${maxSnapshots} and ${maxSnapshotBytes} can be; dev_revert to an early one lets those after it go`,
      )
    }
    this.#last++
    this.#bytes += bytes
    this.#held.set(this.#last, { snapshot, bytes })
    return this.#last
  }

  /** The snapshot with this number; throws `request-parameter` if there is none. */
  get(id: number): Snapshot {
    const held = this.#held.get(id)
    if (held !== undefined) return held.snapshot
    const taken = id >= 1 && id <= this.#last
    throw new RuleError(
      'request-parameter',
      taken
        ? `id: snapshot ${id} is gone: an earlier one was reverted to, or its block left the chain`
        : `id: there is no snapshot ${id}; they are numbered from 1, and a restart forgets all of them`,
    )
  }

  /** Drops the snapshots taken after this one. */
  forgetAfter(id: number): void {
    this.#forget((later) => later > id)
  }

  /** Drops the snapshots whose tip has left the chain. */
  forgetLeft(isActive: (tip: Hash) => boolean): void {
    this.#forget((_, { tip }) => !isActive(tip))
  }

  #forget(goes: (id: number, snapshot: Snapshot) => boolean): void {
    for (const [id, { snapshot, bytes }] of this.#held) {
      if (!goes(id, snapshot)) continue
      this.#held.delete(id)
      this.#bytes -= bytes
    }
  }
}
