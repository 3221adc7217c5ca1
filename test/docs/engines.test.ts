import { minVersion, satisfies } from 'semver'
import { expect, it } from 'vitest'
import { repositoryFile } from '../support/assert/markdown.js'

/** The versions of Node that packages ask for, against those that this one promises to run on. */

interface Manifest {
  readonly engines: { readonly node: string }
  readonly dependencies: Readonly<Record<string, string>>
  readonly overrides: Readonly<Record<string, string>>
  readonly resolutions: Readonly<Record<string, string>>
}

interface Locked {
  readonly engines?: { readonly node?: string } | readonly string[]
}

const manifest = JSON.parse(repositoryFile('package.json')) as Manifest
const { packages } = JSON.parse(repositoryFile('package-lock.json')) as { packages: Record<string, Locked> }
const least = minVersion(manifest.engines.node)?.version ?? ''

/** Locked packages that do not run on a version of Node, each with what it asks for. */
function refusing(locked: Readonly<Record<string, Locked>>, version: string): string[] {
  return Object.entries(locked).flatMap(([place, { engines }]) => {
    const wanted = engines === undefined || !('node' in engines) ? undefined : engines.node
    return wanted === undefined || satisfies(version, wanted) ? [] : [`${place} wants ${wanted}`]
  })
}

it('every package of the tree runs on the least version of Node', () => {
  expect(least).toMatch(/^\d+\.\d+\.\d+$/)
  expect(Object.keys(packages).length).toBeGreaterThan(100)
  expect(refusing(packages, least)).toEqual([])
})

it('a package that wants a later Node is found', () => {
  const tree = {
    a: { engines: { node: '>=22' } },
    b: { engines: { node: '>=18 || >=99' } },
    c: { engines: ['node'] },
    d: {},
  }
  expect(refusing(tree, least)).toEqual(['a wants >=22'])
})

it('other package managers get the versions that npm gets', () => {
  expect(manifest.resolutions).toEqual(manifest.overrides)
})

it('versions are pinned, and no override is needed by those who install the package', () => {
  for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  const reached = new Set<string>()
  const reach = (name: string, from: string) => {
    const place = placeOf(name, from)
    if (place === undefined || reached.has(place)) return
    reached.add(place)
    const { dependencies = {}, optionalDependencies = {} } = packages[place] as {
      dependencies?: Record<string, string>
      optionalDependencies?: Record<string, string>
    }
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) reach(next, place)
  }
  for (const name of Object.keys(manifest.dependencies)) reach(name, '')
  expect(reached.size).toBeGreaterThan(Object.keys(manifest.dependencies).length)
  const names = [...reached].map((place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length))
  expect(names.filter((name) => name in manifest.overrides)).toEqual([])
})

/** Where Node finds a package for a module at a place of the tree. */
function placeOf(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (place in packages) return place
    if (folder === '') return undefined
  }
}
