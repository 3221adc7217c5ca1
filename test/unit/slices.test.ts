import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { inSlices, runInSlices } from '../../src/slices.js'

/** Holds the event loop for so long, in milliseconds. */
function work(milliseconds: number): void {
  const start = performance.now()
  while (performance.now() - start < milliseconds);
}

describe('divided work', () => {
  it('shares one slice of a turn, however many pieces there are', async () => {
    // Steps of a millisecond: alone each piece would take its four of them in every turn.
    const pieces = 8
    let turn = 0
    let watching = true
    const steps = new Map<number, number>()
    const watch = async () => {
      while (watching) {
        await nextTurn()
        turn++
      }
    }
    const watched = watch()
    await nextTurn()
    const run = async () => {
      let left = 12
      await inSlices(() => {
        work(1)
        steps.set(turn, (steps.get(turn) ?? 0) + 1)
        return --left > 0
      })
    }
    await Promise.all(Array.from({ length: pieces }, run))
    watching = false
    await watched
    // Four steps of the slice, and one of each piece that has its turn when the slice is over.
    for (const count of steps.values()) expect(count).toBeLessThanOrEqual(4 + 1 + pieces)
    expect(steps.size).toBeGreaterThanOrEqual(Math.floor((12 * pieces) / (5 + pieces)))
  })

  it('gives way between pieces that follow each other in one turn', async () => {
    let turns = 0
    let watching = true
    const watch = async () => {
      while (watching) {
        await nextTurn()
        turns++
      }
    }
    const watched = watch()
    for (let piece = 0; piece < 10; piece++) {
      await runInSlices(
        (function* () {
          work(3)
          yield
          work(1)
        })(),
      )
    }
    watching = false
    await watched
    expect(turns).toBeGreaterThanOrEqual(5)
  })
})
