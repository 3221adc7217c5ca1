import { expect, it } from 'vitest'
import { rounds } from '../support/process/thorough.js'
import { runStepSeed } from './run.js'

it('a node that is behind denies no DID, and gives no old state without its age', async () => {
  const said = { state: 0, aged: 0, absent: 0, refused: 0 }
  const failures: string[] = []
  let behind = 0
  for (let seed = 147; seed < 147 + rounds(1, 40); seed++) {
    try {
      const report = await runStepSeed(seed)
      behind += report.behind
      for (const name of Object.keys(said) as (keyof typeof said)[]) said[name] += report.answers[name]
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  expect(failures.join('\n')).toBe('')
  // That nothing broke says little unless there was reason to.
  for (const [what, count] of Object.entries({ ...said, behind })) expect(count, what).toBeGreaterThan(0)
})
