import { availableParallelism } from 'node:os'
import { issuerChanges, replayedProofs } from '../test/pools/attacks.js'
import { brokenBy, junkAttack, wholeAttack } from '../test/pools/junk.js'
import { leafAttack, wholeLeafAttack } from '../test/pools/leaves.js'
import { runSeed, runSeeds } from '../test/pools/run.js'
import { poolsOfSeed } from '../test/pools/world.js'
import { failedSeeds } from './seeds.js'
import { countIn, scriptArguments } from './script-arguments.js'

/**
 * npm run pools -- [--pools N] [--from K] [--jobs J]: runs N random pools, beginning with seed K, in J processes.
 * Prints each seed that breaks an invariant, and exits with code 1 if there was one.
 *
 * npm run pools -- --seed S: the pools of one seed again.
 * npm run pools -- --attacks: only the attacks at full size, which come after the random pools otherwise.
 */

const { values } = scriptArguments(import.meta.url, {
  options: {
    pools: { type: 'string', default: '10000' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    seed: { type: 'string' },
    attacks: { type: 'boolean', default: false },
    worker: { type: 'boolean', default: false },
  },
})

/** Attacks on a pool at full size; each gives the sentences that did not hold. */
const attacks: readonly (() => Promise<readonly string[]>)[] = [
  () => leafAttack(wholeLeafAttack, { minimum: '100', perByte: '1', freeBytes: 1024, leaf: '1200' }),
  async () => brokenBy(await junkAttack(wholeAttack)),
  () => measured(replayedProofs({ blocks: 3, junk: 24, honest: 1500 })),
  () => measured(issuerChanges({ holders: 11_000, blocks: 5 })),
]

process.exitCode = await main()

async function main(): Promise<number> {
  if (values.attacks) return runAttacks()
  if (values.seed !== undefined) {
    console.log(await runSeed(countIn('seed', values.seed)))
    return 0
  }
  const { worker } = values
  const [from, jobs] = [countIn('from', values.from), countIn('jobs', values.jobs, 1)]
  const seeds = Math.ceil(countIn('pools', values.pools, 1) / poolsOfSeed)
  const args = (first: number, count: number) => ['--from', String(first), '--pools', String(count * poolsOfSeed)]
  const failed = await failedSeeds({ from, seeds, jobs, worker }, args, runRange)
  if (worker) return 0
  console.log(`${seeds * poolsOfSeed} pools of ${seeds} seeds from ${from}, ${failed} seeds failed`)
  return failed > 0 ? 1 : runAttacks()
}

async function runAttacks(): Promise<number> {
  const broken: string[] = []
  for (const attack of attacks) broken.push(...(await attack()))
  broken.forEach((sentence) => console.log(sentence))
  return broken.length > 0 ? 1 : 0
}

/** Runs an attack that rejects with what does not hold. */
async function measured(attack: Promise<string>): Promise<readonly string[]> {
  console.log(await attack)
  return []
}

async function runRange(from: number, seeds: number): Promise<number> {
  const { failures, tally } = await runSeeds(from, seeds)
  failures.forEach((failure) => console.log(failure))
  console.log(tally)
  return failures.length
}
