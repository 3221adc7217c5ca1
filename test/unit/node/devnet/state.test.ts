import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadStateFile, maxStateText, saveState } from '../../../../src/node/devnet/state.js'
import { Writer } from '../../../../src/base/primitives/codec.js'
import { EventLog } from '../../../../src/ledger/events/event-log.js'
import { devnetState } from '../../../support/assert/devnet-state.js'
import { Crowd, random } from '../../../support/builders/random-chain.js'
import { testAddress } from '../../../support/builders/spec.js'
import { testDevnet, type TestDevnet } from '../../../support/fakes/test-devnet.js'

const coin = 100_000_000n

async function open(options: Parameters<typeof testDevnet>[0] = {}): Promise<TestDevnet> {
  const net = await testDevnet(options)
  onTestFinished(() => net.close())
  return net
}

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'state-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const parts = ({ chain, clock }: TestDevnet) => ({ chain: chain.chain, mempool: chain.mempool, clock })
const heightOf = ({ chain }: TestDevnet) => chain.reader.height

/** Another devnet whose real clock shows the same. */
async function beside({ chain }: TestDevnet): Promise<TestDevnet> {
  const other = await open()
  other.chain.clock.time = chain.clock.time
  return other
}

/** A devnet that people have used: blocks, DIDs, what waits, a clock that was moved. */
async function used(seed: number, steps = 60): Promise<TestDevnet> {
  const net = await open()
  const roll = random(seed)
  const crowd = new Crowd(roll)
  for (let step = 0; step < steps; step++) {
    if (roll(3) > 0) await crowd.act(net.chain)
    else await net.devnet.mine(1 + roll(3))
  }
  await net.devnet.increaseTime(1 + roll(100_000))
  await net.devnet.setNextBlockTime(net.clock.seconds + 77)
  await crowd.act(net.chain)
  await net.devnet.faucet(testAddress(12), coin)
  return net
}

