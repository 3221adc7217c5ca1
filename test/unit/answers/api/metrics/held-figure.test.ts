import { expect, test } from 'vitest'
import { HeldFigure } from '../../../../../src/answers/api/metrics/held-figure.js'

/** A disk whose answers a test gives, and a clock that it moves. */
class Disk {
  looks = 0
  now = 0
  answer: () => Promise<number> = async () => this.looks
  readonly figure = new HeldFigure(
    () => {
      this.looks++
      return this.answer()
    },
    () => this.now,
  )
}

test('a look serves all who ask within five seconds, and no longer', async () => {
  const disk = new Disk()
  expect(await Promise.all([disk.figure.get(), disk.figure.get()])).toEqual([1, 1])
  disk.now = 5_000
  expect(await disk.figure.get()).toBe(1)
  disk.now = 5_001
  expect(await disk.figure.get()).toBe(2)
})

test('a disk that does not answer holds up no scrape, is asked once, and is unknown after a minute', async () => {
  const disk = new Disk()
  expect(await disk.figure.get()).toBe(1)
  let answer = (_: number) => {}
  disk.answer = () => new Promise((resolve) => (answer = resolve))
  disk.now = 60_000
  const began = performance.now()
  expect(await Promise.all(Array.from({ length: 50 }, () => disk.figure.get()))).toEqual(Array(50).fill(1))
  expect(performance.now() - began).toBeLessThan(5_000)
  disk.now = 60_001
  expect(await disk.figure.get()).toBeUndefined()
  expect(disk.looks).toBe(2)
  answer(7)
  await new Promise(setImmediate)
  expect(await disk.figure.get()).toBe(7)
})

test.each([
  ['refuses', () => Promise.reject(new Error('EIO'))],
  [
    'throws',
    () => {
      throw new Error('EIO')
    },
  ],
])('a disk that %s is unknown, and is asked again', async (_, fails) => {
  const disk = new Disk()
  expect(await disk.figure.get()).toBe(1)
  disk.now = 10_000
  disk.answer = fails
  expect(await disk.figure.get()).toBeUndefined()
  disk.answer = async () => 8
  expect(await disk.figure.get()).toBe(8)
})
