import fs from 'node:fs'
import { afterEach, expect, it, vi } from 'vitest'
import { processLog } from '../../../src/runtime/process-env.js'

afterEach(() => vi.restoreAllMocks())

it('the log of a process writes what is grave enough, and the level can be changed', () => {
  const lines: string[] = []
  vi.spyOn(fs, 'writeSync').mockImplementation((_, data: unknown) => {
    lines.push(String(data))
    return Buffer.byteLength(String(data))
  })
  const log = processLog('warn')
  const all = () => {
    lines.length = 0
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]({ a: 1 }, level)
    return lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
  }
  expect(all()).toEqual(['warn', 'error'])
  log.setLevel?.('debug')
  expect(all()).toEqual(['debug', 'info', 'warn', 'error'])
  log.setLevel?.('silent')
  expect(all()).toEqual([])
})
