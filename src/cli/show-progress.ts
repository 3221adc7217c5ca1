import type { SyncProgress } from '../network/sync/sync-progress.js'
import { defined } from '../primitives/defined.js'
import type { Log, Timers } from '../runtime/env.js'
import type { MigrationProgress } from '../storage/migrate-layout.js'
import type { CliContext } from './cli-context.js'

/** Milliseconds between two updates of the terminal's progress bar, and between two progress lines of a log. */
const barInterval = 500
const logInterval = 10_000
const barWidth = 24

/**
 * Shows sync progress while there is some: a bar in one line of the terminal, or a log line every ten seconds. The returned
 * function ends that.
 */
export function showProgress(
  context: Pick<CliContext, 'columns' | 'err'>,
  { log, timers }: { readonly log: Log; readonly timers: Timers },
  progress: () => SyncProgress,
): () => void {
  let shown = false
  const clear = () => {
    if (shown) context.err('\r\x1b[K')
    shown = false
  }
  const tick = () => {
    const now = progress()
    const columns = context.columns?.('err')
    if (isBehind(now)) {
      if (columns === undefined) log.warn(fieldsOf(now), 'the node is catching up')
      else context.err(`\r${progressLine(now).slice(0, columns - 1)}\x1b[K`)
      shown = columns !== undefined
    } else {
      clear()
    }
    cancel = timers.after(columns === undefined ? logInterval : barInterval, tick)
  }
  let cancel = timers.after(context.columns?.('err') === undefined ? logInterval : barInterval, tick)
  return () => {
    cancel()
    clear()
  }
}

/** Shows the progress of a change of the database's layout in the same way, until `end`. */
export function showMigration(
  context: Pick<CliContext, 'columns' | 'err'>,
  { log }: { readonly log: Log },
): { show: (progress: MigrationProgress) => void; end: () => void } {
  let last = performance.now()
  let shown = false
  return {
    show: ({ done, total }) => {
      const columns = context.columns?.('err')
      const now = performance.now()
      if (now - last < (columns === undefined ? logInterval : barInterval)) return
      last = now
      if (columns === undefined) log.warn({ done, total }, 'the layout of the database is being changed')
      else context.err(`\r${bar('layout', done, total)} DIDs`.slice(0, columns))
      shown = columns !== undefined
    },
    end: () => {
      if (shown) context.err('\r\x1b[K')
    },
  }
}

/** Shows how far a backup is, in megabytes: a bar on the terminal, else a line every ten seconds, until `end`. */
export function showBackup(context: Pick<CliContext, 'columns' | 'err'>): {
  show: (done: number, total: number) => void
  end: () => void
} {
  let last = performance.now()
  let shown = false
  return {
    show: (done, total) => {
      const columns = context.columns?.('err')
      const now = performance.now()
      if (now - last < (columns === undefined ? logInterval : barInterval)) return
      last = now
      const [part, all] = [done, Math.max(done, total)].map((bytes) => Math.ceil(bytes / 1e6)) as [number, number]
      if (columns === undefined) context.err(`backup: ${part} of about ${all} MB\n`)
      else context.err(`\r${bar('backup', part, all)} MB`.slice(0, columns))
      shown = columns !== undefined
    },
    end: () => {
      if (shown) context.err('\r\x1b[K')
      shown = false
    },
  }
}

/** Whether to show progress: not for the single new block that every node fetches now and then. */
function isBehind({ catchingUp, stage, height, target }: SyncProgress): boolean {
  return catchingUp || stage === 'waiting' || (stage !== 'idle' && target > height + 1)
}

function fieldsOf({ stage, height, target, rate, secondsLeft, reason }: SyncProgress): Record<string, unknown> {
  return {
    stage,
    height,
    target,
    blocksPerSecond: Math.round(rate * 10) / 10,
    ...(secondsLeft === undefined ? {} : { secondsLeft: Math.ceil(secondsLeft) }),
    ...defined({ reason }),
  }
}

/** `blocks [####----] 120 of 900, 34.5 blocks/s, 23 s left`. */
export function progressLine({ stage, height, target, rate, secondsLeft, reason }: SyncProgress): string {
  const parts = [
    ...(rate > 0 ? [`${rate.toFixed(1)} blocks/s`] : []),
    ...(secondsLeft === undefined ? [] : [`${durationText(secondsLeft)} left`]),
    ...(reason === undefined ? [] : [reason]),
  ]
  return [bar(stage, height, target), ...parts].join(', ')
}

function bar(stage: string, done: number, total: number): string {
  const full = Math.floor((total === 0 ? 0 : Math.min(1, done / total)) * barWidth)
  return `${stage.padEnd(7)} [${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] ${done} of ${total}`
}

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 120) return `${whole} s`
  if (whole < 7200) return `${Math.round(whole / 60)} min`
  return `${Math.round(whole / 3600)} h`
}
