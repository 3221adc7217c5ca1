import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { lineThroughDoor, type Pieces } from '../../../../src/program/console/door.js'
import { type NodeLogOptions, nodeLog } from '../../../../src/program/console/node-log.js'
import { systemTimers } from '../../../../src/base/runtime/process-env.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function open(options: Partial<NodeLogOptions> = {}) {
  const lines: string[] = []
  const state = { takes: true }
  const line = (text: Pieces) => {
    if (state.takes) lines.push(lineThroughDoor(text).trimEnd())
    return state.takes
  }
  const log = nodeLog({
    ...{ sink: { line }, format: 'text', level: 'warn', shown: ['calls'], colours: false },
    ...{ clock: { now: () => 0 }, timers: systemTimers },
    ...options,
  })
  return { log, lines, state, texts: () => lines.map((text) => text.slice('00:00:00 '.length)) }
}

describe('lines with levels', () => {
  it('are written from the level on, which can be changed', () => {
    const { log, texts } = open()
    const all = () => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]({}, level)
      return texts().splice(0).length
    }
    expect(all()).toBe(2)
    expect(log.level).toBe('warn')
    log.setLevel?.('silent')
    expect(all()).toBe(2)
    log.setLevel?.('debug')
    expect(all()).toBe(6)
    expect(log.level).toBe('debug')
  })

  it('are JSON as before on request', () => {
    const { log, lines } = open({ format: 'json' })
    log.warn({ a: 1 }, 'a warning')
    expect(JSON.parse(lines[0] ?? '')).toEqual({ level: 40, time: 0, a: 1, msg: 'a warning' })
  })
})

describe('the live log', () => {
  const line = { text: 'getblock  ok', fields: { call: 'getblock' } }

  it('shows what is chosen, whatever the level, and nothing else', () => {
    const { log, texts } = open({ level: 'silent' })
    expect([log.live.wants('calls'), log.live.wants('blocks')]).toEqual([true, false])
    log.live.write('calls', line)
    log.live.show(['blocks'])
    expect([log.live.wants('calls'), log.live.wants('blocks')]).toEqual([false, true])
    expect(texts()).toEqual(['call  getblock  ok'])
  })

  it('sums up what is too much', () => {
    const { log, texts } = open()
    for (let i = 0; i < 4250; i++) if (log.live.wants('calls', i > 4247)) log.live.write('calls', line)
    vi.advanceTimersByTime(1000)
    expect(texts()).toHaveLength(51)
    expect(texts().at(-1)).toBe('call  … 4,200 more calls, 2 of them failed')
    log.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('has its categories in JSON', () => {
    const { log, lines } = open({ format: 'json' })
    log.live.write('calls', { text: '\x9b31m', fields: { call: '\x9b31m' } })
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 30,
      time: 0,
      category: 'calls',
      call: '\x9b31m',
      msg: '\x9b31m',
    })
    expect(lines[0]).not.toMatch(/\p{Cc}/u)
  })
})

it('counts the lines that were dropped, and says so once there is room', () => {
  const { log, texts, state } = open()
  state.takes = false
  for (let i = 0; i < 7; i++) log.warn({}, 'lost')
  state.takes = true
  log.warn({}, 'kept')
  log.warn({}, 'kept')
  expect(texts()).toEqual([
    'warn  lines of the log are missing: what takes them was too slow, or full  lines=7',
    'warn  kept',
    'warn  kept',
  ])
})
