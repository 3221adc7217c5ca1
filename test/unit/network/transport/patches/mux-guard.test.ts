import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MuxGuard } from '../../../../../src/network/transport/patches/mux-guard.js'
import { transportLimits } from '../../../../../src/network/transport/transport-limits.js'

const clock = { time: 1000, now: () => clock.time }
const limits = { ...transportLimits, window: 100, controlFrames: 3, controlTime: 1000 }

/** A frame of Yamux. */
function frame(type: number, flags: number, length: number, data = new Uint8Array()): Uint8Array {
  const header = Buffer.alloc(12)
  header.writeUInt8(type, 1)
  header.writeUInt16BE(flags, 2)
  header.writeUInt32BE(1, 4)
  header.writeUInt32BE(length, 8)
  return Buffer.concat([header, data])
}

const data = (length: number) => frame(0, 0, length, new Uint8Array(length).fill(255))
const ping = frame(2, 1, 5)

describe('MuxGuard', () => {
  it('lets frames pass, however they are cut', () => {
    const stream = fc.array(fc.oneof(fc.nat(100).map(data), fc.constant(frame(1, 0, 2 ** 32 - 1))), { maxLength: 20 })
    fc.assert(
      fc.property(stream, fc.array(fc.nat(50)), (frames, cuts) => {
        const guard = new MuxGuard(limits, clock)
        let bytes: Uint8Array = Buffer.concat(frames)
        for (const cut of cuts) {
          expect(guard.refusal(bytes.subarray(0, cut))).toBeUndefined()
          bytes = bytes.subarray(cut)
        }
        expect(guard.refusal(bytes)).toBeUndefined()
      }),
      { numRuns: 1000 },
    )
  })

  it('refuses a frame longer than the window once its header is there', () => {
    const guard = new MuxGuard(limits, clock)
    const header = frame(0, 0, 101)
    expect(guard.refusal(header.subarray(0, 11))).toBeUndefined()
    expect(guard.refusal(header.subarray(11))).toBe('a frame of 101 bytes')
  })

  it.each([
    ['pings', ping],
    ['answers to pings', frame(2, 2, 5)],
    ['streams opened by an update of the window', frame(1, 1, 0)],
    ['streams opened by data', frame(0, 1, 0)],
  ])('refuses %s above the rate', (_what, control) => {
    const guard = new MuxGuard(limits, clock)
    expect(guard.refusal(Buffer.concat([control, control, control]))).toBeUndefined()
    clock.time += 999
    expect(guard.refusal(control)).toBe('too many streams and pings')
  })

  it('refuses small frames above their rate, and fewer of a new connection', () => {
    const few = { ...limits, window: 1000, smallFrame: 10, smallFrameRate: 5, smallFrameBurst: 20, smallFrameStart: 3 }
    const guard = new MuxGuard(few, clock)
    const small = (count: number) => Buffer.concat(Array.from({ length: count }, () => data(9)))
    expect(guard.refusal(small(3))).toBeUndefined()
    // Of those with more in them as many may come as there is room for.
    for (let i = 0; i < 100; i++) expect(guard.refusal(data(10))).toBeUndefined()
    clock.time += 1000
    expect(guard.refusal(small(5))).toBeUndefined()
    clock.time += 60_000
    expect(guard.refusal(small(20))).toBeUndefined()
    expect(guard.refusal(small(1))).toBe('too many small frames')
    expect(new MuxGuard(few, clock).refusal(small(4))).toBe('too many small frames')
  })

  it('counts anew after a while', () => {
    const guard = new MuxGuard(limits, clock)
    for (let i = 0; i < 10; i++) {
      expect(guard.refusal(Buffer.concat([ping, data(3), ping, ping]))).toBeUndefined()
      clock.time += 1000
    }
  })
})
