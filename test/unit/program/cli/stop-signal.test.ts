import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { StoppedStart } from '../../../../src/node/open-ledger.js'
import { StoppableStart } from '../../../../src/program/cli/stop-signal.js'

let exits: unknown[]
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  exits = []
  vi.spyOn(process, 'exit').mockImplementation(((code?: number) => void exits.push(code)) as never)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const stopped = () => Promise.resolve('SIGTERM' as const)

it('ends a start that reaches no step within three seconds', async () => {
  const start = new StoppableStart(stopped())
  start.step({ closes: true })
  await vi.advanceTimersByTimeAsync(2_999)
  expect(exits).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(exits).toEqual([0])
})

it('waits until a start that was told at its step has closed its files', async () => {
  const start = new StoppableStart(stopped())
  start.step({ closes: true })
  await vi.advanceTimersByTimeAsync(2_900)
  expect(() => start.step({ closes: true })).toThrow(StoppedStart)
  let close = () => {}
  const closing = start.finish(new Promise((_, reject) => (close = () => reject(new StoppedStart()))))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(exits).toEqual([])
  close()
  await expect(closing).rejects.toThrow(StoppedStart)
  expect(exits).toEqual([0])
})

it('ends a start at once where a step closes nothing', async () => {
  const start = new StoppableStart(stopped())
  start.step({ closes: false })
  await vi.advanceTimersByTimeAsync(0)
  expect(exits).toEqual([0])
})