describe('the text of a state', () => {
  it.each([1, 2, 3])('brings another devnet to the same, and the same one back (seed %i)', async (seed) => {
    const net = await used(seed)
    const before = await devnetState(net)
    const text = await net.devnet.dumpState()
    const other = await beside(net)
    await other.devnet.mine(seed * 3)
    await other.devnet.loadState(text)
    expect(await devnetState(other)).toEqual(before)

    await net.devnet.mine(5)
    await net.devnet.faucet(testAddress(13), coin)
    await net.devnet.loadState(text)
    expect(await devnetState(net)).toEqual(before)
    // Both go on, and their blocks are their own.
    const [one] = await net.devnet.mine(1)
    const [two] = await other.devnet.mine(1)
    expect(one).not.toBe(two)
    expect(net.chain.mempool.size).toBe(0)
  })

  it('tells followers what left and what came, from the fork on', async () => {
    const net = await open()
    await net.devnet.mine(3)
    const text = await net.devnet.dumpState()
    const { chain, mempool, clock } = net.chain
    const log = await EventLog.open({ chain, mempool, clock })
    const first = log.last
    await net.devnet.mine(2)
    await net.devnet.loadState(text)
    const told = Array.from({ length: log.last - first }, (_, i) => log.at(first + 1 + i).data)
    expect(told.map((event) => `${event.action} ${'height' in event ? event.height : ''}`)).toEqual([
      'apply 4',
      'apply 5',
      'revert 5',
      'revert 4',
    ])
  })

  it('keeps snapshots of blocks that stay, and no others', async () => {
    const net = await open()
    await net.devnet.mine(1)
    const early = await net.devnet.snapshot()
    const text = await net.devnet.dumpState()
    await net.devnet.mine(2)
    const late = await net.devnet.snapshot()
    await net.devnet.loadState(text)
    await expect(net.devnet.revert(late)).rejects.toMatchObject({ code: 'request-parameter' })
    await net.devnet.revert(early)
    expect(heightOf(net)).toBe(1)
  })

  it('goes on by itself: what waits is mined at once where blocks are automatic', async () => {
    const net = await open()
    await net.devnet.faucet(testAddress(12), coin)
    const text = await net.devnet.dumpState()
    const other = await open({ mining: { kind: 'automine' } })
    await other.devnet.loadState(text)
    await expect.poll(() => heightOf(other)).toBe(1)
    expect(other.chain.mempool.size).toBe(0)
  })

  it('lets the clock go on from its offset, and never behind the tip', async () => {
    const net = await open()
    await net.devnet.increaseTime(1000)
    await net.devnet.mine(1)
    const text = await net.devnet.dumpState()
    const later = await open()
    later.chain.clock.time = net.chain.clock.time + 60_000
    await later.devnet.loadState(text)
    expect(later.clock.seconds).toBe(net.clock.seconds + 60)
    const earlier = await open()
    earlier.chain.clock.time = net.chain.clock.time - 5_000_000
    await earlier.devnet.loadState(text)
    expect(earlier.clock.seconds).toBe(earlier.chain.chain.tip.header.time)
  })

  it('is refused where it is another text, damaged, or of another chain; nothing changes', async () => {
    const net = await used(4, 20)
    const text = await net.devnet.dumpState()
    const other = await open()
    await other.devnet.mine(2)
    await other.devnet.faucet(testAddress(12), coin)
    const before = await devnetState(other)
    const bytes = gunzipSync(Buffer.from(text, 'base64'))
    const packed = (raw: Uint8Array) => gzipSync(raw).toString('base64')
    const flipped = (at: number) => {
      const copy = Buffer.from(bytes)
      copy[at] = (copy[at] as number) ^ 1
      return packed(copy)
    }
    const wrong: [string, RegExp][] = [
      ['', /does not unpack/],
      ['hello', /not base64/],
      [`${text}!`, /not base64/],
      [Buffer.from('hello').toString('base64'), /does not unpack/],
      [packed(Buffer.from('hello')), /no state of a devnet/],
      [packed(bytes.subarray(0, 11)), /no state|too early/],
      [packed(bytes.subarray(0, bytes.length - 1)), /too early/],
      [packed(Buffer.concat([bytes, Buffer.of(0)])), /follows its end/],
      [flipped(0), /no state of a devnet/],
      [flipped(9), /damaged/],
      [flipped(30), /checksum/],
      [flipped(bytes.indexOf('didblk01') + 9), /another chain/],
      [flipped(bytes.length - 100), /checksum/],
      [packed(Buffer.alloc(70 * 1024 * 1024)), /unpacks to more than/],
      ['A'.repeat(maxStateText + 4), /characters, at most/],
    ]
    for (const [state, reason] of wrong) {
      const refused = other.devnet.loadState(state)
      await expect(refused).rejects.toMatchObject({ code: 'request-parameter' })
      await expect(refused).rejects.toThrow(reason)
    }
    expect(await devnetState(other)).toEqual(before)
  })

  it('is refused with times that no devnet has, what is no transaction, and blocks too short for a header', async () => {
    const net = await open()
    const from = net.chain.clock.time
    await net.devnet.mine(2)
    const text = await net.devnet.dumpState()
    const held = gunzipSync(Buffer.from(text, 'base64'))
    const blocks = held.subarray(held.indexOf('didblk01'))
    const paid = await net.chain.transfer(testAddress(12), 100n, 10).then(({ bytes }) => Buffer.from(bytes))
    const state = (
      fields: Partial<Record<'offset' | 'next' | 'arrival', bigint>>,
      pooled: Buffer[] = [],
      rest = blocks,
    ) => {
      const writer = new Writer()
        .i64(fields.offset ?? 0n)
        .i64(fields.next ?? -1n)
        .u32(pooled.length)
      for (const bytes of pooled)
        writer
          .i64(fields.arrival ?? BigInt(from))
          .u32(bytes.length)
          .bytes(bytes)
      const content = Buffer.from(writer.finish())
      const sized = Buffer.concat([Buffer.from(new Writer().u32(content.length).finish()), content])
      const sum = new Writer().u32(crc32(sized)).finish()
      return gzipSync(Buffer.concat([Buffer.from('didsta01'), sized, sum, rest])).toString('base64')
    }
    const record = Buffer.concat([Buffer.from(new Writer().u32(1).u32(0).finish()), Buffer.of(7)])
    const short = Buffer.concat([blocks.subarray(0, 40), record, Buffer.from(new Writer().u32(crc32(record)).finish())])
    const before = await devnetState(net)
    for (const [wrong, reason] of [
      [state({ arrival: -1n }, [paid]), /time of arrival/],
      [state({ arrival: 2n ** 60n }, [paid]), /time of arrival/],
      [state({ offset: 2n ** 42n }), /beyond all times|out of bounds/],
      [state({ offset: -(2n ** 62n) }), /out of bounds/],
      [state({ next: 5_000_000_000n }), /out of bounds/],
      [
        state(
          {},
          Array.from({ length: 200_000 }, () => Buffer.alloc(22)),
        ),
        /pooled transaction/,
      ],
      [state({}, [], short), /length is out of bounds/],
    ] as const) {
      const refused = net.devnet.loadState(wrong)
      await expect(refused).rejects.toMatchObject({ code: 'request-parameter' })
      await expect(refused).rejects.toThrow(reason)
    }
    expect(await devnetState(net)).toEqual(before)
    const both = await Promise.allSettled([net.devnet.loadState(text), net.devnet.loadState(text)])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(both[1]).toMatchObject({ reason: { code: 'busy' } })
  })

  it('is not made for a client that has left', async () => {
    const net = await open()
    await net.devnet.mine(2)
    const gone = AbortSignal.abort()
    const begun = vi.spyOn(net.chain.chain, 'exclusive')
    await expect(net.devnet.dumpState(gone)).rejects.toThrow(/abort/)
    expect(begun).not.toHaveBeenCalled()
    const leaving = new AbortController()
    const dump = net.devnet.dumpState(leaving.signal)
    leaving.abort()
    await expect(dump).rejects.toThrow(/abort/)
    expect((await net.devnet.mine(1)).length).toBe(1)
  })

  it('is refused where a block breaks a rule, and nothing changes', async () => {
    const net = await open()
    await net.devnet.mine(4)
    const head = Buffer.from(gunzipSync(Buffer.from(await net.devnet.dumpState(), 'base64')))
    // The same blocks without the first: all checksums hold, and nothing follows the genesis block.
    const start = head.indexOf('didblk01') + 40
    const first = 8 + head.readUInt32LE(start) + head.readUInt32LE(start + 4) + 4
    const end = Buffer.alloc(12)
    end.writeUInt32LE(3, 4)
    end.writeUInt32LE(crc32(end.subarray(0, 8)), 8)
    const cut = Buffer.concat([head.subarray(0, start), head.subarray(start + first, head.length - 12), end])
    const other = await open()
    await other.devnet.mine(2)
    const before = await devnetState(other)
    const refused = other.devnet.loadState(gzipSync(cut).toString('base64'))
    await expect(refused).rejects.toThrow(/block 1 is refused/)
    expect(await devnetState(other)).toEqual(before)
    expect((await other.devnet.mine(1)).length).toBe(1)
  })
})

