import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

/** How long answers took, by the kind of question. One that did not come, or refused an honest question, took the longest time there is. */
export class Latencies {
  readonly #kinds = new Map<string, RecordableHistogram>()
  /** Milliseconds that {@link aside} took so far, and when it began where it is under way. */
  #stopped = 0
  #stoppedAt: number | undefined
  /** Answers that are waited for. */
  readonly #underWay = new Set<Promise<void>>()
  #cleared = 0

  /** Waits for an answer and notes how long it took. */
  async of<T>(kind: string, answer: Promise<T>): Promise<T> {
    const [start, cleared] = [this.#now(), this.#cleared]
    const noted = answer.then(
      () => this.#now() - start,
      () => never,
    )
    const done = noted.then((milliseconds) => {
      // One that was asked before counts with what was forgotten.
      if (cleared === this.#cleared) this.note(kind, milliseconds)
      this.#underWay.delete(done)
    })
    this.#underWay.add(done)
    return answer
  }

  /** Resolves when every answer that is waited for now has come, or will not. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  /** Runs what itself holds up the one that is asked: its time is no part of any answer's. Not twice at once. */
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

  /** Forgets all that was noted or asked. */
  clear(): void {
    this.#kinds.clear()
    this.#cleared++
  }

  note(kind: string, milliseconds: number): void {
    const histogram = this.#kinds.get(kind) ?? createHistogram()
    this.#kinds.set(kind, histogram)
    histogram.record(Math.max(1, Math.round(milliseconds * 1000)))
  }

  /** Milliseconds within which 99 of 100 answers came, by kind. */
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

/** Milliseconds for an answer that never came. */
const never = 3_600_000
