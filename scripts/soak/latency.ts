import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

/** Latencies by kind of request. No answer, or the refusal of an honest request, counts as the maximum. */
export class Latencies {
  readonly #kinds = new Map<string, RecordableHistogram>()
  /** Milliseconds of {@link aside} so far, and the start of a running one. */
  #stopped = 0
  #stoppedAt: number | undefined
  /** Pending answers. */
  readonly #underWay = new Set<Promise<void>>()
  #cleared = 0

  /** Waits for an answer and records its latency. */
  async of<T>(kind: string, answer: Promise<T>): Promise<T> {
    const [start, cleared] = [this.#now(), this.#cleared]
    const noted = answer.then(
      () => this.#now() - start,
      () => never,
    )
    const done = noted.then((milliseconds) => {
      // A request from before {@link clear} does not count.
      if (cleared === this.#cleared) this.note(kind, milliseconds)
      this.#underWay.delete(done)
    })
    this.#underWay.add(done)
    return answer
  }

  /** Resolves when every answer pending now has arrived or failed. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  /** Runs work that itself stops the node: its time is part of no latency. Not twice at once. */
  async aside<T>(run: () => Promise<T>): Promise<T> {
    const begun = performance.now()
    this.#stoppedAt = begun
    try {
      return await run()
    } finally {
      this.#stopped += performance.now() - begun
      this.#stoppedAt = undefined
    }
  }

  /** Milliseconds on a clock that stands still during {@link aside}. */
  #now(): number {
    return (this.#stoppedAt ?? performance.now()) - this.#stopped
  }

  /** Forgets all latencies and pending requests. */
  clear(): void {
    this.#kinds.clear()
    this.#cleared++
  }

  note(kind: string, milliseconds: number): void {
    const histogram = this.#kinds.get(kind) ?? createHistogram()
    this.#kinds.set(kind, histogram)
    histogram.record(Math.max(1, Math.round(milliseconds * 1000)))
  }

  /** Milliseconds within which 99 of 100 answers arrived, by kind. */
  summary(): readonly Latency[] {
    return [...this.#kinds].map(([kind, histogram]) => ({
      kind,
      count: histogram.count,
      median: histogram.percentile(50) / 1000,
      p99: histogram.percentile(99) / 1000,
      most: histogram.max / 1000,
    }))
  }
}

export interface Latency {
  readonly kind: string
  readonly count: number
  readonly median: number
  readonly p99: number
  readonly most: number
}

/** Milliseconds recorded for an answer that never arrived. */
const never = 3_600_000
