import { randomBytes } from 'node:crypto'
import type { Clock, Env, Log, LogLevel, Timers } from './env.js'

/** Default level of a log. */
export const defaultLogLevel: LogLevel = 'warn'

/** A log that keeps nothing. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export const systemTimers: Timers = {
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}

/** The time of this process, which is never set and may stand still while the machine sleeps. */
export const processTime: Clock = { now: () => performance.now() }

/** The environment of a real process. */
export function systemEnv(log: Log): Env {
  return {
    clock: Date,
    random: { bytes: (length) => randomBytes(length) },
    timers: systemTimers,
    log,
  }
}
