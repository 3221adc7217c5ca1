import { Chance } from '../support/builders/chance.js'
import type { Scenario } from './scenario.js'
import { fairWeather } from '../support/network/memory-network.js'

/** Validators with too little of a processor for the blocks that their pools would fill. */

/** A block that is full takes half of a view on a node as fast as it should be. */
const inBlock = 256
/** Milliseconds for a transaction, at normal speed. */
const select = 0.8
const check = 1.6

export function slowScenario(seed: number): Scenario {
  const chance = new Chance(seed).fork('slow')
  const nodes = chance.pick([4, 4, 5, 7])
  const validators = Array.from({ length: nodes }, (_, node) => node)
  const faulty = Math.floor((nodes - 1) / 3)
  const absent = new Set(chance.shuffled(validators).slice(0, chance.pick([0, 0, faulty])))
  const slowness = () => chance.pick([20, 20, chance.between(10, 20)])
  const costs = validators.map(() => {
    const factor = slowness()
    return { select: select * factor, check: check * factor, disk: factor }
  })
  return {
    seed,
    plan: { validators, emptyInterval: 1_000, crowd: { transactions: 4 * inBlock, inBlock } },
    nodes,
    traitors: new Map(),
    forgetful: new Set(),
    skews: validators.map(() => chance.pick([0, 0, chance.between(-2_000, 2_000)])),
    rates: validators.map(() => 1 + (chance.fraction() - 0.5) / 50),
    storms: [],
    calm: [fairWeather.delay[0], chance.pick([10, 100, 400])],
    crashWhenLocked: false,
    transactions: 0,
    strain: { costs, absent, heights: 3 },
  }
}
