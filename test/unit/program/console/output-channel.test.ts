import { PassThrough, Writable } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { throughDoor } from '../../../../src/program/console/door.js'
import { StreamChannel, TerminalChannel, widthOf } from '../../../../src/program/console/output-channel.js'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => vi.useRealTimers())

function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** A terminal that takes so many bytes at a time, and none where it is stopped. */
function terminal() {
  const state = { room: Infinity, text: '', error: undefined as Error | undefined }
  const write = (_: number, bytes: Uint8Array) => {
    if (state.error !== undefined) throw state.error
    if (state.room === 0) throw failure('EAGAIN')
    const taken = bytes.subarray(0, Math.min(state.room, bytes.length))
    state.text += Buffer.from(taken).toString()
    state.room -= taken.length
    return taken.length
  }
  return { state, channel: new TerminalChannel(0, () => 100, write) }
}

it('writes at once to a terminal that takes it', () => {
  const { state, channel } = terminal()
  expect(channel.write(throughDoor('one\n'))).toBe(true)
  expect(state.text).toBe('one\n')
  expect(channel.columns).toBe(100)
})

it('takes a terminal that does not say its width for one of 80 columns', () => {
  expect(new TerminalChannel(0, () => 0).columns).toBe(80)
})

it.each([
  [{ isTTY: true, columns: 120 }, 120],
  [{ isTTY: true, columns: 0 }, 80],
  [{ isTTY: false, columns: 0 }, undefined],
])('the width of a stream %j is %s', (stream, width) => {
  expect(widthOf(stream)).toBe(width)
})

it('continues in the middle of a line when the terminal takes more', () => {
  const { state, channel } = terminal()
  state.room = 2
  channel.write(throughDoor('one\n'))
  channel.write(throughDoor('two\n'))
  expect(state.text).toBe('on')
  state.room = Infinity
  vi.advanceTimersByTime(20)
  expect(state.text).toBe('one\ntwo\n')
})

it('holds a bounded number of bytes for a stopped terminal, and refuses the rest without waiting', () => {
  const { state, channel } = terminal()
  state.room = 0
  let taken = 0
  for (let i = 0; i < 10_000; i++) if (channel.write(throughDoor(`${'x'.repeat(99)}\n`))) taken++
  expect(taken * 100).toBeLessThanOrEqual(64 * 1024 + 100)
  state.room = Infinity
  vi.advanceTimersByTime(20)
  expect(state.text).toHaveLength(taken * 100)
  expect(channel.write(throughDoor('again\n'))).toBe(true)
})

it('writes to no terminal that is closed, and does not fail', () => {
  const { state, channel } = terminal()
  state.error = failure('EIO')
  expect(channel.write(throughDoor('one\n'))).toBe(true)
  expect(channel.write(throughDoor('two\n'))).toBe(true)
  channel.close()
})

it('gives a terminal a moment at the end, and no more', () => {
  const { state, channel } = terminal()
  state.room = 0
  channel.write(throughDoor('one\n'))
  const began = performance.now()
  channel.close()
  expect(performance.now() - began).toBeGreaterThan(150)
  expect(state.text).toBe('')
})

it('refuses what a pipe without a reader cannot take', () => {
  const stream = new Writable({ write: () => {} })
  const channel = new StreamChannel(stream as unknown as NodeJS.WriteStream)
  let taken = 0
  for (let i = 0; i < 10_000; i++) if (channel.write(throughDoor('x'.repeat(100)))) taken++
  expect(taken).toBeGreaterThan(600)
  expect(stream.writableLength).toBeLessThanOrEqual(64 * 1024 + 100)
})

it('survives a reader that has gone', () => {
  const stream = new PassThrough()
  const channel = new StreamChannel(stream as unknown as NodeJS.WriteStream)
  stream.emit('error', failure('EPIPE'))
  expect(channel.write(throughDoor('one\n'))).toBe(true)
  expect(stream.read()).toBeNull()
})
