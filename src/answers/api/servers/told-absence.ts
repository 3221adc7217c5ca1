import type { Log } from '../../../base/runtime/env.js'

/** Logs that what answers from afar is away, once, and that it is back. Requests that fail meanwhile have no lines. */
export class ToldAbsence {
  readonly #log: Pick<Log, 'warn'>
  readonly #back: string
  #why: string | undefined

  /** `back`: words for its end. */
  constructor(log: Pick<Log, 'warn'>, back: string) {
    this.#log = log
    this.#back = back
  }

  /** A request failed. Another `kind` of failure is told anew; the fields are those of the line. */
  failed(kind: string, fields: Readonly<Record<string, unknown>>, text: string): void {
    if (this.#why !== kind) this.#log.warn(fields, text)
    this.#why = kind
  }

  /** A request was answered. */
  answered(): void {
    if (this.#why !== undefined) this.#log.warn({}, this.#back)
    this.#why = undefined
  }
}
