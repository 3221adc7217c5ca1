import { expect, it } from 'vitest'
import { oneIn, rounds } from '../support/process/thorough.js'
import type { Fault, Write } from './disk.js'
import type { SimulatedNode } from './node.js'
import { plainScenario } from './plain.js'
import { runNamed } from './run.js'
import { quiet } from './scenario.js'

/** Long enough for some blocks. */
const length = 4_000
/** A number here simulates the crash at one write alone. */
const onlyPlace = Number(process.env['CRASH_PLACE'] ?? 0)

const faults: readonly Fault[] = ['crash-before', 'crash-after', 'failure', 'sync-failure']

it.each(faults)(
  'a validator that crashes or cannot go on at any one of its writes (%s) comes back and goes on',
  async (fault) => {
    // The last write has time to end where it is the one that fails.
    const scenarioOf = (place: number) => plainScenario(1, [quiet(place === 0 ? length : length + 500)])
    const run = (place: number, act: (node: SimulatedNode, write: Write) => Fault | undefined) =>
      runNamed(
        `${fault} at write ${place} of n0`,
        `CRASH_PLACE=${place} npx vitest run test/sim/crash.test.ts -t ${fault}`,
        scenarioOf(place),
        { tampering: { fault: act } },
      )
    let writes = 0
    await run(0, (node) => {
      if (node.number === 0) writes++
      return undefined
    })
    expect(writes).toBeGreaterThan(10)
    const synced = new Set<string>()
    const crash = fault.startsWith('crash')
    // A usual run tries one write in four, of each kind of fault other ones.
    const step = onlyPlace === 0 ? oneIn(4) : 1
    const turn = faults.indexOf(fault) % step
    for (let place = 1 + turn; place <= writes; place += step) {
      if (onlyPlace !== 0 && onlyPlace !== place) continue
      let made = 0
      const { crashes } = await run(place, (node, write) => {
        if (node.number !== 0 || ++made !== place) return undefined
        if (write.synced) synced.add(write.what)
        return fault
      })
      expect({ made: made >= place, crashes }, `${fault} at write ${place}`).toEqual({
        made: true,
        crashes: crash ? 1 : 0,
      })
    }
    if (onlyPlace === 0) expect(synced).toEqual(new Set(['rows', 'signs']))
  },
)

it('validators that crash as they prevote for no block, locked on one, keep to it', async () => {
  const storm = { ...quiet(30_000), delay: [1, 300], muffled: 0.5 } as const
  let crashes = 0
  for (let seed = 1; seed <= rounds(3, 30); seed++) {
    const scenario = { ...plainScenario(seed, [storm]), crashWhenLocked: true }
    const report = await runNamed(
      `plain seed ${seed}`,
      'npx vitest run test/sim/crash.test.ts -t "keep to it"',
      scenario,
    )
    crashes += report.crashesWhenLocked
  }
  expect(crashes).toBeGreaterThan(rounds(0, 1))
})
