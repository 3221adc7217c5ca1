import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { BaseChain, checkCut, damage, lastBatches, settle } from '../test/crash/damaged-chain.js'
import { SeededRandom } from '../test/support/builders/seeded-random.js'
import { countIn, scriptArguments } from './script-arguments.js'

/**
 * npm run damage -- [--rounds N] [--seed S]: damages files of a chain at random positions, N times. Checks that every command
 * names the damage and that reindex repairs it. Then, without --no-cuts, cuts the log at every byte of its last two batches. Exit
 * code 1 if a round or a cut fails; each failure is printed.
 */

const { values } = scriptArguments(import.meta.url, {
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    'no-cuts': { type: 'boolean', default: false },
    from: { type: 'string', default: '1' },
  },
})
const [rounds, seed] = [countIn('rounds', values.rounds), countIn('seed', values.seed)]
const from = countIn('from', values.from)

const base = await BaseChain.build(new SeededRandom(seed))
const [started, kinds] = [process.cpuUsage(), new Map<string, number>()]
let failed = 0
for (let round = from; round < from + rounds; round++) {
  const random = new SeededRandom((seed ^ Math.imul(round, 0x9e3779b1)) >>> 0)
  const directory = base.copy()
  const what = damage(join(directory, 'chain'), random)
  // Written before any read: a process that LevelDB aborts prints nothing more.
  process.stderr.write(`round ${round}: ${what}\n`)
  try {
    const { named, lost } = await settle(base, directory, random)
    const outcome = `${named ? 'named' : 'harmless'}, ${lost === 0 ? 'all mended' : 'blocks lost'}`
    process.stderr.write(`  ${outcome}\n`)
    kinds.set(outcome, (kinds.get(outcome) ?? 0) + 1)
  } catch (error) {
    failed++
    console.log(`round ${round} of seed ${seed} (${what}): ${error instanceof Error ? error.stack : String(error)}`)
  }
  rmSync(directory, { recursive: true, force: true })
}
const log = await lastBatches(base, 2)
const [begin = 0, end = 0] = [log.ends[0], log.ends.at(-1)]
let cuts = 0
for (let at = begin; !values['no-cuts'] && at <= end; at++, cuts++) {
  await checkCut(base, log, at).catch((error: unknown) => {
    failed++
    console.log(`seed ${seed}: ${String(error)}`)
  })
}
base.remove()
const seconds = Math.round((process.cpuUsage(started).user + process.cpuUsage(started).system) / 1e6)
console.log(
  `${rounds} rounds and ${cuts} cuts of seed ${seed}: ${failed} failed`,
  Object.fromEntries(kinds),
  `${seconds} s of processor`,
)
process.exitCode = failed > 0 ? 1 : 0
