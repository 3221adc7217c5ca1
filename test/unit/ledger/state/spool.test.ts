import fc from 'fast-check'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Spool, type Spooled } from '../../../../src/ledger/state/spool.js'
import { diskFiles, type ScratchFile } from '../../../../src/ledger/storage/disk-files.js'
import { memoryScratch } from '../../../support/builders/memory-scratch.js'

const laneOf = (order: number) => Math.floor(order / 0xa0000)

/** All values that come out, copied: they last until the next ones. */
async function sorted(spool: Spool): Promise<Spooled[]> {
  const all: Spooled[] = []
  for await (const values of spool.sorted()) for (const [order, value] of values) all.push([order, Buffer.from(value)])
  return all
}

function byOrder([a]: Spooled, [b]: Spooled): number {
  return a - b
}

/** Runs with a file on the disk. */
async function withFile<T>(run: (file: ScratchFile) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'spool-'))
  const file = await diskFiles.openScratch(join(directory, 'file'))
  try {
    return await run(file)
  } finally {
    await rm(directory, { recursive: true })
  }
}

const value = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  // About as long as a piece, where its head does and does not fit.
  fc.integer({ min: 16 * 1024 - 12, max: 16 * 1024 + 2 }).map((length) => new Uint8Array(length).fill(length)),
)
const order = fc.oneof(fc.integer({ min: 0, max: 2 ** 48 - 1 }), fc.integer({ min: 0, max: 3 }))

describe('a spool', () => {
  it('gives values in the order of their numbers, those of one number as they came', async () => {
    const property = fc.asyncProperty(fc.array(fc.tuple(order, value)), async (values) => {
      const spool = new Spool(await memoryScratch(), laneOf)
      for (const [at, bytes] of values) {
        spool.add(at, bytes)
        // What was given may change: it was copied.
        if (spool.isFull) await spool.settle()
      }
      const expected = values.map(([at, bytes]): Spooled => [at, Buffer.from(bytes)]).sort(byOrder)
      expect(await sorted(spool)).toEqual(expected)
      await spool.close()
    })
    await fc.assert(property)
  })

  it('reads the values of a lane that is too long for memory one by one', async () => {
    await withFile(async (file) => {
      let longest = 0
      const counted: ScratchFile = {
        ...file,
        read: (at, into) => ((longest = Math.max(longest, into.length)), file.read(at, into)),
      }
      const spool = new Spool(counted, laneOf)
      const bytes = Buffer.alloc(30_000)
      const count = 1200
      for (let i = 0; i < count; i++) {
        bytes.fill(i & 0xff)
        spool.add(count - i, bytes)
        if (spool.isFull) await spool.settle()
      }
      let seen = 0
      for await (const values of spool.sorted()) {
        for (const [at, one] of values) {
          expect(at).toBe(++seen)
          expect(one.length === bytes.length && one.every((byte) => byte === ((count - at) & 0xff))).toBe(true)
        }
      }
      expect(seen).toBe(count)
      expect(longest).toBeLessThanOrEqual(32 * 1024)
      await spool.close()
    })
  })

  it('gives a lane that is too long for memory in parts where that is enough', async () => {
    const held = 64 * 1024
    let most = 0
    const memory = await memoryScratch()
    const spool = new Spool(memory, laneOf, held)
    const count = 1000
    for (let i = 0; i < count; i++) spool.add((i * 501) % count, Buffer.alloc(1000, i))
    const parts: number[][] = [[]]
    let last = -1
    for await (const values of spool.sorted({ inParts: true })) {
      for (const [order, value] of values) {
        if (order < last) parts.push([])
        last = order
        parts.at(-1)?.push(order)
        expect(value.equals(Buffer.alloc(1000, ((order * 501) % count) & 0xff))).toBe(true)
      }
      most = Math.max(most, parts.at(-1)?.length ?? 0)
    }
    expect(parts.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i))
    expect(most * 1010).toBeLessThanOrEqual(held)
    // A piece has 16 values, a part four pieces.
    expect(parts).toHaveLength(Math.ceil(count / 64))
  })

  it('has who adds wait while much is on its way to the file', async () => {
    let letWrite = () => {}
    const writing = new Promise<void>((resolve) => (letWrite = resolve))
    const memory = await memoryScratch()
    const slow: ScratchFile = { ...memory, write: (bytes, at) => writing.then(() => memory.write(bytes, at)) }
    const spool = new Spool(slow, laneOf)
    const bytes = Buffer.alloc(60_000)
    let added = 0
    while (!spool.isFull) spool.add(added++, bytes)
    expect(added * bytes.length).toBeLessThan(8 * 1024 * 1024)
    letWrite()
    await spool.settle()
    expect(spool.isFull).toBe(false)
    expect(await sorted(spool)).toHaveLength(added)
  })

  it('rejects where the file could not be written', async () => {
    const full: ScratchFile = { ...(await memoryScratch()), write: () => Promise.reject(new Error('no space left')) }
    const spool = new Spool(full, laneOf)
    spool.add(1, Buffer.of(1))
    await expect(sorted(spool)).rejects.toThrow('no space left')
  })

  it('gives out few bytes at a time', async () => {
    const spool = new Spool(await memoryScratch(), laneOf)
    const long = 200_000
    for (let index = 0; index < 12; index++) spool.add(index, Buffer.alloc(index === 5 ? 4 * long : long))
    const groups: number[] = []
    for await (const values of spool.sorted()) groups.push(values.reduce((sum, [, { length }]) => sum + length, 0))
    expect(groups).toEqual([2, 2, 1, 4, 2, 2, 2].map((n) => n * long))
    await spool.close()
  })

  const readings = [
    ['in one', 1000],
    ['value by value', 34_000_000 / 1000],
  ] as const
  it.each(readings)('rejects where a lane that is read %s comes back with a bit turned', async (_, length) => {
    const memory = await memoryScratch()
    let turned = -1
    const file: ScratchFile = {
      ...memory,
      read: async (at, into) => {
        await memory.read(at, into)
        const inside = turned - at
        if (inside >= 0 && inside < into.length) into.writeUInt8(into.readUInt8(inside) ^ 1, inside)
      },
    }
    const added = async () => {
      const spool = new Spool(file, laneOf)
      for (let index = 0; index < 1000; index++) {
        spool.add(index, Buffer.alloc(length, index))
        if (spool.isFull) await spool.settle()
      }
      return spool
    }
    for (const place of [0, 5, 9, 10, 10 + length, 500 * length]) {
      turned = place
      await expect(sorted(await added())).rejects.toThrow('other bytes than it was given')
    }
    turned = -1
    expect(await sorted(await added())).toHaveLength(1000)
  })

  it('rejects where a value that is read a second time comes back changed', async () => {
    const memory = await memoryScratch()
    const file: ScratchFile = {
      ...memory,
      read: async (at, into) => {
        await memory.read(at, into)
        // Pieces are read first, with the heads of their values.
        if (into.length === 20_000) into.fill(9)
      },
    }
    const spool = new Spool(file, laneOf)
    for (let index = 0; index < 1800; index++) {
      spool.add(index, Buffer.alloc(20_000, 1))
      if (spool.isFull) await spool.settle()
    }
    await expect(sorted(spool)).rejects.toThrow('other bytes than it was given')
  })

  it('rejects where the file has lost its end', async () => {
    await withFile(async (file) => {
      const spool = new Spool({ ...file, write: (bytes, at) => file.write(bytes.subarray(0, -1), at) }, laneOf)
      spool.add(1, Buffer.of(1, 2, 3))
      await expect(sorted(spool)).rejects.toThrow('ends before byte')
      await spool.close()
    })
  })
})
