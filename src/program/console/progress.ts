import { Rate } from '../../network/sync/sync-progress.js'
import type { Console } from './console.js'
import { bar, paceOf } from './progress-text.js'

/** One moment of long work. */
export interface Step {
  /** Name of the part that is under way: `blocks`. */
  readonly stage: string
  /** Counted things: `blocks`, `rows`. */
  readonly unit: string
  readonly done: number
  /** Absent: unknown. */
  readonly total?: number
}

/** Milliseconds between two updates on a terminal, and between two lines elsewhere. */
export const barInterval = 500
export const lineInterval = 10_000
const sampleInterval = 1_000

/** Shows the progress of work that lasts: the status line of a terminal, elsewhere a line every ten seconds. */
export class Progress<S extends Step = Step> {
  readonly #console: Console | undefined
  readonly #say: (step: S, text: string) => void
  readonly #interval: number
  readonly #rate = new Rate()
  #stage = ''
  #last = performance.now()
  #sampled = -Infinity

  /** `say` writes without a terminal: a plain line by default, and nothing without a console. */
  constructor(console: Console | undefined, say?: (step: S, text: string) => void) {
    this.#console = console
    this.#say = say ?? ((_, text) => void console?.line(text))
    this.#interval = console?.isTerminal === true ? barInterval : lineInterval
  }

  /** Takes a step; cheap, whatever their number. */
  show(step: S): void {
    const now = performance.now()
    if (step.stage !== this.#stage) {
      this.#stage = step.stage
      this.#rate.clear()
      this.#sampled = -Infinity
    }
    if (now - this.#sampled >= sampleInterval) {
      this.#rate.add(now, step.done)
      this.#sampled = now
    }
    if (now - this.#last < this.#interval) return
    this.#last = now
    const text = stepLine(step, this.#rate.perSecond)
    if (this.#console?.isTerminal === true) this.#console.status(text)
    else this.#say(step, text)
  }

  end(): void {
    this.#console?.status('')
  }
}

/** `blocks  [####----] 120 of 900, 34.5 blocks/s, 23 s left`. */
export function stepLine({ stage, unit, done, total }: Step, rate: number): string {
  const left = total === undefined || rate === 0 || done > total ? undefined : (total - done) / rate
  const begin = total === undefined ? `${stage.padEnd(7)} ${done} ${unit}` : bar(stage, done, total)
  return [begin, ...paceOf(rate, unit, left)].join(', ')
}
