import { minVersion, satisfies } from 'semver'
import { expect, it } from 'vitest'
import { repositoryFile } from '../support/assert/markdown.js'

/** The versions of Node that packages ask for, against those that this one promises to run on. */

interface Manifest {
  readonly engines: { readonly node: string }
  readonly dependencies: Readonly<Record<string, string>>
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

it('versions are pinned, and no override is needed: those who install the package would not get it', () => {
  for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  expect(Object.keys(manifest).filter((name) => ['overrides', 'resolutions'].includes(name))).toEqual([])
})
