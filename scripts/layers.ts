import { cruise, format, type ICruiseResult } from 'dependency-cruiser'
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config'

/**
 * npm run layers: checks the imports between files of `src` (scripts/config/layers.cjs), and prints the number of rooms and
 * arrows. A room is an entry of `src`; an arrow is an ordered pair of rooms with an import between them.
 */

const options = await extractOptions('./scripts/config/layers.cjs')
const { output } = await cruise(['src'], options, undefined, { tsConfig: extractTsConfig('tsconfig.json') })
const result = output as ICruiseResult
const report = await format(result, { outputType: 'err' })
console.log(report.output)
console.log(count('src/'))
for (const room of ['network', 'voting']) console.log(count(`src/${room}/`))
process.exitCode = report.exitCode

/** The entries of one folder, and the arrows between them. */
function count(folder: string): string {
  const roomOf = (path: string) => path.slice(folder.length).split('/')[0] as string
  const inside = result.modules.filter(({ source }) => source.startsWith(folder))
  const arrows = new Set<string>()
  for (const { source, dependencies } of inside) {
    for (const { resolved } of dependencies) {
      if (!resolved.startsWith(folder) || roomOf(resolved) === roomOf(source)) continue
      arrows.add(`${roomOf(source)} → ${roomOf(resolved)}`)
    }
  }
  const rooms = new Set(inside.map(({ source }) => roomOf(source)))
  return `${folder}: ${rooms.size} entries, ${arrows.size} arrows, ${inside.length} files`
}
