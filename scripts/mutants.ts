import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Baseline } from './mutants/baseline.js'
import { changedMutants, drawn, roomMutants } from './mutants/chosen.js'
import { flat, type Mutant } from './mutants/points.js'
import { RelatedTests } from './mutants/related.js'
import { Tree } from './mutants/tree.js'

/**
 * npm run mutants -- [--base COMMIT]: changes the lines that differ from COMMIT (main) one at a time, in a copy of the tree: a
 * comparison, a number, a condition, a bound, a statement. Runs the related tests on each. Prints each change that no test notices,
 * and exits with code 1 if those that explained.json does not explain are more than 5 %.
 *
 * npm run mutants -- --room consensus --seed 7 --count 300: that many changes of a room, chosen by the seed; --room may be repeated.
 * --jobs J: in J copies at once. --minutes M: as many as fit. --tests N: related test files a change, nearest first.
 * --at FILE:LINE: those of one line. --list: prints them and runs nothing.
 *
 * StrykerJS knows no changed numbers and no single left-out statements, cannot draw from a seed, and its first run of all tests
 * related to one small file took more than its five minutes.
 */

const { values } = parseArgs({
  options: {
    base: { type: 'string', default: 'main' },
    room: { type: 'string', multiple: true, default: [] },
    at: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: '7' },
    count: { type: 'string', default: '300' },
    jobs: { type: 'string', default: '1' },
    tests: { type: 'string', default: '8' },
    minutes: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
})

/** Ends of the shares of the related test files that run one after another, until one fails. */
const shares = [1, 4, Infinity]
/** Milliseconds beyond three times what tests take without a mutant. */
const patience = 30_000
/** Share of unexplained survivors at which the run fails, in percent. */
const mostSurvivors = 5
const explainedFile = 'test/mutants/explained.json'

/** A change that tests need not notice. */
interface Explained {
  readonly file: string
  readonly was: string
  readonly becomes: string
  readonly reason: string
}

interface Result {
  readonly mutant: Mutant
  readonly fate: 'killed' | 'endless' | 'explained' | 'survived'
}

const root = process.cwd()
const explained = JSON.parse(readFileSync(explainedFile, 'utf8')) as Explained[]
const endAt = values.minutes === undefined ? Infinity : Date.now() + 60_000 * Number(values.minutes)
process.exitCode = await main()

async function main(): Promise<number> {
  const stale = explained.filter(
    ({ file, was }) => !existsSync(file) || !flat(readFileSync(file, 'utf8')).includes(was),
  )
  for (const { file, was } of stale) console.log(`${explainedFile}: no line of ${file} reads any more: ${was}`)
  const mutants = chosen()
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
  const [count, seed] = [Number(values.count), Number(values.seed)]
  if (at.length > 0) {
    return at.flatMap((place) => {
      const [file = '', line] = place.split(':')
      return roomMutants(root, file.replace(/^src\//, '')).filter((mutant) => mutant.line === Number(line))
    })
  }
  if (rooms.length === 0) return drawn(changedMutants(root, values.base), count, seed)
  return rooms.flatMap((room) => drawn(roomMutants(root, room), count, seed))
}

/** Shares the mutants out to the jobs; each takes the next one when it is ready. */
async function resultsOf(mutants: readonly Mutant[]): Promise<Result[]> {
  const related = new RelatedTests(root)
  const results: Result[] = []
  // A budget of minutes may cut it off anywhere.
  const queue = drawn(mutants, mutants.length, Number(values.seed))
  const jobs = Array.from({ length: Number(values.jobs) }, async () => {
    const tree = new Tree(root)
    const baseline = new Baseline(tree)
    try {
      for (let next = queue.shift(); next !== undefined && Date.now() < endAt; next = queue.shift()) {
        const tests = related.of(next.file).slice(0, Number(values.tests))
        const result = await resultOf(next, tree, baseline, tests).catch((error: unknown) => {
          console.log(`not run   ${textOf(next as Mutant)}\n            ${String(error)}`)
        })
        if (result !== undefined) results.push(result)
      }
    } finally {
      tree.close()
    }
  })
  await Promise.all(jobs)
  return results
}

async function resultOf(mutant: Mutant, tree: Tree, baseline: Baseline, tests: readonly string[]): Promise<Result> {
  const reason = explained.find(
    (one) => one.file === mutant.file && one.was === mutant.was && one.becomes === mutant.becomes,
  )
  if (reason !== undefined) return shown({ mutant, fate: 'explained' }, reason.reason)
  for (const [i, end] of shares.entries()) {
    const some = tests.slice(shares[i - 1] ?? 0, end)
    const { passing, milliseconds } = await baseline.of(some)
    if (passing.length === 0) continue
    const outcome = await tree.outcome(mutant, { tests: passing, limit: 3 * milliseconds + patience })
    if (outcome === undefined) return shown({ mutant, fate: 'endless' }, 'the tests do not end in time')
    const [first] = outcome.failed
    if (first !== undefined) return shown({ mutant, fate: 'killed' }, first.join(' > '))
  }
  return shown({ mutant, fate: 'survived' }, `${tests.length} test files pass`)
}

function shown(result: Result, why: string): Result {
  console.log(`${result.fate.padEnd(9)} ${textOf(result.mutant)}\n            ${why}`)
  return result
}

function textOf({ file, line, kind, was, becomes }: Mutant): string {
  return `${file}:${line} (${kind})\n          - ${was}\n          + ${becomes}`
}

function report(results: readonly Result[], chosenCount: number): void {
  console.log('\nroom                    mutants  killed  endless  explained  survived')
  const widths = [7, 8, 9, 11, 10]
  const roomOf = ({ mutant: { file } }: Result) => {
    const named = values.room.find((room) => file.startsWith(`src/${room}/`))
    return named ?? (file.split('/')[1] as string)
  }
  for (const room of new Set(results.map(roomOf))) {
    const some = results.filter((result) => roomOf(result) === room)
    const count = (fate: Result['fate']) => some.filter((result) => result.fate === fate).length
    const cells = [some.length, count('killed'), count('endless'), count('explained'), count('survived')]
    console.log(room.padEnd(24) + cells.map((cell, i) => String(cell).padStart(widths[i] ?? 0)).join(''))
  }
  const survivors = results.filter(({ fate }) => fate === 'survived')
  console.log(`\n${survivors.length} of ${results.length} survive without an explanation, seed ${values.seed}`)
  const left = chosenCount - results.length
  if (left > 0) console.log(`${left} chosen ones were not run, for want of time or by an error`)
  survivors.forEach(({ mutant }) => console.log(textOf(mutant)))
}
