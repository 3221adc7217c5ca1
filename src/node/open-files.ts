import { close, open } from 'node:fs'
import { devNull } from 'node:os'
import type { Env } from '../base/runtime/env.js'

/** Milliseconds between two looks, and between two warnings at least. */
const lookInterval = 5_000
const warnInterval = 600_000

/** Whether the process may open one more file. */
type Probe = (found: (canOpen: boolean) => void) => void

/**
 * Warns when no file descriptor is left: the system then closes new connections without a notice to any server. The returned function ends
 * it.
 */
export function watchOpenFiles({ timers, log }: Pick<Env, 'timers' | 'log'>, probe: Probe = probeDevice): () => void {
  let looks = warnInterval / lookInterval
  let cancel = timers.after(lookInterval, look)
  let ended = false
  function look(): void {
    looks++
    probe((canOpen) => {
      if (ended) return
      if (!canOpen && looks > warnInterval / lookInterval) {
        looks = 0
        log.warn(
          {},
          'no file descriptor is left, so that connections are closed as they come: raise the limit (ulimit -n)',
        )
      }
      cancel = timers.after(lookInterval, look)
    })
  }
  return () => {
    ended = true
    cancel()
  }
}

function probeDevice(found: (canOpen: boolean) => void): void {
  open(devNull, (error, file) => {
    if (error !== null) return found(error.code !== 'EMFILE' && error.code !== 'ENFILE')
    close(file, () => found(true))
  })
}
