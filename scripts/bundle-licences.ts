import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The licences of packages inside bundles: most ask that their text goes along with each copy. */

interface PackageFile {
  readonly name: string
  readonly version: string
  readonly license?: string
}

const licenceFile = /^(licen[cs]e|copying|notice)/i

/**
 * The text that goes along with bundles: for each package name, version and licence, sorted by name.
 * @param inputs Files that are in a bundle, from `root`.
 */
export function licencesOf(inputs: Iterable<string>, root: string): string {
  const folders = new Set<string>()
  for (const file of inputs) {
    const [folder] = /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file) ?? []
    if (folder !== undefined) folders.add(folder)
  }
  const sections = [...folders].map((folder) => sectionOf(join(root, folder)))
  const head =
    'Programs and modules in this folder contain the following packages, each under the licence that is given with it.\n'
  return [head, ...[...new Set(sections)].sort()].join(`\n${'-'.repeat(80)}\n\n`)
}

function sectionOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFile
  const texts = readdirSync(folder)
    .filter((file) => licenceFile.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (license === undefined && texts.length === 0)
    throw new Error(`the package ${name} has no licence: it cannot be bundled`)
  return `${[`${name} ${version}: ${license ?? 'licence below'}`, ...texts].join('\n\n')}\n`
}
