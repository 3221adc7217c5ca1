import { existsSync, readFileSync } from 'node:fs'
import { changedMutants, drawn, roomMutants } from './mutants/chosen.js'
import { type Ended, Jobs } from './mutants/jobs.js'
import { meetingsOf } from './mutants/meetings.js'
import { flat, type Mutant } from './mutants/points.js'
import type { FileCoverage, Trial } from './mutants/plan.js'
import { RelatedTests } from './mutants/related.js'
import type { Numbered } from './mutants/switches.js'
import { Tree } from './mutants/tree.js'
import { countIn, numberIn, scriptArguments } from './script-arguments.js'

/**
 * npm run mutants -- [--base COMMIT]: changes the lines that differ from COMMIT (main) one at a time, in a copy of the tree: a
 * comparison, a number, a condition, a bound, a statement. Runs the tests that meet each of them. Prints each change that no test
 * notices, and exits with code 1 if those that explained.json does not explain are more than 5 %.
 *
 * npm run mutants -- --room ledger/consensus --seed 7 --count 300: that many changes of a room, chosen by the seed; --room may be repeated.
 * --jobs J: in J processes. --minutes M: as many as fit. --seconds S: of tests a change, the most telling first.
 * --at FILE:LINE: those of one line. --again FILE: of those chosen, the survivors that a run before has printed into FILE, as with more
 * seconds. --list: prints them and runs nothing.
 *
 * All changes are in the tree at once, each behind a switch, so that modules are loaded once. A first run of the tests writes down
 * which of them meet which change. Changes of what a module does when it is loaded are tried with all modules loaded anew.
 *
 * StrykerJS knows no changed numbers and no single left-out statements, cannot draw from a seed, and its first run of all tests
 * related to one small file took more than its five minutes.
 */

const { values } = scriptArguments(import.meta.url, {
  options: {
    base: { type: 'string', default: 'main' },
    room: { type: 'string', multiple: true, default: [] },
    at: { type: 'string', multiple: true, default: [] },
    again: { type: 'string' },
    seed: { type: 'string', default: '7' },
    count: { type: 'string', default: '300' },
    jobs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '20' },
    minutes: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
})

/** Share of unexplained survivors at which the run fails, in percent. */
const mostSurvivors = 5
/** Share of the test files that may fail without a change. */
const mostFailing = 0.02
const explainedFile = 'test/mutants/explained.json'

/** A change that tests need not notice. */
interface Explained extends Change {
  readonly reason: string
}

/** A line, before and after. */
type Change = Pick<Mutant, 'file' | 'was' | 'becomes'>

interface Result {
  readonly mutant: Mutant
  readonly fate: Ended['fate'] | 'explained'
}

const root = process.cwd()
const explained = (existsSync(explainedFile) ? JSON.parse(readFileSync(explainedFile, 'utf8')) : []) as Explained[]
const endAt = values.minutes === undefined ? Infinity : Date.now() + 60_000 * numberIn('minutes', values.minutes)
process.exitCode = await main()

async function main(): Promise<number> {
  const stale = explained.filter(
    ({ file, was }) => !existsSync(file) || !flat(readFileSync(file, 'utf8')).includes(was),
  )
  for (const { file, was } of stale) console.log(`${explainedFile}: no line of ${file} reads any more: ${was}`)
  const survived = values.again === undefined ? undefined : survivorsIn(readFileSync(values.again, 'utf8'))
  const mutants = chosen().filter((mutant) => survived?.has(keyOf(mutant)) !== false)
  if (values.list) {
    mutants.forEach((mutant) => console.log(textOf(mutant)))
    return stale.length > 0 ? 1 : 0
  }
  const results = await resultsOf(mutants)
  report(results, mutants.length)
  const survivors = results.filter(({ fate }) => fate === 'survived').length
  return stale.length > 0 || 100 * survivors > mostSurvivors * results.length ? 1 : 0
}

