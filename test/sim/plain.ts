import type { Scenario, Storm } from './scenario.js'
import { fairWeather } from '../support/network/memory-network.js'

/** Four honest validators with right clocks. */
export function plainScenario(seed: number, storms: readonly Storm[]): Scenario {
  return {
    seed,
    plan: { validators: [0, 1, 2, 3], emptyInterval: 1_000 },
    nodes: 4,
    traitors: new Map(),
    forgetful: new Set(),
    skews: [0, 0, 0, 0],
    rates: [1, 1, 1, 1],
    storms,
    calm: fairWeather.delay,
    crashWhenLocked: false,
    transactions: 6,
  }
}
