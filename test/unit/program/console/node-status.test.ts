import { beforeEach, describe, expect, it } from 'vitest'
import type { Channel } from '../../../../src/program/console/output-channel.js'
import { Console } from '../../../../src/program/console/console.js'
import { showStatus, type StatusOptions, statusText } from '../../../../src/program/console/node-status.js'
import { progressLine } from '../../../../src/program/console/progress-text.js'
import type { SyncProgress } from '../../../../src/network/sync/sync-progress.js'
import {
  type LiveCategory,
  liveCategories,
  type LiveLine,
  type LiveLog,
} from '../../../../src/base/runtime/live-log.js'
import { inStep, pausing } from '../../../support/fakes/standing.js'
import type { Standing } from '../../../../src/answers/resolver/standing.js'

const idle: SyncProgress = { stage: 'idle', catchingUp: false, height: 900, target: 900, rate: 0 }
const blocks: SyncProgress = {
  stage: 'blocks',
  catchingUp: true,
  height: 120,
  target: 900,
  rate: 34.52,
  secondsLeft: 22.6,
}

let printed = ''
let logged: unknown[] = []
let shown: (readonly [LiveCategory, LiveLine])[] = []
let timers: { milliseconds: number; callback: () => void }[] = []
let progress = idle

beforeEach(() => {
  printed = ''
  logged = []
  shown = []
  timers = []
  progress = idle
  standing = inStep(900)
})

let standing: Standing = inStep(900)
const node = {
  sync: () => progress,
  standing: () => standing,
  network: undefined,
  mempool: { size: 2 },
} as unknown as StatusOptions['node']

function show(options: { columns?: number; live?: readonly LiveCategory[]; warns?: boolean }): () => void {
  const { columns, live: categories = [], warns = true } = options
  const live: LiveLog = {
    shown: new Set(categories),
    show: () => {},
    wants: (category) => categories.includes(category),
    write: (category, line) => void shown.push([category, line]),
  }
  const after = (milliseconds: number, callback: () => void) => {
    const timer = { milliseconds, callback }
    timers.push(timer)
    return () => void (timers = timers.filter((one) => one !== timer))
  }
  const channel: Channel = {
    columns,
    write: (text) => {
      printed += text
      return true
    },
    close: () => {},
  }
  const log = { live, warn: (fields: unknown) => void logged.push(fields) }
  const terminal = columns === undefined ? undefined : new Console(channel)
  return showStatus({ node, log, timers: { after }, terminal, warns })
}

/** Lets the timers of that many milliseconds fire once. */
function tick(milliseconds: number): void {
  const due = timers.filter((timer) => timer.milliseconds === milliseconds)
  timers = timers.filter((timer) => !due.includes(timer))
  for (const { callback } of due) callback()
}

describe('on a terminal', () => {
  it('is one line that is written again only when it changes, and gone at the end', () => {
    const end = show({ columns: 80 })
    tick(500)
    expect(printed).toBe('\r\x1b[Kheight 900, 2 in the pool')
    printed = ''
    tick(500)
    expect(printed).toBe('')
    progress = blocks
    tick(500)
    expect(printed).toBe(`\r\x1b[K${progressLine(blocks).slice(0, 79)}`)
    printed = ''
    end()
    expect(printed).toBe('\r\x1b[K')
    expect(timers).toEqual([])
  })

  it.each(['headers', 'blocks', 'waiting'] as const)('tells of the stage %s, caught up or not', (stage) => {
    progress = { ...blocks, stage, catchingUp: false }
    expect(statusText(node)).toBe(progressLine(progress))
  })

  it.each(['headers', 'blocks'] as const)('tells nothing of one new block at the stage %s', (stage) => {
    progress = { ...blocks, stage, catchingUp: false, height: 899 }
    expect(statusText(node)).toBe('height 899, 2 in the pool')
  })

  it('never takes a second line', () => {
    progress = { ...blocks, reason: 'x'.repeat(100) }
    const end = show({ columns: 40 })
    tick(500)
    expect(printed).toHaveLength(4 + 39)
    end()
  })

  it('shows no control character of a reason that a peer gave', () => {
    progress = { ...blocks, reason: '\x1b[2J\u202e' }
    expect(statusText(node)).toContain('\\u001b[2J\\u202e')
  })

  it('counts peers', () => {
    const network = { network: { peers: { neighbors: () => [{}] } } }
    expect(statusText({ ...node, network } as unknown as typeof node)).toBe('height 900, 1 peer, 2 in the pool')
  })
})

describe('a line every ten seconds while the node catches up', () => {
  const fields = { stage: 'blocks', height: 120, target: 900, blocksPerSecond: 34.5, secondsLeft: 23 }

  it('is of the live log, and one more tells when it has caught up', () => {
    show({ live: liveCategories })
    progress = blocks
    tick(10_000)
    progress = idle
    tick(10_000)
    tick(10_000)
    expect(shown).toEqual([
      ['sync', { text: 'catching up: blocks 120 of 900, 34.5 blocks/s, 23 s left', fields }],
      ['sync', { text: 'caught up at height 900', fields: { stage: 'idle', height: 900 } }],
    ])
    expect(logged).toEqual([])
  })

  it('does not tell that it has caught up where it cannot know it', () => {
    show({ live: liveCategories })
    progress = blocks
    tick(10_000)
    progress = idle
    standing = pausing(900)
    tick(10_000)
    tick(10_000)
    expect(shown).toHaveLength(1)
    standing = inStep(900)
    tick(10_000)
    tick(10_000)
    expect(shown.map(([, { text }]) => text).slice(1)).toEqual(['caught up at height 900'])
  })

  it('is a warning for programs where the live log does not show it', () => {
    show({})
    progress = { ...blocks, reason: 'no peer has block 121' }
    tick(10_000)
    expect(logged).toEqual([{ ...fields, reason: 'no peer has block 121' }])
    expect(shown).toEqual([])
  })

  it('is none where neither is wanted', () => {
    show({ warns: false })
    progress = blocks
    tick(10_000)
    expect([logged, shown, printed]).toEqual([[], [], ''])
  })
})
