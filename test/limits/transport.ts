import type { LinkHandler } from '../../src/network/link.js'
import { Frames } from '../../src/network/transport/frames.js'
import { Handshakes } from '../../src/network/transport/handshakes.js'
import type { Libp2pLink } from '../../src/network/transport/libp2p-link.js'
import { MuxGuard } from '../../src/network/transport/patches/mux-guard.js'
import { RequestServer } from '../../src/network/transport/request-server.js'
import { transportLimits } from '../../src/network/transport/transport-limits.js'
import { Unsent } from '../../src/network/transport/unsent.js'
import { quietLog } from '../support/builders/chain.js'
import { FakeStream, framed } from '../support/fakes/fake-stream.js'
import { ManualTime, rest } from '../support/fakes/manual-time.js'
import { idleHandler, idleLink } from '../support/fakes/stubs.js'
import { echo } from '../support/network/transport.js'
import { everyDoor, failureOf, limit, many, mib } from './limit.js'

/** A connection without a proved key. */
class Incoming extends EventTarget {
  taken = 0
  aborted: string | undefined

  onData({ byteLength }: { readonly byteLength: number }): void {
    this.taken += byteLength
  }

  abort(error: Error): void {
    this.aborted = error.message
  }
}

/** Begins so many handshakes, whose hosts follow from their number. */
function handshakes(count: number, host: (i: number) => string): string | undefined {
  const open = new Handshakes(transportLimits)
  const all = Array.from({ length: count }, () => new Incoming())
  all.forEach((incoming, i) => open.begin(host(i), incoming))
  return all.map(({ aborted }) => aborted).find((why) => why !== undefined)
}

/** The header of a frame of Yamux. */
function muxHeader(type: number, flags: number, length: number): Uint8Array {
  const bytes = new Uint8Array(12)
  const view = new DataView(bytes.buffer)
  view.setUint8(1, type)
  view.setUint16(2, flags)
  view.setUint32(8, length)
  return bytes
}

const dataFrame = (size: number) => Buffer.concat([muxHeader(0, 0, size), new Uint8Array(size)])
const ping = muxHeader(2, 1, 0)

/** The first refusal of frames that arrive at once, after those that came before a wait. */
function arriving(frames: readonly Uint8Array[], before: readonly Uint8Array[] = [], wait = 0): string | undefined {
  const clock = { time: 1_000_000, now: () => clock.time }
  const guard = new MuxGuard(transportLimits, clock)
  for (const frame of before) guard.refusal(frame)
  clock.time += wait
  return frames.map((frame) => guard.refusal(frame)).find((refusal) => refusal !== undefined)
}

/** A frame of bytes that comes in two parts, the second one so many milliseconds after the first. */
async function slowFrame(first: Uint8Array, second: Uint8Array, wait: number): Promise<string | undefined> {
  const time = new ManualTime()
  const stream = new FakeStream()
  const frames = new Frames(stream, 16 * 1024 * 1024, time, transportLimits)
  const read = failureOf(frames.read())
  stream.arrive(first)
  await time.advance(wait)
  stream.arrive(second)
  return read
}

/** Holds answers, given by their host and bytes, each for a link of its own unless a name repeats. */
function holding(answers: readonly (readonly [name: string, host: string, bytes: number])[]): string | undefined {
  const unsent = new Unsent<{ readonly host: string }>(transportLimits, { now: () => 1_000_000 })
  const links = new Map<string, { readonly host: string }>()
  let dropped: string | undefined
  for (const [name, host, bytes] of answers) {
    const link = links.get(name) ?? { host }
    links.set(name, link)
    const held = unsent.hold(link, bytes, () => (dropped ??= 'another answer is dropped'))
    if (held === undefined) dropped ??= 'the answer is refused'
  }
  return dropped
}

/** A server of requests with a stream of a peer. */
function serving(answer: number) {
  const time = new ManualTime()
  const stream = new FakeStream()
  const link = { ...idleLink, timers: time, limits: transportLimits } as unknown as Libp2pLink
  const owner: LinkHandler = { ...idleHandler, answer: () => Promise.resolve(new Uint8Array(1)) }
  const server = new RequestServer(owner, quietLog(), transportLimits, time)
  void server.serve(link, { ...echo, answer }, stream as never)
  return { time, stream, server, link }
}

/** Whether a request is answered that comes in the last of so many milliseconds. */
async function idleFor(milliseconds: number): Promise<string | undefined> {
  const { time, stream } = serving(echo.answer)
  await rest()
  await time.advance(milliseconds - 1)
  stream.arrive(framed(new Uint8Array(1)))
  await rest()
  return stream.sent.length > 0 ? undefined : (stream.aborted?.message ?? 'no answer')
}

