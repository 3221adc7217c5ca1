import type { ChainIndexer, Restoration } from '../../ledger/chain/chain-change.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Clock } from '../../base/runtime/env.js'
import { formatDate } from '../../identity/did/date.js'
import type { Database } from '../../ledger/storage/database.js'
import type { Overlay } from '../../ledger/storage/write/overlay.js'
import { meta } from '../../ledger/storage/rows/tables.js'

/**
 * Block times stay below 2^32.
 * @limit number: latest time of a devnet's clock, in Unix seconds: 2100-01-01
 */
export const latestTime = 4_102_444_800

/** Time of a clock, and the time requested for the next block. */
export interface ClockState {
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** Unix seconds. */
  readonly nextBlockTime: number | undefined
}

/** The same as an offset, which stays right while time passes. */
export interface OffsetState {
  /** Milliseconds by which the clock is ahead of the real one. */
  readonly offset: number
  /** Unix seconds. */
  readonly nextBlockTime: number | undefined
}

/**
 * The clock of a devnet: the real one plus an offset. Blocks advance it, so that it never falls behind the tip, and the
 * offset is written with them. Only {@link set} and a rewind of the chain set it back.
 */
export class VirtualClock implements Clock, ChainIndexer {
  readonly #real: Clock
  #offset = 0
  #nextBlockTime: number | undefined

  /** Reads the offset from the database. */
  constructor(real: Clock, database: Database) {
    this.#real = real
    this.#offset = meta.clock.get(database) ?? 0
  }

  now(): number {
    return this.#real.now() + this.#offset
  }

  /** Unix seconds. */
  get seconds(): number {
    return Math.floor(this.now() / 1000)
  }

  /** Moves the clock forward. */
  increase(seconds: number): void {
    this.#offset += seconds * 1000
  }

  /** Sets the clock to Unix seconds, which must not be before the tip's. */
  set(time: number, tipTime: number): void {
    if (time < tipTime) {
      throw new RuleError(
        'request-parameter',
        `time: ${shown(time)} is before the tip's time, ${shown(tipTime)}; dev_revert goes back`,
      )
    }
    this.#offset = time * 1000 - this.#real.now()
  }

  /** Sets the time of the next block, which must be after the tip's. */
  setNextBlockTime(time: number, tipTime: number): void {
    if (time <= tipTime) {
      throw new RuleError('request-parameter', `time: ${shown(time)} is not after the tip's time, ${shown(tipTime)}`)
    }
    this.#nextBlockTime = time
  }

  /** Unix seconds of a block on a parent with `parentTime`: requested time, else the clock, but above the parent's. */
  blockTime(parentTime: number): number {
    const requested = this.#nextBlockTime ?? 0
    return requested > parentTime ? requested : Math.max(this.seconds, parentTime + 1)
  }

  /** Milliseconds by which it is ahead of the real clock; negative when it is behind. */
  get offset(): number {
    return this.#offset
  }

  get state(): ClockState {
    return { now: this.now(), nextBlockTime: this.#nextBlockTime }
  }

  /** Restores an earlier state, together with a rewind of the chain. */
  restoration({ now, nextBlockTime }: ClockState): Restoration {
    return this.#restoring(() => ({ offset: now - this.#real.now(), nextBlockTime }))
  }

  /**
   * Restores an offset together with other blocks; never behind `tipTime`, their last one's in Unix seconds. A time requested for
   * the next block counts if it is after that.
   */
  restorationAt(state: OffsetState, tipTime: number): Restoration {
    return this.#restoring(() => ({
      offset: Math.max(state.offset, tipTime * 1000 - this.#real.now()),
      nextBlockTime: (state.nextBlockTime ?? 0) > tipTime ? state.nextBlockTime : undefined,
    }))
  }

  #restoring(stateOf: () => OffsetState): Restoration {
    let state: OffsetState | undefined
    return {
      stage: (overlay) => {
        state = stateOf()
        putOffset(overlay, state.offset)
      },
      follow: async () => {
        const { offset, nextBlockTime } = state ?? stateOf()
        this.#offset = offset
        this.#nextBlockTime = nextBlockTime
      },
    }
  }

  stage(
    overlay: Overlay,
    { connected }: { readonly connected: readonly { readonly header: { readonly time: number } }[] },
  ): void {
    const time = connected.at(-1)?.header.time ?? 0
    // Also dropped if a block that was under way has a later time.
    if (time >= (this.#nextBlockTime ?? Infinity)) this.#nextBlockTime = undefined
    // A block ahead of the clock advances it.
    this.#offset += Math.max(0, time * 1000 - this.now())
    this.store(overlay)
  }

  store(overlay: Overlay): void {
    putOffset(overlay, this.#offset)
  }

  async follow(): Promise<void> {}
}

/** Unix seconds as the caller gave them, and readable. */
function shown(time: number): string {
  return `${time} (${formatDate(time)})`
}

function putOffset(overlay: Overlay, offset: number): void {
  meta.clock.put(overlay, offset)
}