describe('a file of a state', () => {
  it('brings an empty chain to the same, whatever its size of runs', async () => {
    const net = await used(7)
    await net.devnet.mine(1010)
    await net.devnet.faucet(testAddress(12), coin)
    const before = await devnetState(net)
    const file = join(directory(), 'state')
    expect(await saveState(parts(net), file)).toBe(heightOf(net))
    const other = await beside(net)
    const heights: number[] = []
    expect(await loadStateFile(parts(other), file, (height) => heights.push(height))).toBe(heightOf(net))
    expect(heights.length).toBeGreaterThan(1)
    expect(await devnetState(other)).toEqual(before)
  })

  it('is replaced as a whole, and stays as it was where that fails', async () => {
    const net = await open()
    await net.devnet.mine(2)
    const where = directory()
    const file = join(where, 'state')
    writeFileSync(file, 'before')
    await saveState(parts(net), file)
    const whole = readFileSync(file)
    expect(readdirSync(where)).toEqual(['state'])
    const broken = { ...parts(net), mempool: { ...net.chain.mempool, settled: () => Promise.reject(new Error('no')) } }
    await expect(saveState(broken as never, file)).rejects.toThrow('no')
    await expect(saveState(parts(net), join(where, 'none', 'state'))).rejects.toThrow()
    expect(readFileSync(file)).toEqual(whole)
    expect(readdirSync(where)).toEqual(['state'])
  })

  it('is refused by its name where it is damaged', async () => {
    const net = await open()
    await net.devnet.mine(3)
    const file = join(directory(), 'state')
    await saveState(parts(net), file)
    truncateSync(file, readFileSync(file).length - 5)
    const other = await open()
    const refused = loadStateFile(parts(other), file)
    await expect(refused).rejects.toThrow(`${file}: the file is damaged after 3 blocks: it ends too early`)
    writeFileSync(file, 'something else entirely')
    await expect(loadStateFile(parts(await open()), file)).rejects.toThrow('it is no state of a devnet')
  })
})
