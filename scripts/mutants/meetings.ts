import type { FileCoverage, Meeting, Trial } from './plan.js'
import type { RelatedTests } from './related.js'
import type { Numbered } from './switches.js'

/** Most test files of a change that tests meet only by loading its module. */
const mostReloads = 12

/** Tests for one mutant: its namesake first, then those that take least. */
export function meetingsOf(
  mutant: Numbered,
  coverages: readonly FileCoverage[],
  related: RelatedTests,
): Pick<Trial, 'reloads' | 'meetings'> {
  const sound = coverages.filter(({ failed }) => failed === undefined)
  const met = sound.flatMap((coverage) => meetingOf(mutant.id, coverage) ?? [])
  const nearest = related.of(mutant.file)
  if (met.length > 0 && !mutant.once) {
    const rank = ({ file, milliseconds }: Meeting) => milliseconds / (file === nearest[0] ? 10 : 1)
    return { reloads: false, meetings: met.sort((a, b) => rank(a) - rank(b)) }
  }
  const byFile = new Map(sound.map((coverage) => [coverage.file, coverage]))
  const near = nearest.slice(0, mostReloads).flatMap((file): Meeting[] => {
    const coverage = byFile.get(file)
    return coverage === undefined ? [] : [{ file, tests: 'all', milliseconds: wholeOf(coverage) }]
  })
  // A row of test/limits bears the name of the constant.
  const stem = mutant.file.replace(/^src\//, '').replace(/\.tsx?$/, '.')
  const named = sound.flatMap((coverage): Meeting[] => {
    const tests = coverage.names.flatMap((name, i) => (name.includes(stem) ? [i] : []))
    return tests.length === 0 ? [] : [{ file: coverage.file, tests, milliseconds: timeOf(coverage, tests) }]
  })
  return { reloads: true, meetings: [...named, ...near] }
}

function meetingOf(id: number, coverage: FileCoverage): Meeting | undefined {
  const { file, whole, tests } = coverage
  if (whole.includes(id)) return { file, tests: 'all', milliseconds: wholeOf(coverage) }
  const some = tests.flatMap((met, i) => (met.includes(id) ? [i] : []))
  if (some.length === 0) return undefined
  return { file, tests: some, milliseconds: timeOf(coverage, some) }
}

function timeOf({ milliseconds, testMilliseconds }: FileCoverage, tests: readonly number[]): number {
  return tests.reduce((sum, i) => sum + (testMilliseconds[i] ?? 0), milliseconds)
}

function wholeOf({ milliseconds, testMilliseconds }: FileCoverage): number {
  return testMilliseconds.reduce((a, b) => a + b, milliseconds)
}
