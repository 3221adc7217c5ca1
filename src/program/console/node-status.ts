import type { SyncProgress } from '../../network/sync/sync-progress.js'
import type { Node } from '../../node/node.js'
import { defined } from '../../base/primitives/defined.js'
import type { Log, Timers } from '../../base/runtime/env.js'
import { repeat } from '../../base/runtime/repeat.js'
import type { Console } from './console.js'
import { barInterval, lineInterval } from './progress.js'
import { durationText, progressLine } from './progress-text.js'

export interface StatusOptions {
  readonly node: Pick<Node, 'sync' | 'standing' | 'network' | 'mempool'>
  readonly log: Pick<Log, 'warn' | 'live'>
  readonly timers: Timers
  /** The terminal; absent: no status line. */
  readonly terminal?: Console | undefined
  /** Whether catching up is a warning where the live log does not show it: programs that read JSON rely on that. */
  readonly warns: boolean
}

/**
 * Shows how far a node is, until the returned function ends that: a status line on a terminal; while catching up, a line of the
 * live log every ten seconds where there is no terminal, and one at the end.
 */
export function showStatus({ node, log, timers, terminal, warns }: StatusOptions): () => void {
  const { live } = log
  let behind = false
  const sayBehind = (now: SyncProgress) => {
    if (live?.shown.has('sync') === true) {
      if (live.wants('sync')) live.write('sync', { text: syncText(now), fields: fieldsOf(now) })
    } else if (warns) log.warn(fieldsOf(now), 'the node is catching up')
  }
  const sayCaughtUp = (now: SyncProgress) => {
    if (live?.wants('sync') !== true) return
    live.write('sync', { text: `caught up at height ${now.height}`, fields: { stage: now.stage, height: now.height } })
  }
  const ends = [
    repeat({ timers }, lineInterval, () => {
      const now = node.sync()
      const wasBehind = behind
      // That no peer has more is no news of the chain: the peers may have left.
      behind = isBehind(now) || (wasBehind && !node.standing().inStep)
      if (isBehind(now)) sayBehind(now)
      else if (wasBehind && !behind) sayCaughtUp(now)
    }),
    ...(terminal === undefined ? [] : [repeat({ timers }, barInterval, () => terminal.status(statusText(node)))]),
  ]
  return () => {
    for (const end of ends) end()
    terminal?.status('')
  }
}

/** `height 12, 3 peers, 2 in the pool`, or how far the sync is. */
export function statusText({ sync, network, mempool }: Omit<StatusOptions['node'], 'standing'>): string {
  const now = sync()
  if (isBehind(now)) return progressLine(now)
  const peers = network?.network.peers.neighbors().length
  return [
    `height ${now.height}`,
    ...(peers === undefined ? [] : [`${peers} ${peers === 1 ? 'peer' : 'peers'}`]),
    `${mempool.size} in the pool`,
  ].join(', ')
}

/** Whether to show progress: not for the single new block that every node fetches now and then. */
export function isBehind({ catchingUp, stage, height, target }: SyncProgress): boolean {
  return catchingUp || stage === 'waiting' || (stage !== 'idle' && target > height + 1)
}

/** `catching up: blocks 120 of 900, 34.5 blocks/s, 23 s left`. */
function syncText({ stage, height, target, rate, secondsLeft, reason }: SyncProgress): string {
  return [
    `catching up: ${stage} ${height} of ${target}`,
    ...(rate > 0 ? [`${rate.toFixed(1)} blocks/s`] : []),
    ...(secondsLeft === undefined ? [] : [`${durationText(secondsLeft)} left`]),
    ...(reason === undefined ? [] : [reason]),
  ].join(', ')
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
