import { expect, it } from 'vitest'
import { rounds } from '../support/process/thorough.js'
import { plainJoin, simulateJoin } from './join.js'
import { runJoinSeed } from './run.js'

it('a node that begins with the state of peers has the rows of one that verified everything', async () => {
  const failures: string[] = []
  const seen = { joined: 0, kills: 0, partings: 0, lies: 0, early: 0 }
  // In 409 a liar lists its parts again and again, and withholds them.
  for (const seed of [409, ...Array.from({ length: rounds(1, 60) }, (_, i) => 10 + i)]) {
    try {
      const { joined, kills, partings, lies, early } = await runJoinSeed(seed)
      const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, one) => all + one, 0)
      seen.joined += Number(joined)
      seen.kills += sum(kills)
      seen.partings += partings
      seen.lies += sum(lies)
      seen.early += early
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  expect(failures.join('\n')).toBe('')
  // That nothing broke says little unless there was reason to.
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0)
})

it.each(['crash-before', 'crash-after'] as const)(
  'nothing is fetched again after a %s of the rows that move into their place',
  async (what) => {
    const kill = { phase: 'adopt', nth: 1, what, lasts: 1_000, breaks: false } as const
    const { kills, joined } = await simulateJoin(plainJoin({ troubles: [kill] }))
    expect([kills.adopt, joined]).toEqual([1, true])
  },
)

it('a scenario gives the same course again', async () => {
  const lies = { list: 'part', slice: 'late', history: 'few', often: 0.3 } as const
  const scenario = plainJoin({ liars: [lies] })
  const { trace } = await simulateJoin(scenario)
  expect((await simulateJoin(scenario)).trace).toBe(trace)
})
