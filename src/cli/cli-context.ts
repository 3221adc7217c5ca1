import { randomBytes } from 'node:crypto'
import { type Channel, standardError } from '../console/channel.js'
import type { Clock, Random } from '../runtime/env.js'
import { promptHidden } from './prompt.js'

/** The environment of the commands; tests pass their own. */
export interface CliContext {
  readonly clock: Clock
  readonly random: Random
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes to standard output. */
  out(text: string): void
  /** Writes to standard error. */
  err(text: string): void
  /** Width of the terminal behind standard output or standard error; undefined if it is not a terminal. */
  readonly columns?: (stream: 'out' | 'err') => number | undefined
  /** Opens standard error for lines that wait for no reader; absent: {@link err} takes them. */
  readonly errors?: () => Channel
  /** Prompts on the terminal without echo; undefined without a terminal. */
  readonly prompt: ((question: string) => Promise<string>) | undefined
}

/** The context of a real process. */
export function processContext(): CliContext {
  return {
    clock: Date,
    random: { bytes: (length) => randomBytes(length) },
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    columns: (stream) => (stream === 'out' ? process.stdout : process.stderr).columns,
    errors: standardError,
    prompt: process.stdin.isTTY ? promptHidden : undefined,
  }
}

/** Standard error of a context, for lines. */
export function errorChannel({ errors, err, columns }: Pick<CliContext, 'errors' | 'err' | 'columns'>): Channel {
  return (
    errors?.() ?? {
      write: (text) => {
        err(text)
        return true
      },
      get columns() {
        return columns?.('err')
      },
      close: () => {},
    }
  )
}
