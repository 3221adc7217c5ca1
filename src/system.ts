import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import type { Env, Log } from './env.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** A log of one JSON line an entry on standard error. */
export function processLog(level: LogLevel): Log {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }))
}

/** The world as a real process sees it. */
export function systemEnv(log: Log): Env {
  return {
    clock: Date,
    random: { bytes: (length) => randomBytes(length) },
    timers: {
      after: (milliseconds, callback) => {
        const timer = setTimeout(callback, milliseconds)
        return () => clearTimeout(timer)
      },
    },
    log,
  }
}
