import { describe, expect, it } from 'vitest'
import type { ReadOperation } from '../../../../src/answers/resolver/did-versions.js'
import { LongHistory, readHistory } from '../../../../src/answers/resolver/history.js'
import { historyLimits } from '../../../../src/answers/resolver/history-limits.js'
import { WorkSlots } from '../../../../src/base/runtime/work-slots.js'

const { bytes: most, unplaced, atOnce } = historyLimits

/** A history whose operations are their sequence numbers, `size` bytes each. */
function reading(count: number, size: number, changes: Partial<Parameters<typeof readHistory>[0]> = {}) {
  const asked: [number, number][] = []
  const read = async (start: number, end: number) => {
    asked.push([start, end])
    const entries = Array.from({ length: end - start }, (_, i) => ({ sequence: end - 1 - i, bytes: size }))
    return entries as unknown as ReadOperation[]
  }
  const places = new WorkSlots(historyLimits.places, historyLimits.waiting, 'histories')
  return { did: 'did:ledger:x', count, slice: undefined, places, read, asked, ...changes }
}

const sequences = (found: readonly ReadOperation[]) =>
  found.map((entry) => (entry as unknown as { sequence: number }).sequence)
const falling = (from: number, length: number) => Array.from({ length }, (_, i) => from - i)

describe('readHistory', () => {
  it('reads all operations or a part of them, newest first, a few at a time', async () => {
    const whole = reading(20, 100)
    expect(sequences(await readHistory(whole))).toEqual(falling(19, 20))
    for (const [start, end] of whole.asked) expect(end - start).toBeLessThanOrEqual(atOnce)
    for (const [skip, limit, expected] of [
      [0, 3, falling(19, 3)],
      [5, 10, falling(14, 10)],
      [15, 1000, falling(4, 5)],
      [20, 5, []],
      [1e15, 5, []],
      [3, 0, []],
    ] as const) {
      expect([skip, limit, sequences(await readHistory(reading(20, 100, { slice: { skip, limit } })))]).toEqual([
        skip,
        limit,
        expected,
      ])
    }
  })

  it('gives 8 MiB of transactions and 10,000 operations, and refuses what is more, naming the way out', async () => {
    expect(await readHistory(reading(8, most / 8))).toHaveLength(8)
    const refused = {
      code: 'history-size',
      message: expect.stringMatching(/has 9 operations.*skip and limit/) as string,
    }
    const large = reading(9, most / 8)
    await expect(readHistory(large)).rejects.toMatchObject(refused)
    expect(await readHistory(reading(10_000, 1))).toHaveLength(10_000)
    const long = reading(10_001, 1)
    await expect(readHistory(long)).rejects.toMatchObject({ code: 'history-size' })
    expect(long.asked).toEqual([])
  })

  it('stops reading where the bytes end', async () => {
    const large = reading(450, 125_000)
    await expect(readHistory(large)).rejects.toMatchObject({ code: 'history-size' })
    expect(large.asked.length * atOnce).toBeLessThanOrEqual(most / 125_000 + atOnce)
  })

  it('ends a part early where the bytes would be too many, but never without one operation', async () => {
    const part = reading(1000, 125_000, { slice: { skip: 0, limit: 1000 } })
    expect(sequences(await readHistory(part))).toEqual(falling(999, Math.floor(most / 125_000)))
    const huge = reading(5, most + 1, { slice: { skip: 1, limit: 3 } })
    expect(sequences(await readHistory(huge))).toEqual([3])
  })

  it('takes one of the places above 1 MiB, and gives it back at the end and on failure', async () => {
    const places = new WorkSlots(1, 0, 'histories')
    const release = await places.take()
    expect(await readHistory(reading(8, unplaced / 8, { places }))).toHaveLength(8)
    await expect(readHistory(reading(9, unplaced / 8, { places }))).rejects.toMatchObject({ code: 'busy' })
    release()
    expect(await readHistory(reading(16, unplaced / 8, { places }))).toHaveLength(16)
    await expect(readHistory(reading(100, most / 10, { places }))).rejects.toMatchObject({ code: 'history-size' })
    expect(await readHistory(reading(16, unplaced / 8, { places }))).toHaveLength(16)
  })

  it('ends with the client', async () => {
    const gone = new AbortController()
    const history = reading(100, 1, { signal: gone.signal })
    const { read } = history
    history.read = async (start, end) => {
      if (history.asked.length === 2) gone.abort(new Error('gone'))
      return read(start, end)
    }
    await expect(readHistory(history)).rejects.toThrow('gone')
    expect(history.asked).toHaveLength(3)
  })

  it('waits for memory once, and only before it reads more than 1 MiB', async () => {
    for (const [size, expected] of [
      [Math.floor(unplaced / 20), 0],
      [Math.floor(unplaced / 10), 1],
    ] as const) {
      const asked: number[] = []
      const large = reading(20, size, { reserve: async () => void asked.push(large.asked.length) })
      expect(await readHistory(large)).toHaveLength(20)
      expect(asked).toHaveLength(expected)
      for (const reads of asked) expect(reads * atOnce * size).toBeLessThan(unplaced + atOnce * size)
    }
  })

  it('ends where it is longer than its reader wants', async () => {
    const size = 100
    expect(await readHistory(reading(20, size, { most: 20 * size }))).toHaveLength(20)
    const long = reading(100, size, { most: 20 * size })
    await expect(readHistory(long)).rejects.toThrow(LongHistory)
    expect(long.asked.length * atOnce).toBeLessThanOrEqual(20 + atOnce)
  })
})
