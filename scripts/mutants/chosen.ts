import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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

/** `count` of the mutants, chosen and ordered by a seed. A change of one line of the room changes the choice of no other line. */
export function drawn(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const seen = new Map<string, number>()
  const placed = mutants.map((mutant) => {
    const name = `${mutant.file}\n${mutant.was}\n${mutant.becomes}`
    const twin = seen.get(name) ?? 0
    seen.set(name, twin + 1)
    return { mutant, place: createHash('sha256').update(`${seed}\n${twin}\n${name}`).digest('hex') }
  })
  placed.sort((a, b) => (a.place < b.place ? -1 : 1))
  return placed.slice(0, count).map(({ mutant }) => mutant)
}

function all(root: string, path: string): Mutant[] {
  const file = join(root, path)
  return /\.tsx?$/.test(path) && existsSync(file) ? mutantsOf(path, readFileSync(file, 'utf8')) : []
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })
}
