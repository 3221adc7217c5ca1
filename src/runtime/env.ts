/** The environment of the node. A program or a test passes it in; a simulator can control all of it. */

/** Milliseconds since the Unix epoch. */
export interface Clock {
  now(): number
}

export interface Random {
  /** `length` unpredictable bytes. */
  bytes(length: number): Uint8Array
}

export interface Timers {
  /** Calls back once after `milliseconds`; the returned function cancels. */
  after(milliseconds: number, callback: () => void): () => void
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface Log {
  debug(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
  /** Sets the least level that is written from now on; absent if it cannot be chosen. */
  setLevel?(level: LogLevel): void
}

export interface Env {
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  readonly log: Log
}
