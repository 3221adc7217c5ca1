import { describe, expect, it } from 'vitest'
import { runSeed } from './run.js'

describe('a seed', () => {
  it('gives the same run again, printed or not, and another seed another', { timeout: 120_000 }, async () => {
    for (const seed of [3, 14, 56]) {
      const first = await runSeed(seed)
      const lines: string[] = []
      expect(await runSeed(seed, { print: (line) => lines.push(line) })).toEqual(first)
      expect(lines.length).toBeGreaterThan(100)
      expect((await runSeed(seed + 1)).trace).not.toBe(first.trace)
    }
  })
})
