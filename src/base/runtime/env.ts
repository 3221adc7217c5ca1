import type { LiveLog } from './live-log.js'

/** The environment of the node. A program or a test passes it in; a simulator can control all of it. */

/** Milliseconds since the Unix epoch. */
export interface Clock {
  now(): number
}

export interface Random {
  /** `length` unpredictable bytes. */
  bytes(length: number): Uint8Array
  /** Whether it gives the same bytes in every run, for generated pages: signatures have to be the same then, too. Absent: no. */
  readonly repeats?: boolean
}

export interface Timers {
  /** Calls back once after `milliseconds`; the returned function cancels. */
  after(milliseconds: number, callback: () => void): () => void
}

/** Levels of a log, the least grave first; `silent` lets nothing through. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export interface Log {
  debug(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
  /** The least level that is written; absent if the log does not report it. */
  readonly level?: LogLevel
  /** Sets the least level that is written from now on; absent if it cannot be chosen. */
  setLevel?(level: LogLevel): void
  /** The live log; absent where nothing shows it. */
  readonly live?: LiveLog
}

export interface Env {
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  readonly log: Log
}
