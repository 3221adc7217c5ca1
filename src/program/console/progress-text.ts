import type { SyncProgress } from '../../network/sync/sync-progress.js'
import { visible } from '../../base/runtime/visible-text.js'
import { cut } from './text-line.js'

const barWidth = 24
/** Characters of the reason of a wait. */
const longestReason = 200

/** `blocks [####----] 120 of 900, 34.5 blocks/s, 23 s left`. */
export function progressLine({ stage, height, target, rate, secondsLeft, reason }: SyncProgress): string {
  const parts = [
    ...paceOf(rate, 'blocks', secondsLeft),
    // It may hold what a peer said.
    ...(reason === undefined ? [] : [visible(cut(reason, longestReason))]),
  ]
  return [bar(stage, height, target), ...parts].join(', ')
}

export function bar(stage: string, done: number, total: number): string {
  const full = Math.floor((total === 0 ? 0 : Math.min(1, done / total)) * barWidth)
  return `${stage.padEnd(7)} [${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] ${done} of ${total}`
}

/** Rate and time left, as far as they are known. */
export function paceOf(rate: number, unit: string, secondsLeft: number | undefined): string[] {
  return [
    ...(rate > 0 ? [`${rate.toFixed(rate < 1000 ? 1 : 0)} ${unit}/s`] : []),
    ...(secondsLeft === undefined ? [] : [`${durationText(secondsLeft)} left`]),
  ]
}

export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 120) return `${whole} s`
  if (whole < 7200) return `${Math.round(whole / 60)} min`
  return `${Math.round(whole / 3600)} h`
}
