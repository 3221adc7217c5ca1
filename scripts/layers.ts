import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { cruise, format, type ICruiseResult } from 'dependency-cruiser'
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config'

/**
 * npm run layers: checks the imports between files of `src` (scripts/config/layers.cjs) and what the head of each room says of
 * them, and prints the number of wings, rooms and arrows. A wing is an entry of `src`, a room a folder of a wing; an arrow is an
 * ordered pair of them with an import between them. Where neither imports nor heads changed since it passed, it passes again.
 */

/** Wings whose folders are parts of one room. */
const undivided = ['voting', 'network', 'explorer']

/** Inputs of the last run without a fault, and its output. */
const passed = 'node_modules/.cache/layers.json'
const inputs = inputsHash()
const last = existsSync(passed)
  ? (JSON.parse(readFileSync(passed, 'utf8')) as { inputs: string; counts: string })
  : undefined
if (last?.inputs === inputs) {
  console.log(last.counts)
  process.exit()
}
const options = await extractOptions('./scripts/config/layers.cjs')
const { output } = await cruise(['src'], options, undefined, { tsConfig: extractTsConfig('tsconfig.json') })
const result = output as ICruiseResult
const report = await format(result, { outputType: 'err' })
console.log(report.output)
const faults = [...wings().flatMap(withoutPage), ...wrongHeads()]
for (const fault of faults) console.log(`  error head: ${fault}`)
const counts = [count('src/'), ...wings().map((wing) => count(`src/${wing}/`))].join('\n')
console.log(counts)
process.exitCode = report.exitCode === 0 && faults.length === 0 ? 0 : 1
if (process.exitCode === 0) {
  mkdirSync(dirname(passed), { recursive: true })
  writeFileSync(passed, JSON.stringify({ inputs, counts }))
}

/** A hash of all that this script reads: names of files, their imports and their heads, and how layers are declared. */
function inputsHash(): string {
  const hash = createHash('sha256')
  for (const file of ['scripts/layers.ts', 'scripts/config/layers.cjs', 'package-lock.json'])
    hash.update(readFileSync(file))
  for (const name of readdirSync('src', { recursive: true, encoding: 'utf8' }).sort()) {
    hash.update(`${name}\n`)
    if (!/\.tsx?$/.test(name)) continue
    const text = readFileSync(`src/${name}`, 'utf8')
    const imports = text.match(/^(?:import|export)\b[^;]*?\bfrom '[^']+'|^import '[^']+'|\bimport\('[^']+'\)/gm) ?? []
    hash.update(imports.join('\n')).update(/^(?:#![^\n]*\n)?\/\*\*[^]*?\*\//.exec(text)?.[0] ?? '')
  }
  return hash.digest('hex')
}

/** The entries of one folder, and the arrows between them. */
function count(folder: string): string {
  const { rooms, arrows, files } = structureOf((path) => entryOf(folder, path))
  return `${folder}: ${rooms.size} entries, ${arrows.length} arrows, ${files} files`
}

function entryOf(folder: string, path: string): string | undefined {
  return path.startsWith(folder) ? path.slice(folder.length).split('/')[0] : undefined
}

function wings(): string[] {
  const { rooms } = structureOf((path) => entryOf('src/', path))
  return [...rooms].filter((wing) => !wing.endsWith('.ts')).sort()
}

function withoutPage(wing: string): string[] {
  return existsSync(`src/${wing}/README.md`) ? [] : [`src/${wing} has no README.md that says what it owns`]
}

/** The room of a file: the folder of its wing, or the wing where that is a room itself. */
function roomOf(path: string): string | undefined {
  const [root, wing = '', room = ''] = path.split('/')
  if (root !== 'src' || wing.endsWith('.ts')) return undefined
  return undivided.includes(wing) || room.endsWith('.ts') ? wing : `${wing}/${room}`
}

/** Places of files, and the arrows between them. */
function structureOf(placeOf: (path: string) => string | undefined): {
  readonly rooms: Set<string>
  readonly arrows: (readonly [string, string])[]
  readonly files: number
} {
  const inside = result.modules.filter(({ source }) => placeOf(source) !== undefined)
  const arrows = new Map<string, readonly [string, string]>()
  for (const { source, dependencies } of inside) {
    for (const { resolved } of dependencies) {
      const [from, to] = [placeOf(source), placeOf(resolved)]
      if (from !== undefined && to !== undefined && from !== to) arrows.set(`${from} ${to}`, [from, to])
    }
  }
  const rooms = new Set(inside.map(({ source }) => placeOf(source) as string))
  return { rooms, arrows: [...arrows.values()], files: inside.length }
}

/** Faults of heads about the imports of their rooms, and rooms without a head. */
function wrongHeads(): string[] {
  const { rooms, arrows } = structureOf(roomOf)
  const nameOf = (room: string) => room.split('/').at(-1) as string
  return [...rooms].flatMap((room) => {
    const files = result.modules.map(({ source }) => source).filter((file) => dirname(file) === `src/${room}`)
    const head = files.map(headOf).find((text) => text !== undefined)
    if (head === undefined) return [`src/${room} has no head that says what it imports`]
    const others = [...rooms].filter((other) => other !== room).map(nameOf)
    const imports = arrows.filter(([from]) => from === room).map(([, to]) => nameOf(to))
    const users = arrows.filter(([, to]) => to === room).map(([from]) => nameOf(from))
    return [
      ...differences(`src/${room} imports`, imports, head.imports, others),
      ...(head.users === undefined ? [] : differences(`src/${room} is used by`, users, head.users, others)),
    ]
  })
}

/** The sentence "Imports a, b; used by c, d." at the head of a file. */
function headOf(file: string): { imports: string; users: string | undefined } | undefined {
  const comment = /^(?:#![^\n]*\n)?\/\*\*[^]*?\*\//.exec(readFileSync(file, 'utf8'))?.[0].replaceAll(/\n \*/g, '')
  const [, imports, users] = /\bImports ([^;]*);(?: used by ([^.;]*))?/.exec(comment ?? '') ?? []
  return imports === undefined ? undefined : { imports, users }
}

function differences(what: string, actual: readonly string[], said: string, rooms: readonly string[]): string[] {
  const [listed = '', except] = said.replaceAll(/\([^)]*\)/g, '').split('except')
  const named = (text: string) => rooms.filter((room) => text.split(/[\s,]+/).includes(room))
  const claimed = except === undefined ? named(listed) : rooms.filter((room) => !named(except).includes(room))
  const missing = rooms.filter((room) => actual.includes(room) && !claimed.includes(room))
  const untrue = claimed.filter((room) => !actual.includes(room))
  return [
    ...(missing.length > 0 ? [`${what} ${missing.join(', ')} as well`] : []),
    ...(untrue.length > 0 ? [`${what} no ${untrue.join(', ')}`] : []),
  ]
}
