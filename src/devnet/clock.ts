import type { ChainChange, ChainFollower } from '../chain/chain.js'
import type { Clock } from '../env.js'
import { RuleError } from '../errors.js'
import { Reader, Writer } from '../primitives/codec.js'
import type { Database, Overlay } from '../storage/database.js'
import { keys } from '../storage/schema.js'

/**
 * The clock of a devnet: the real one plus an offset that only grows. Blocks drag it along, so that it never falls
 * behind the tip, and the offset is written with them.
 */
export class VirtualClock implements Clock, ChainFollower {
  readonly #real: Clock
  #offset = 0
  #nextBlockTime: number | undefined

  /** Takes up the offset that the database holds. */
  constructor(real: Clock, database: Database) {
    this.#real = real
    const row = database.get(keys.meta('clock'))
    if (row !== undefined) this.#offset = Number(new Reader(row).u64())
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

  stage(overlay: Overlay, { connected }: ChainChange): void {
    const time = connected.at(-1)?.block.header.time ?? 0
    // A later one was under way when it was asked for, and has made it pointless.
    if (time >= (this.#nextBlockTime ?? Infinity)) this.#nextBlockTime = undefined
    // A block set ahead takes the clock with it.
    this.#offset += Math.max(0, time * 1000 - this.now())
    this.store(overlay)
  }

  store(overlay: Overlay): void {
    overlay.put(keys.meta('clock'), new Writer(8).u64(BigInt(this.#offset)).finish())
  }

  async follow(): Promise<void> {}
}
