import { createHash, type Hash as Digest } from 'node:crypto'

/** What happened, in order. Two runs of one seed must have the same digest. */
export class Trace {
  readonly #digest: Digest = createHash('sha256')
  readonly #start: number
  readonly #now: () => number
  readonly #print: ((line: string) => void) | undefined

  /** `print` is handed every line, with the seconds since the start. */
  constructor(now: () => number, print?: (line: string) => void) {
    this.#now = now
    this.#start = now()
    this.#print = print
  }

  /** Of several lines the first counts: below it are stack traces, which change with every file that moves. */
  add(line: string): void {
    const entry = `${((this.#now() - this.#start) / 1000).toFixed(3)} ${line}`
    this.#digest.update(entry.split('\n')[0] as string).update('\n')
    this.#print?.(entry)
  }

  /** Hex; the trace ends with this. */
  finish(): string {
    return this.#digest.digest('hex')
  }
}
