import { readFileSync } from 'node:fs'
import { cruise, format, type ICruiseResult } from 'dependency-cruiser'
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config'

/**
 * npm run layers: checks the imports between files of `src` (scripts/config/layers.cjs) and what the head of each room says of
 * them, and prints the number of rooms and arrows. A room is an entry of `src`; an arrow is an ordered pair of rooms with an import
 * between them.
 */

const options = await extractOptions('./scripts/config/layers.cjs')
const { output } = await cruise(['src'], options, undefined, { tsConfig: extractTsConfig('tsconfig.json') })
const result = output as ICruiseResult
const report = await format(result, { outputType: 'err' })
console.log(report.output)
const faults = wrongHeads()
for (const fault of faults) console.log(`  error head: ${fault}`)
console.log(count('src/'))
for (const room of ['network', 'voting']) console.log(count(`src/${room}/`))
process.exitCode = report.exitCode === 0 && faults.length === 0 ? 0 : 1

/** The entries of one folder, and the arrows between them. */
function count(folder: string): string {
  const { rooms, arrows, files } = structureOf(folder)
  return `${folder}: ${rooms.size} entries, ${arrows.length} arrows, ${files} files`
}

function structureOf(folder: string): { rooms: Set<string>; arrows: (readonly [string, string])[]; files: number } {
  const roomOf = (path: string) => path.slice(folder.length).split('/')[0] as string
  const inside = result.modules.filter(({ source }) => source.startsWith(folder))
  const arrows = new Map<string, readonly [string, string]>()
  for (const { source, dependencies } of inside) {
    for (const { resolved } of dependencies) {
      if (!resolved.startsWith(folder) || roomOf(resolved) === roomOf(source)) continue
      arrows.set(`${roomOf(source)} ${roomOf(resolved)}`, [roomOf(source), roomOf(resolved)])
    }
  }
  const rooms = new Set(inside.map(({ source }) => roomOf(source)))
  return { rooms, arrows: [...arrows.values()], files: inside.length }
}

/** What heads say wrongly of the imports of their rooms, and rooms without a head. */
function wrongHeads(): string[] {
  const { rooms, arrows } = structureOf('src/')
  const folders = [...rooms].filter((room) => !room.endsWith('.ts'))
  return folders.flatMap((room) => {
    const files = result.modules
      .map(({ source }) => source)
      .filter((file) => new RegExp(`^src/${room}/[^/]+$`).test(file))
    const head = files.map(headOf).find((text) => text !== undefined)
    if (head === undefined) return [`src/${room} has no head that says what it imports`]
    const others = folders.filter((other) => other !== room)
    const imports = arrows.filter(([from]) => from === room).map(([, to]) => to)
    const users = arrows.filter(([, to]) => to === room).map(([from]) => from)
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
