import { expect, it } from 'vitest'
import { plainScenario } from './plain.js'
import type { Fault, Write } from './disk.js'
import type { SimulatedNode } from './node.js'
import { quiet } from './scenario.js'
import { simulate } from './world.js'

/** Long enough for some blocks. */
const length = 4_000

it.each<Fault>(['crash-before', 'crash-after'])(
  'a validator that crashes at any one of its writes (%s) comes back and goes on',
  { timeout: 300_000 },
  async (fault) => {
    const scenario = plainScenario(1, [quiet(length)])
    let writes = 0
    const count = (node: SimulatedNode): undefined => {
      if (node.number === 0) writes++
    }
    await simulate(scenario, { tampering: { fault: count } })
    const places = writes
    expect(places).toBeGreaterThan(10)
    const synced: Write[] = []
    for (let place = 1; place <= places; place++) {
      let made = 0
      const crash = (node: SimulatedNode, write: Write) => {
        if (node.number !== 0 || ++made !== place) return undefined
        if (write.synced) synced.push(write)
        return fault
      }
      const { crashes } = await simulate(scenario, { tampering: { fault: crash } })
      expect(crashes).toBe(1)
    }
    expect(new Set(synced.map(({ what }) => what))).toEqual(new Set(['rows', 'signs']))
  },
)

it('validators that crash as they prevote for no block, locked on one, keep to it', { timeout: 300_000 }, async () => {
  const storm = { ...quiet(30_000), delay: [1, 300], muffled: 0.5 } as const
  let crashes = 0
  for (let seed = 1; seed <= 10; seed++) {
    const scenario = { ...plainScenario(seed, [storm]), crashWhenLocked: true }
    crashes += (await simulate(scenario)).crashesWhenLocked
  }
  expect(crashes).toBeGreaterThan(1)
})
