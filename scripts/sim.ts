import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { describeScenario, runJoinSeed, runSeed, runSeeds, runSlowSeed, runStepSeed } from '../test/sim/run.js'
import { simulateSplit } from '../test/sim/split.js'
import { joinScenario } from '../test/sim/join.js'
import { scenarioOf } from '../test/sim/scenario.js'
import { slowScenario } from '../test/sim/slow.js'
import { stepScenario } from '../test/sim/step.js'
import { failedSeeds } from './seeds.js'
import { countIn, scriptArguments } from './script-arguments.js'

/**
 * npm run sim -- [--seeds N] [--from K] [--jobs J]: simulates N seeds beginning with K, in J processes. Prints each that breaks
 * an invariant, and exits with code 1 if there was one.
 *
 * npm run sim -- --seed S: simulates one seed again and prints every event.
 *
 * With --slow both simulate validators that are slow and have full pools; with --step nodes that join, come back, are cut off and
 * have wrong clocks, and what they say of DIDs meanwhile: 200 seeds unless --seeds says otherwise. With --join nodes that begin with
 * the state of peers, some of which lie, while they are killed and cut off: 100 seeds unless --seeds says otherwise. With --split a quorum
 * of validators that shows two histories to two readers, with witnesses: 300 seeds unless --seeds says otherwise.
 *
 * npm run sim -- --traces: simulates the seeds of test/sim/traces.json, and exits with code 1 if a course differs from the
 * file. Moving or renaming code must not change a course; other changes write the file again with --update.
 */

const { values } = scriptArguments(import.meta.url, {
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    seed: { type: 'string' },
    slow: { type: 'boolean', default: false },
    step: { type: 'boolean', default: false },
    join: { type: 'boolean', default: false },
    split: { type: 'boolean', default: false },
    traces: { type: 'boolean', default: false },
    update: { type: 'boolean', default: false },
    worker: { type: 'boolean', default: false },
  },
})

const run = values.slow ? runSlowSeed : runSeed
/** Simulations of one seed that have no tally. */
const single = values.split ? simulateSplit : values.join ? runJoinSeed : values.step ? runStepSeed : undefined
const defaultSeeds = values.split ? 300 : values.join ? 100 : values.step ? 200 : 10_000

process.exitCode = await main()

async function main(): Promise<number> {
  if (values.seed !== undefined) return replay(countIn('seed', values.seed))
  if (values.traces) return compareTraces()
  const { worker } = values
  const [from, jobs] = [countIn('from', values.from), countIn('jobs', values.jobs, 1)]
  const seeds = values.seeds === undefined ? defaultSeeds : countIn('seeds', values.seeds, 1)
  const started = Date.now()
  const kind = (['slow', 'step', 'join', 'split'] as const).filter((one) => values[one]).map((one) => `--${one}`)
  const args = (first: number, count: number) => ['--from', String(first), '--seeds', String(count), ...kind]
  const failed = await failedSeeds({ from, seeds, jobs, worker }, args, runRange)
  if (worker) return 0
  console.log(`${seeds} seeds from ${from} in ${Math.round((Date.now() - started) / 1000)} s, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

async function replay(seed: number): Promise<number> {
  console.log(describeScenario(drawn(seed)))
  try {
    const report = await (single ?? run)(seed, { print: (line) => console.log(line) })
    console.log(report)
    return 0
  } catch (error) {
    console.log(error)
    return 1
  }
}

function drawn(seed: number): Parameters<typeof describeScenario>[0] {
  if (values.join) return joinScenario(seed)
  if (values.step) return stepScenario(seed)
  return values.slow ? slowScenario(seed) : scenarioOf(seed)
}

/** Compares the digest of each recorded run with that of a new one. */
async function compareTraces(): Promise<number> {
  const file = new URL('../test/sim/traces.json', import.meta.url)
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  const traces: Record<string, string> = {}
  let changed = 0
  for (const [seed, before] of Object.entries(recorded)) {
    const { trace } = await runSeed(Number(seed))
    traces[seed] = trace
    if (trace === before) continue
    changed++
    console.log(`seed ${seed}: ${trace}, recorded ${before}`)
  }
  if (values.update) writeFileSync(file, JSON.stringify(traces, null, 2) + '\n')
  console.log(`${Object.keys(traces).length} seeds, ${changed} took another course`)
  return changed > 0 && !values.update ? 1 : 0
}

/** Runs seeds and returns how many failed. */
async function runRange(from: number, seeds: number): Promise<number> {
  let failed = 0
  for (let seed = from; seed < from + seeds; seed++) {
    for (const failure of await failuresOf(seed)) {
      failed++
      console.log(failure)
    }
  }
  return failed
}

async function failuresOf(seed: number): Promise<readonly string[]> {
  if (single === undefined) return (await runSeeds(seed, 1, {}, run)).failures
  try {
    await single(seed)
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
