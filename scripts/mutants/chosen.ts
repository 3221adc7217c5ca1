import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SeededRandom } from '../../test/support/builders/seeded-random.js'
import { type Mutant, mutantsOf } from './points.js'

/** Mutants of the lines of `src` that differ from a commit, those of uncommitted changes too. */
export function changedMutants(root: string, base: string): Mutant[] {
  const lines = new Map<string, Set<number>>()
  let file = ''
  for (const line of git(root, 'diff', '-U0', '--merge-base', base, '--', 'src').split('\n')) {
    file = /^\+\+\+ b\/(.*)/.exec(line)?.[1] ?? file
    const [, from, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (from === undefined) continue
    const changed = lines.get(file) ?? new Set<number>()
    for (let i = 0; i < Number(count); i++) changed.add(Number(from) + i)
    lines.set(file, changed)
  }
  return [...lines].flatMap(([path, changed]) => all(root, path).filter(({ line }) => changed.has(line)))
}

/** Mutants of all files of a room, as `consensus` or `network/peers`. */
export function roomMutants(root: string, room: string): Mutant[] {
  const listed = git(root, 'ls-files', '-co', '--exclude-standard', '--', `src/${room}`)
  return listed
    .split('\n')
    .filter((path) => path !== '')
    .flatMap((path) => all(root, path))
}

/** `count` of the mutants, chosen and ordered by a seed. */
export function drawn(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = new SeededRandom(seed)
  const left = [...mutants.keys()]
  for (let i = left.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    ;[left[i], left[j]] = [left[j] as number, left[i] as number]
  }
  return left.slice(0, count).map((i) => mutants[i] as Mutant)
}

function all(root: string, path: string): Mutant[] {
  const file = join(root, path)
  return /\.tsx?$/.test(path) && existsSync(file) ? mutantsOf(path, readFileSync(file, 'utf8')) : []
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })
}
