import { randomBytes } from 'node:crypto'
import { runCommand } from '../../../src/program/cli/cli-program.js'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A command in this process, whose output can be read while it runs. */
export class LiveCommand {
  out = ''
  err = ''
  readonly code: Promise<number>
  readonly #signals = new OwnSignals()

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.code = runCommand(args, {
      clock: Date,
      random: { bytes: (length) => randomBytes(length) },
      env,
      out: (text) => void (this.out += text),
      err: (text) => void (this.err += text),
      prompt: undefined,
    })
  }

  /** Tells it, and nothing else in this process, to stop. */
  stop(): void {
    this.#signals.stop()
  }
}

/** Signal listeners that commands of this process add from now on. */
export class OwnSignals {
  readonly #before = signals.map((signal) => process.listeners(signal))

  /** Tells them to stop. */
  stop(): void {
    for (const listener of this.#taken('SIGTERM')) listener('SIGTERM')
    this.forget()
  }

  /** Takes their listeners away: a process has few commands, tests have many. */
  forget(): void {
    for (const signal of signals) for (const listener of this.#taken(signal)) process.off(signal, listener)
  }

  #taken(signal: (typeof signals)[number]): NodeJS.SignalsListener[] {
    const before = this.#before[signals.indexOf(signal)] ?? []
    return process.listeners(signal).filter((listener) => !before.includes(listener))
  }
}
