import { describe, expect, it } from 'vitest'
import { runSeed, runSeeds } from './run.js'

describe('a seed', () => {
  it('gives the same run again, printed or not, and another seed another', async () => {
    for (const seed of [3, 14]) {
      const first = await runSeed(seed)
      const lines: string[] = []
      expect(await runSeed(seed, { print: (line) => lines.push(line) })).toEqual(first)
      expect(lines.length).toBeGreaterThan(100)
      expect((await runSeed(seed + 1)).trace).not.toBe(first.trace)
    }
  })

  it('that fails is named, with the command that shows it again', async () => {
    const disaster = {
      fault: () => {
        throw new Error('the disk burns')
      },
    }
    const { failures } = await runSeeds(3, 2, { tampering: disaster })
    expect(failures).toEqual(
      [3, 4].map((seed) =>
        expect.stringMatching(
          new RegExp(`^seed ${seed}: [^]*the disk burns[^]*\\nto see it again: npm run sim -- --seed ${seed}$`),
        ),
      ),
    )
  })
})
