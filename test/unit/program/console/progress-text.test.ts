import { describe, expect, it } from 'vitest'
import { progressLine } from '../../../../src/program/console/progress-text.js'
import type { SyncProgress } from '../../../../src/network/sync/sync-progress.js'

const blocks: SyncProgress = {
  stage: 'blocks',
  catchingUp: true,
  height: 120,
  target: 900,
  rate: 34.52,
  secondsLeft: 22.6,
}
const idle: SyncProgress = { stage: 'idle', catchingUp: false, height: 900, target: 900, rate: 0 }

describe('the line', () => {
  it.each<[SyncProgress, string]>([
    [blocks, 'blocks  [###---------------------] 120 of 900, 34.5 blocks/s, 23 s left'],
    [{ ...blocks, secondsLeft: 600 }, 'blocks  [###---------------------] 120 of 900, 34.5 blocks/s, 10 min left'],
    [{ ...blocks, secondsLeft: 36_000 }, 'blocks  [###---------------------] 120 of 900, 34.5 blocks/s, 10 h left'],
    [
      { stage: 'headers', catchingUp: true, height: 0, target: 0, rate: 0, reason: 'no peers' },
      'headers [------------------------] 0 of 0, no peers',
    ],
    [{ ...idle, height: 901 }, 'idle    [########################] 901 of 900'],
  ])('tells %j', (now, line) => expect(progressLine(now)).toBe(line))
})
