import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import type { Env, Log, LogLevel, Timers } from './env.js'

/** Level of a log that is told none. */
export const defaultLogLevel: LogLevel = 'warn'

/** A log that writes one JSON line per entry to standard error. */
export function processLog(level: LogLevel = defaultLogLevel): Log {
  const log = pino({ level, base: null }, pino.destination({ dest: 2, sync: true }))
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    setLevel: (chosen) => {
      log.level = chosen
    },
  }
}

export const systemTimers: Timers = {
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}

/** The environment of a real process. */
export function systemEnv(log: Log): Env {
  return {
    clock: Date,
    random: { bytes: (length) => randomBytes(length) },
    timers: systemTimers,
    log,
  }
}
