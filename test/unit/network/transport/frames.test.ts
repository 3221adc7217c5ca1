import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LinkError } from '../../../../src/network/link.js'
import { Frames } from '../../../../src/network/transport/frames.js'
import type { Timers } from '../../../../src/base/runtime/env.js'
import { FakeStream, framed as frame } from '../../../support/fakes/fake-stream.js'

const timers: Timers = {
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}
const limits = { frameTime: 1000, frameRate: 1000, frameSlice: 64 }

function framed(longest = 1000): { stream: FakeStream; frames: Frames } {
  const stream = new FakeStream()
  return { stream, frames: new Frames(stream, longest, timers, limits) }
}

async function failure(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.catch((reason: unknown) => reason)
  return error instanceof LinkError ? error.failure : `no LinkError: ${String(error)}`
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('Frames', () => {
  it('reads what is written, however it is cut', async () => {
    const bodies = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(bodies, fc.array(fc.nat(40), { maxLength: 30 }), async (list, cuts) => {
        for (const body of list) {
          const writer = framed()
          await writer.frames.write(body)
          let bytes = new Uint8Array(Buffer.concat(writer.stream.sent))
          const reader = framed()
          const read = reader.frames.read()
          for (const cut of cuts) {
            reader.stream.arrive(bytes.subarray(0, cut))
            bytes = bytes.subarray(cut)
          }
          reader.stream.arrive(bytes)
          expect(Buffer.from((await read) as Uint8Array)).toEqual(Buffer.from(body))
          expect(reader.frames.held).toBe(0)
          reader.frames.close()
        }
      }),
      { numRuns: 1000 },
    )
    expect(vi.getTimerCount()).toBe(0)
  })

  it('keeps what came after a frame for the next read', async () => {
    const { stream, frames } = framed()
    stream.arrive(Buffer.concat([frame(Uint8Array.of(1, 2)), frame(Uint8Array.of(3)).subarray(0, 2)]), new Uint8Array())
    expect(await frames.read()).toEqual(Uint8Array.of(1, 2))
    const next = frames.read()
    stream.arrive(frame(Uint8Array.of(3)).subarray(2))
    expect(await next).toEqual(Uint8Array.of(3))
  })

  it('holds copies of what arrived: small pieces keep nothing large in memory', async () => {
    const { stream, frames } = framed(20_000)
    const body = Uint8Array.from({ length: 20_000 }, (_, i) => i % 251)
    const bytes = frame(body)
    for (let at = 0; at < bytes.length; at += 7) {
      const packet = Uint8Array.from(bytes.subarray(at, at + 7))
      stream.arrive(packet)
      packet.fill(0)
    }
    expect(frames.held).toBe(bytes.length)
    expect(await frames.read()).toEqual(body)
  })

  it('refuses a length above the limit before the bytes come', async () => {
    const { stream, frames } = framed(10)
    const read = frames.read()
    stream.arrive(frame(new Uint8Array(), 11))
    expect(await failure(read)).toBe('too-long')
    expect(stream.aborted).toBeInstanceOf(LinkError)
    expect(stream.listeners).toBe(0)
  })

  it('takes one of exactly the limit', async () => {
    const { stream, frames } = framed(10)
    stream.arrive(frame(new Uint8Array(10)))
    expect(await frames.read()).toEqual(new Uint8Array(10))
  })

  it('ends a stream that brings more than one frame ahead of time', () => {
    const { stream, frames } = framed(10)
    for (let i = 0; i < 3; i++) stream.arrive(frame(new Uint8Array(10)))
    expect(frames.failed).toBe(true)
    expect(stream.aborted?.message).toMatch(/more messages/)
  })

  it('gives up a frame that does not arrive whole, and one that does not begin', async () => {
    const slow = framed()
    const read = slow.frames.read()
    slow.stream.arrive(frame(new Uint8Array(1000)).subarray(0, 500))
    await vi.advanceTimersByTimeAsync(1999)
    expect(slow.frames.failed).toBe(false)
    slow.stream.arrive(new Uint8Array(1))
    const failed = failure(read)
    await vi.advanceTimersByTimeAsync(1)
    expect(await failed).toBe('timeout')

    const idle = framed()
    const never = failure(idle.frames.read(300))
    await vi.advanceTimersByTimeAsync(300)
    expect(await never).toBe('timeout')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('tells an end between frames from one within', async () => {
    const between = framed()
    const read = between.frames.read()
    between.stream.end()
    expect(await read).toBeUndefined()
    between.frames.close()
    expect(between.stream).toMatchObject({ closed: true, aborted: undefined })

    const within = framed()
    const broken = within.frames.read()
    within.stream.arrive(frame(new Uint8Array(5)).subarray(0, 6))
    within.stream.end()
    expect(await failure(broken)).toBe('closed')
  })

  it('reads the bytes that come along with the end', async () => {
    const { stream, frames } = framed()
    const read = frames.read()
    stream.end()
    stream.arrive(frame(Uint8Array.of(9)))
    expect(await read).toEqual(Uint8Array.of(9))
    expect(await frames.read()).toBeUndefined()
  })

  it('rejects what waits when the other side ends the stream', async () => {
    const { stream, frames } = framed()
    stream.writeBufferLength = 1
    const [read, write] = [failure(frames.read()), failure(frames.write(new Uint8Array(5)))]
    stream.reset()
    expect(await read).toBe('refused')
    expect(await write).toBe('refused')
    expect(await failure(frames.read())).toBe('refused')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('hands over a slice at a time and waits until it is taken', async () => {
    const { stream, frames } = framed()
    stream.writeBufferLength = 1
    const write = frames.write(new Uint8Array(150))
    expect(stream.sent.map(({ length }) => length)).toEqual([64])
    stream.drain()
    await write
    expect(stream.sent.map(({ length }) => length)).toEqual([64, 64, 26])
  })

  it('gives up on a reader that takes nothing', async () => {
    const { stream, frames } = framed()
    stream.writeBufferLength = 1
    const write = failure(frames.write(new Uint8Array(500)))
    await vi.advanceTimersByTimeAsync(1500)
    expect(await write).toBe('timeout')
    expect(stream.aborted).toBeInstanceOf(LinkError)
  })

  it('rejects a write on a stream that is closed', async () => {
    const { stream, frames } = framed()
    stream.closed = true
    expect(await failure(frames.write(new Uint8Array(1)))).toBe('closed')
  })
})