export const transportRows = [
  limit({
    name: 'network/transport/transport-limits.transportLimits.handshakes',
    unit: 'count',
    value: 128,
    feed: (n) => handshakes(n, (i) => `1.1.${i}.1`),
    refusal: 'too many connections without a key',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.hostHandshakes',
    unit: 'count',
    value: 16,
    feed: everyDoor(
      (n) => handshakes(n, () => '1.1.1.1'),
      // Addresses of one /64 are one site.
      (n) => handshakes(n, (i) => `2001:db8::${i + 1}`),
    ),
    refusal: 'too many connections without a key',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.negotiationBytes',
    unit: 'bytes',
    value: 1024,
    feed: (n) => {
      const incoming = new Incoming()
      new Handshakes(transportLimits).begin('1.1.1.1', incoming)
      incoming.onData({ byteLength: n - 10 })
      incoming.onData({ byteLength: 10 })
      return incoming.aborted
    },
    refusal: 'too much is said before a protocol is agreed on',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.window',
    unit: 'bytes',
    value: mib,
    feed: (n) => arriving([muxHeader(0, 0, n)]),
    refusal: 'a frame of 1048577 bytes',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.controlFrames',
    unit: 'count',
    value: 512,
    feed: everyDoor(
      (n) => arriving(many(n, ping)),
      (n) => arriving(many(n, muxHeader(1, 1, 0))),
    ),
    refusal: 'too many streams and pings',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.controlTime',
    unit: 'ms',
    value: 10_000,
    // The window is over after so many milliseconds, and not sooner.
    beyond: 9_999,
    feed: (n) => arriving([ping], many(512, ping), n),
    refusal: 'too many streams and pings',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.smallFrame',
    unit: 'bytes',
    value: 256,
    beyond: 255,
    feed: (n) => arriving(many(4_001, dataFrame(n))),
    refusal: 'too many small frames',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.smallFrameRate',
    unit: 'count/s',
    value: 4_000,
    feed: (n) => arriving(many(n, dataFrame(1)), many(4_000, dataFrame(1)), 1_000),
    refusal: 'too many small frames',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.smallFrameBurst',
    unit: 'count',
    value: 20_000,
    feed: (n) => arriving(many(n, dataFrame(1)), [], 3_600_000),
    refusal: 'too many small frames',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.smallFrameStart',
    unit: 'count',
    value: 4_000,
    feed: (n) => arriving(many(n, dataFrame(1))),
    refusal: 'too many small frames',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.answererIdle',
    unit: 'ms',
    value: 30_000,
    feed: idleFor,
    refusal: 'nothing came for a while',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.frameTime',
    unit: 'ms',
    value: 10_000,
    feed: (n) => {
      const frame = framed(new Uint8Array(0))
      return slowFrame(frame.subarray(0, 2), frame.subarray(2), n - 1)
    },
    refusal: 'a message did not arrive whole in time',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.frameRate',
    unit: 'bytes/s',
    value: 32_768,
    // A slower one is refused.
    beyond: 32_767,
    feed: (n) => {
      const frame = framed(new Uint8Array(14 * mib))
      return slowFrame(frame.subarray(0, 4), frame.subarray(4), 10_000 + Math.ceil(((14 * mib) / n) * 1000) - 1)
    },
    refusal: 'a message did not arrive whole in time',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.answersUnsent',
    unit: 'bytes',
    value: 64 * mib,
    feed: (n) =>
      holding([
        ['a', '1.1.1.1', 30 * mib],
        ['b', '1.2.1.1', 30 * mib],
        ['c', '1.3.1.1', n - 60 * mib],
      ]),
    refusal: 'another answer is dropped',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.siteUnsent',
    unit: 'bytes',
    value: 40 * mib,
    feed: (n) =>
      holding([
        ['a', '1.1.1.1', 30 * mib],
        ['b', '1.1.1.1', n - 30 * mib],
      ]),
    refusal: 'another answer is dropped',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.linkAnswersUnsent',
    unit: 'bytes',
    value: 32 * mib,
    feed: (n) =>
      holding([
        ['a', '1.1.1.1', 20 * mib],
        ['a', '1.1.1.1', n - 20 * mib],
      ]),
    refusal: 'the answer is refused',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.answersRest',
    unit: 'ms',
    value: 10_000,
    // Served again after so many milliseconds, and not sooner.
    beyond: 9_999,
    feed: (n) => {
      const clock = { time: 1_000_000, now: () => clock.time }
      const unsent = new Unsent<{ readonly host: string }>(transportLimits, clock)
      const link = { host: '1.1.1.1' }
      unsent.rest(link)
      clock.time += n
      return unsent.rests(link) ? 'it did not take its last answers' : undefined
    },
    refusal: 'it did not take its last answers',
  }),
]