function chosen(): Mutant[] {
  const { room: rooms, at } = values
  const [count, seed] = [countIn('count', values.count, 1), countIn('seed', values.seed)]
  if (at.length > 0) {
    return at.flatMap((place) => {
      const [file = '', line] = place.split(':')
      return roomMutants(root, file.replace(/^src\//, '')).filter((mutant) => mutant.line === Number(line))
    })
  }
  if (rooms.length === 0) return drawn(changedMutants(root, values.base), count, seed)
  return rooms.flatMap((room) => drawn(roomMutants(root, room), count, seed))
}

/** First what the tests meet, then the trials. */
async function resultsOf(chosenOnes: readonly Mutant[]): Promise<Result[]> {
  const reasons = new Map(explained.map((one) => [keyOf(one), one.reason]))
  const reasonOf = (mutant: Mutant) => mutant.unseen ?? reasons.get(keyOf(mutant))
  const results: Result[] = []
  const show = (mutant: Mutant, fate: Result['fate'], why: string) => {
    console.log(`${fate.padEnd(9)} ${textOf(mutant)}\n            ${why}`)
    results.push({ mutant, fate })
  }
  for (const mutant of chosenOnes) {
    const reason = reasonOf(mutant)
    if (reason !== undefined) show(mutant, 'explained', reason)
  }
  // A budget of minutes may cut it off anywhere.
  const open = drawn(
    chosenOnes.filter((mutant) => reasonOf(mutant) === undefined),
    chosenOnes.length,
    countIn('seed', values.seed),
  )
  const mutants = open.map((mutant, i): Numbered => ({ ...mutant, id: i + 1 }))
  const tree = new Tree(root)
  try {
    const related = new RelatedTests(tree.root)
    const files = [...new Set(mutants.flatMap(({ file }) => related.of(file)))]
    console.log(`${mutants.length} changes, ${files.length} test files`)
    const coverages: FileCoverage[] = []
    await withJobs(tree, { covers: (coverage) => coverages.push(coverage) }, { mutants, files, trials: [] })
    const failing = coverages.filter(({ failed }) => failed !== undefined)
    for (const { file, failed } of failing) console.log(`left out, as it fails without a change: ${file} > ${failed}`)
    // Where many tests do not run, most changes would count as survivors.
    if (failing.length > mostFailing * files.length)
      throw new Error(`${failing.length} of ${files.length} test files fail`)
    const trials = mutants.map((mutant): Trial => {
      const { reloads, meetings } = meetingsOf(mutant, coverages, related)
      return { id: mutant.id, reloads, meetings: affordable(meetings) }
    })
    await withJobs(
      tree,
      {
        ends: ({ id, fate, why }) => {
          const isMet = trials.some((trial) => trial.id === id && trial.meetings.length > 0)
          show(mutants[id - 1] as Mutant, fate, isMet ? why : 'no test meets it')
        },
      },
      { mutants, files: [], trials },
    )
  } finally {
    tree.close()
  }
  return results
}

/** The first meetings, as many as fit into the time for one mutant: at least one. */
function affordable(meetings: Trial['meetings']): Trial['meetings'] {
  let left = 1000 * numberIn('seconds', values.seconds)
  return meetings.filter(({ milliseconds }, i) => (left -= milliseconds) >= 0 || i === 0)
}

async function withJobs(tree: Tree, seen: ConstructorParameters<typeof Jobs>[1], plan: Parameters<Jobs['run']>[0]) {
  const jobs = new Jobs(tree.root, seen)
  const close = () => {
    jobs.close()
    tree.close()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, close)
  try {
    await jobs.run(plan, { jobs: countIn('jobs', values.jobs, 1), endAt })
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, close)
    jobs.close()
  }
}

/** The keys of the survivors that a run has printed. */
function survivorsIn(printed: string): Set<string> {
  const found = printed.matchAll(/^survived +(\S+):\d+ \(.*\n +- (.*)\n +\+ (.*)$/gm)
  return new Set([...found].map(([, file = '', was = '', becomes = '']) => keyOf({ file, was, becomes })))
}

function keyOf({ file, was, becomes }: Change): string {
  return `${file}\n${was}\n${becomes}`
}

function textOf({ file, line, kind, was, becomes }: Mutant): string {
  return `${file}:${line} (${kind})\n          - ${was}\n          + ${becomes}`
}

function report(results: readonly Result[], chosenCount: number): void {
  console.log('\nroom                    mutants  killed  endless  explained  doubtful  survived')
  const widths = [7, 8, 9, 11, 10, 10]
  const roomOf = ({ mutant: { file } }: Result) => {
    const named = values.room.find((room) => file.startsWith(`src/${room}/`))
    return named ?? file.split('/').slice(1, 3).join('/')
  }
  for (const room of new Set(results.map(roomOf))) {
    const some = results.filter((result) => roomOf(result) === room)
    const count = (fate: Result['fate']) => some.filter((result) => result.fate === fate).length
    const counts = (['killed', 'endless', 'explained', 'doubtful', 'survived'] as const).map(count)
    const cells = [some.length, ...counts].map((cell, i) => String(cell).padStart(widths[i] ?? 0))
    console.log(room.padEnd(24) + cells.join(''))
  }
  const survivors = results.filter(({ fate }) => fate === 'survived')
  console.log(`\n${survivors.length} of ${results.length} survive without an explanation, seed ${values.seed}`)
  const left = chosenCount - results.length
  if (left > 0) console.log(`${left} chosen ones were not run, for want of time`)
  survivors.forEach(({ mutant }) => console.log(textOf(mutant)))
}
