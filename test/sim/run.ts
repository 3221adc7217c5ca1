import { type JoinReport, type JoinScenario, joinScenario, type JoinTampering, simulateJoin } from './join.js'
import { type Scenario, scenarioOf } from './scenario.js'
import { slowScenario } from './slow.js'
import { simulateStep, stepScenario, type StepReport, type StepScenario } from './step.js'
import { type Report, type RunOptions, simulate } from './world.js'

/** Simulates a seed. A broken promise is thrown with the seed and how to see it again. */
export function runSeed(seed: number, options: RunOptions = {}): Promise<Report> {
  return runNamed(`seed ${seed}`, `npm run sim -- --seed ${seed}`, scenarioOf(seed), options)
}

/** Simulates slow validators with full pools. A broken promise is thrown like that of {@link runSeed}. */
export function runSlowSeed(seed: number, options: RunOptions = {}): Promise<Report> {
  return runNamed(`slow seed ${seed}`, `npm run sim -- --slow --seed ${seed}`, slowScenario(seed), options)
}

/** Simulates nodes that join, come back and have wrong clocks. A broken promise is thrown like that of {@link runSeed}. */
export async function runStepSeed(seed: number, { print }: Pick<RunOptions, 'print'> = {}): Promise<StepReport> {
  const command = `npm run sim -- --step --seed ${seed}`
  return named(`step seed ${seed}`, command, () => simulateStep(stepScenario(seed), print))
}

/** Simulates nodes that join by the state of peers. A broken promise is thrown like that of {@link runSeed}. */
export async function runJoinSeed(
  seed: number,
  { print, tampering }: Pick<RunOptions, 'print'> & { readonly tampering?: JoinTampering } = {},
): Promise<JoinReport> {
  const command = `npm run sim -- --join --seed ${seed}`
  return named(`join seed ${seed}`, command, () => simulateJoin(joinScenario(seed), print, tampering))
}

/** Simulates a scenario. A broken promise is thrown with its name and the command that shows it again. */
export async function runNamed(
  name: string,
  command: string,
  scenario: Scenario,
  options: RunOptions = {},
): Promise<Report> {
  return named(name, command, () => simulate(scenario, options))
}

async function named<Result>(name: string, command: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    const what = error instanceof Error ? (error.name === 'Violation' ? error.message : error.stack) : String(error)
    throw new Error(`${name}: ${what}\nto see it again: ${command}`, { cause: error })
  }
}

/** What many runs came to together. */
export interface Tally {
  /** One text for each seed that broke a promise. */
  readonly failures: readonly string[]
  readonly crashes: number
  readonly crashesOnStart: number
  readonly crashesWhenLocked: number
  /** Traitors, of all runs, that an honest node holds evidence against. */
  readonly accused: number
  readonly mined: number
}

/** Simulates `count` seeds from `first` on, and goes on when one fails. */
export async function runSeeds(
  first: number,
  count: number,
  options: RunOptions = {},
  run: typeof runSeed = runSeed,
): Promise<Tally> {
  const failures: string[] = []
  const reports: Report[] = []
  for (let seed = first; seed < first + count; seed++) {
    try {
      reports.push(await run(seed, options))
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  const sum = (of: (report: Report) => number) => reports.reduce((total, report) => total + of(report), 0)
  return {
    failures,
    crashes: sum(({ crashes }) => crashes),
    crashesOnStart: sum(({ crashesOnStart }) => crashesOnStart),
    crashesWhenLocked: sum(({ crashesWhenLocked }) => crashesWhenLocked),
    accused: sum(({ accused }) => accused.length),
    mined: sum(({ mined }) => mined),
  }
}

/** What happens in a scenario, as text. */
export function describeScenario(scenario: Scenario | StepScenario | JoinScenario): string {
  const plain = (value: unknown) =>
    value instanceof Map || value instanceof Set ? [...(value as Set<unknown>)] : value
  return JSON.stringify(scenario, (_, value: unknown) => plain(value), 2)
}
