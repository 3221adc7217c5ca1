import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { progressLine, showMigration, showProgress } from '../../../src/cli/show-progress.js'
import type { SyncProgress } from '../../../src/network/sync/sync-progress.js'

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
let timers: { milliseconds: number; callback: () => void }[] = []
let progress = idle

beforeEach(() => {
  printed = ''
  logged = []
  timers = []
  progress = idle
})

function show(columns: number | undefined): () => void {
  const nothing = () => {}
  const log = { debug: nothing, info: nothing, warn: (fields: unknown) => void logged.push(fields), error: nothing }
  const after = (milliseconds: number, callback: () => void) => {
    const timer = { milliseconds, callback }
    timers.push(timer)
    return () => void (timers = timers.filter((one) => one !== timer))
  }
  const context = { columns: () => columns, err: (text: string) => void (printed += text) }
  return showProgress(context, { log, timers: { after } }, () => progress)
}

function tick(): void {
  timers.shift()?.callback()
}

describe('on a terminal', () => {
  it('is one line that is written again, and gone when all is known', () => {
    const end = show(80)
    tick()
    expect(printed).toBe('')
    progress = blocks
    tick()
    expect(printed).toBe(`\r${progressLine(blocks)}\x1b[K`)
    printed = ''
    progress = idle
    tick()
    tick()
    expect(printed).toBe('\r\x1b[K')
    expect(logged).toEqual([])
    end()
    expect(timers).toEqual([])
  })

  it.each(['headers', 'blocks', 'waiting'] as const)('is shown at the stage %s, caught up or not', (stage) => {
    progress = { ...blocks, stage, catchingUp: false }
    const end = show(80)
    tick()
    expect(printed).toBe(`\r${progressLine(progress)}\x1b[K`)
    end()
  })

  it.each(['headers', 'blocks'] as const)('is not shown for one new block at the stage %s', (stage) => {
    progress = { ...blocks, stage, catchingUp: false, height: 899 }
    const end = show(80)
    tick()
    expect(printed).toBe('')
    progress = { ...progress, catchingUp: true }
    tick()
    expect(printed).toBe(`\r${progressLine(progress)}\x1b[K`)
    end()
  })

  it('never takes a second line, and leaves none behind', () => {
    progress = { ...blocks, reason: 'x'.repeat(100) }
    const end = show(40)
    tick()
    expect(printed).toHaveLength(1 + 39 + 3)
    end()
    expect(printed.endsWith('\r\x1b[K')).toBe(true)
  })
})

describe('elsewhere', () => {
  it('is a line of the log every ten seconds', () => {
    progress = { ...blocks, stage: 'headers', catchingUp: false, height: 0 }
    show(undefined)
    expect(timers.map(({ milliseconds }) => milliseconds)).toEqual([10_000])
    tick()
    progress = blocks
    tick()
    progress = { ...blocks, stage: 'waiting', rate: 0, reason: 'no peer has block 121' }
    tick()
    progress = idle
    tick()
    expect(logged).toEqual([
      { stage: 'headers', height: 0, target: 900, blocksPerSecond: 34.5, secondsLeft: 23 },
      { stage: 'blocks', height: 120, target: 900, blocksPerSecond: 34.5, secondsLeft: 23 },
      {
        stage: 'waiting',
        height: 120,
        target: 900,
        blocksPerSecond: 0,
        secondsLeft: 23,
        reason: 'no peer has block 121',
      },
    ])
    expect(printed).toBe('')
  })
})

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

describe('a change of the layout', () => {
  afterEach(() => vi.restoreAllMocks())

  function showing(columns: number | undefined) {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const nothing = () => {}
    const log = { debug: nothing, info: nothing, warn: (fields: unknown) => void logged.push(fields), error: nothing }
    const migration = showMigration({ columns: () => columns, err: (text) => void (printed += text) }, { log })
    return { ...migration, wait: (milliseconds: number) => (now += milliseconds) }
  }

  it('is a line on a terminal, which goes at the end', () => {
    const { show, end, wait } = showing(80)
    show({ done: 0, total: 900 })
    expect(printed).toBe('')
    wait(500)
    show({ done: 450, total: 900 })
    expect(printed).toBe(`\rlayout  [${'#'.repeat(12)}${'-'.repeat(12)}] 450 of 900 DIDs`)
    end()
    expect(printed).toMatch(/DIDs\r\x1b\[K$/)
  })

  it('is a line of the log every ten seconds elsewhere', () => {
    const { show, end, wait } = showing(undefined)
    for (let done = 0; done < 900; done += 100) {
      show({ done, total: 900 })
      wait(3000)
    }
    end()
    expect(logged).toEqual([
      { done: 400, total: 900 },
      { done: 800, total: 900 },
    ])
    expect(printed).toBe('')
  })
})
