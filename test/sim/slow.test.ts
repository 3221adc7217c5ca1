import { expect, it } from 'vitest'
import { rounds } from '../support/process/thorough.js'
import { runSeeds, runSlowSeed } from './run.js'

it(
  'validators 20 times too slow for their full pools confirm each block within N + f + 2 views',
  { timeout: 900_000 },
  async () => {
    const { failures } = await runSeeds(1, rounds(1, 12), {}, runSlowSeed)
    expect(failures.join('\n')).toBe('')
  },
)
