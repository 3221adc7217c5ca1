import type { SignatureCheck } from '../primitives/signature.js'

/** @tuning count: checks of a packed batch */
const batchSignatures = 64
/** @tuning bytes: messages of a packed batch */
const batchBytes = 1024 * 1024

/**
 * Distributes the checks of one call over a number of lanes (threads). The first key of a check selects its lane, so that each
 * thread verifies under the same keys again. An idle lane takes from the longest queue.
 */
export class Schedule {
  /** Index of the first check known to fail; the number of checks if none is. */
  firstFailing: number
  readonly #checks: readonly SignatureCheck[]
  readonly #queues: number[][]
  #outstanding = 0

  constructor(checks: readonly SignatureCheck[], lanes: number) {
    this.#checks = checks
    this.firstFailing = checks.length
    this.#queues = Array.from({ length: lanes }, () => [])
    // Queues hold the lowest index last, where removal is cheap.
    for (let index = checks.length - 1; index >= 0; index--) {
      this.#queues[lane(checks[index] as SignatureCheck, lanes)]?.push(index)
    }
  }

  /** Nothing is waiting or in progress any more: `firstFailing` is the result. */
  get done(): boolean {
    return this.#outstanding === 0 && this.#queues.every((queue) => queue.length === 0)
  }

  /** Ascending indices for a lane to verify next; `idle` lets it take from another lane. Empty if there are none. */
  take(laneIndex: number, idle: boolean): number[] {
    const own = this.#queues[laneIndex] as number[]
    let batch = this.#cut(own, batchSignatures)
    if (batch.length === 0 && idle) {
      const longest = this.#queues.reduce((a, b) => (b.length > a.length ? b : a))
      batch = this.#cut(longest, Math.min(batchSignatures, Math.ceil(longest.length / 2)))
    }
    if (batch.length > 0) this.#outstanding++
    return batch
  }

  /** Records the result of a batch: the position in it of its first failing check, or -1. */
  settle(batch: readonly number[], failing: number): void {
    this.#outstanding--
    const index = batch[failing]
    if (index === undefined || index >= this.firstFailing) return
    this.firstFailing = index
    // Only earlier checks can still change the result.
    for (const queue of this.#queues) {
      const keep = queue.filter((waiting) => waiting < index)
      queue.splice(0, queue.length, ...keep)
    }
  }

  /** Queues a batch again after the death of its lane. */
  giveBack(laneIndex: number, batch: readonly number[]): void {
    this.#outstanding--
    const queue = this.#queues[laneIndex] as number[]
    queue.push(...batch.filter((index) => index < this.firstFailing))
    queue.sort((a, b) => b - a)
  }

  #cut(queue: number[], limit: number): number[] {
    const batch: number[] = []
    let signatures = 0
    let bytes = 0
    let message: Uint8Array | undefined
    while (queue.length > 0 && signatures < limit && bytes < batchBytes) {
      const index = queue.pop() as number
      const check = this.#checks[index] as SignatureCheck
      batch.push(index)
      signatures += Math.max(1, check.signatures.length)
      // Consecutive checks of one transaction share its bytes.
      if (check.message !== message) bytes += check.message.length
      message = check.message
    }
    return batch
  }
}

/** Lane by the last bytes of a key: as good as random. Keys chosen to collide cost balance, which stealing restores. */
function lane(check: SignatureCheck, lanes: number): number {
  const key = check.keys[0]
  if (key === undefined || key.length < 2) return 0
  return (((key[key.length - 2] as number) << 8) | (key[key.length - 1] as number)) % lanes
}
