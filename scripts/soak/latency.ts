import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

/** How long answers took, by the kind of question. One that did not come, or refused an honest question, took the longest time there is. */
export class Latencies {
  readonly #kinds = new Map<string, RecordableHistogram>()
  /** How often {@link aside} began or ended: an odd number while it is under way. */
  #breaks = 0

  /** Waits for an answer and notes how long it took. */
  async of<T>(kind: string, answer: Promise<T>): Promise<T> {
    const [start, breaks] = [performance.now(), this.#breaks]
    const end = (milliseconds: number) => {
      if (breaks === this.#breaks && breaks % 2 === 0) this.note(kind, milliseconds)
    }
    try {
      const value = await answer
      end(performance.now() - start)
      return value
    } catch (error) {
      end(never)
      throw error
    }
  }

  /** Runs what itself holds up the one that is asked: answers under way meanwhile are not noted. */
  async aside<T>(run: () => Promise<T>): Promise<T> {
    this.#breaks++
    try {
      return await run()
    } finally {
      this.#breaks++
    }
  }

  /** Forgets all that was noted. */
  clear(): void {
    this.#kinds.clear()
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
