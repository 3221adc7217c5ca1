import { constants } from 'node:os'
import { StoppedStart } from '../../node/open-ledger.js'
import { stopSignals } from './interrupted.js'

/** Milliseconds within which a further signal is the same stop: npm, `timeout` and terminals send one to a whole group of processes. */
const sameStop = 500
const endOfInput = 'the end of standard input'
/** Milliseconds that a start has until its next step, where it ends by itself; a second signal ends it at once. */
const stepPatience = 3000

/**
 * Resolves at a stop signal. A later one ends the process at once: the next start continues from any state on disk. The end of
 * the terminal is one too, unless `onHangup` is false; with `onEof` the end of standard input.
 */
export function stopSignal({ onEof = false, onHangup = true } = {}): Promise<NodeJS.Signals | typeof endOfInput> {
  return new Promise((resolve) => {
    let stopping: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping !== undefined && performance.now() - stopping >= sameStop) process.exit(codeOf(signal))
      stopping ??= performance.now()
      resolve(signal)
    }
    for (const signal of stopSignals) process.on(signal, onSignal)
    if (onHangup) process.on('SIGHUP', onSignal)
    if (onEof) onInputEnd(process.stdin, () => resolve(endOfInput))
  })
}

/** Calls once nothing more comes from an input: a file, as /dev/null, ends and is not closed; what cannot be read has ended too. */
function onInputEnd(input: NodeJS.ReadStream, ended: () => void): void {
  for (const event of ['end', 'close', 'error']) input.on(event, ended)
  input.resume()
}

/** Exit code of a process that did not wait for its stop, as shells have it. */
function codeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/**
 * A start that a stop signal ends: at its next step, where it can close its files first, else at once. SIGTERM is how services are
 * stopped, and no failure.
 */
export class StoppableStart {
  /** Whether it has ended, or closes its files. */
  #isOver = false
  /** Whether the start is where a failure closes all of its files. */
  #closes = false
  #code: number | undefined

  constructor(stop: ReturnType<typeof stopSignal>) {
    void stop.then((reason) => {
      if (this.#isOver || reason === endOfInput) return
      const code = reason === 'SIGTERM' ? 0 : codeOf(reason)
      if (!this.#closes) process.exit(code)
      this.#code = code
      setTimeout(() => this.#isOver || process.exit(code), stepPatience).unref()
    })
  }

  /** Notes a step. Throws once the signal has come; the start has to close its files then. */
  step({ closes }: { readonly closes: boolean }): void {
    this.#closes = closes
    if (!closes || this.#code === undefined) return
    // Closing takes what it takes; a second signal ends it.
    this.#isOver = true
    throw new StoppedStart()
  }

  /** Waits for the start, and ends the process where a step has ended it. */
  async finish<T>(starting: Promise<T>): Promise<T> {
    try {
      return await starting
    } catch (error) {
      if (error instanceof StoppedStart) process.exit(this.#code)
      throw error
    } finally {
      this.#isOver = true
    }
  }
}
