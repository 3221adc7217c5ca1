import type { ChainChange, ChainIndexer, Restoration } from '../chain/chain-change.js'
import { RuleError } from '../errors/rule-error.js'
import { Reader, Writer } from '../primitives/codec.js'
import type { Clock } from '../runtime/env.js'
import type { Database, Overlay } from '../storage/database.js'
import { keys } from '../storage/schema.js'

/** What a clock shows, and what it was told of the next block. */
export interface ClockState {
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** Unix seconds. */
  readonly nextBlockTime: number | undefined
}

/**
 * The clock of a devnet: the real one plus an offset. Blocks drag it along, so that it never falls behind the tip, and the
 * offset is written with them. Nothing but a rewind of the chain sets it back.
 */
export class VirtualClock implements Clock, ChainIndexer {
  readonly #real: Clock
  #offset = 0
  #nextBlockTime: number | undefined

  /** Takes up the offset that the database holds. */
  constructor(real: Clock, database: Database) {
    this.#real = real
    const row = database.get(keys.meta('clock'))
    if (row !== undefined) this.#offset = Number(new Reader(row).i64())
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

  /** Sets the time of the next block, which must be after the tip's. */
  setNextBlockTime(time: number, tipTime: number): void {
    if (time <= tipTime) {
      throw new RuleError('request-parameter', `time: ${time} is not after the tip's time, ${tipTime}`)
    }
    this.#nextBlockTime = time
  }

  /** Time of a block on top of one with `parentTime`: what was asked for, else the clock, but always later. */
  blockTime(parentTime: number): number {
    const asked = this.#nextBlockTime ?? 0
    return asked > parentTime ? asked : Math.max(this.seconds, parentTime + 1)
  }

  get state(): ClockState {
    return { now: this.now(), nextBlockTime: this.#nextBlockTime }
  }

  /** Goes on from a state of before, when the chain goes back. */
  restoration({ now, nextBlockTime }: ClockState): Restoration {
    const offset = now - this.#real.now()
    return {
      stage: (overlay) => putOffset(overlay, offset),
      follow: async () => {
        this.#offset = offset
        this.#nextBlockTime = nextBlockTime
      },
    }
  }

  stage(overlay: Overlay, { connected }: ChainChange): void {
    const time = connected.at(-1)?.header.time ?? 0
    // A later one was under way when it was asked for, and has made it pointless.
    if (time >= (this.#nextBlockTime ?? Infinity)) this.#nextBlockTime = undefined
    // A block set ahead takes the clock with it.
    this.#offset += Math.max(0, time * 1000 - this.now())
    this.store(overlay)
  }

  store(overlay: Overlay): void {
    putOffset(overlay, this.#offset)
  }

  async follow(): Promise<void> {}
}

function putOffset(overlay: Overlay, offset: number): void {
  overlay.put(keys.meta('clock'), new Writer(8).i64(BigInt(offset)).finish())
}
