import { scenarioOf } from './scenario.js'
import { type Report, type RunOptions, simulate } from './world.js'

/** Simulates a seed. A broken promise is thrown with the seed and how to see it again. */
export async function runSeed(seed: number, options: RunOptions = {}): Promise<Report> {
  try {
    return await simulate(scenarioOf(seed), options)
  } catch (error) {
    const what = error instanceof Error ? (error.name === 'Violation' ? error.message : error.stack) : String(error)
    throw new Error(`seed ${seed}: ${what}\nto see it again: npm run sim -- --seed ${seed}`, { cause: error })
  }
}

/** What a seed stands for, as text. */
export function describeSeed(seed: number): string {
  return JSON.stringify(scenarioOf(seed), (_, value: unknown) => (value instanceof Map ? [...value] : value), 2)
}
