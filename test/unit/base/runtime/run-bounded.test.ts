import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { runBounded } from '../../../../src/base/runtime/run-bounded.js'

/** Numbers, with the count of those that were read. */
function counted(length: number) {
  const seen = { read: 0, ended: false }
  const items = (function* () {
    try {
      for (let i = 0; i < length; i++) {
        seen.read++
        yield i
      }
    } finally {
      seen.ended = true
    }
  })()
  return { seen, items }
}

describe('runBounded', () => {
  it.each([1, 2, 32, 500])('runs a job for each item, at most %d at a time, and reads none ahead', async (most) => {
    const { seen, items } = counted(200)
    const done: number[] = []
    let running = 0
    let peak = 0
    let ahead = 0
    await runBounded(items, most, async (item) => {
      peak = Math.max(peak, ++running)
      ahead = Math.max(ahead, seen.read - done.length)
      for (let i = item % 3; i >= 0; i--) await setImmediate()
      running--
      done.push(item)
    })
    expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i))
    expect(peak).toBe(Math.min(most, 200))
    expect(ahead).toBeLessThanOrEqual(most)
  })

  it('reads nothing more after the failure of a job, and waits for those under way', async () => {
    const { seen, items } = counted(1000)
    let running = 0
    const job = async (item: number) => {
      running++
      await setImmediate()
      if (item === 7) {
        running--
        throw new Error('the seventh')
      }
      await setImmediate()
      await setImmediate()
      running--
    }
    await expect(runBounded(items, 4, job)).rejects.toThrow('the seventh')
    expect(running).toBe(0)
    expect(seen.ended).toBe(true)
    expect(seen.read).toBeLessThan(16)
  })

  it('waits for the jobs under way when the items fail', async () => {
    let running = 0
    async function* items() {
      yield 1
      await setImmediate()
      yield 2
      throw new Error('no more items')
    }
    const job = async () => {
      running++
      for (let i = 0; i < 5; i++) await setImmediate()
      running--
    }
    await expect(runBounded(items(), 3, job)).rejects.toThrow('no more items')
    expect(running).toBe(0)
  })

  it('takes no items, and a job that fails at once', async () => {
    await runBounded([], 3, () => Promise.reject(new Error('never')))
    await expect(
      runBounded([1], 3, () => {
        throw new Error('at once')
      }),
    ).rejects.toThrow('at once')
  })
})
