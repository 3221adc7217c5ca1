import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { shippedSpecs } from '../../src/node/library/shipped.js'
import type { TSchema } from '@sinclair/typebox'
import { expect, it } from 'vitest'
import { specSchema } from '../../src/base/primitives/spec-file.js'

const page = readFileSync(new URL('../../docs/genesis.md', import.meta.url), 'utf8')

/** Every member of the file as a path; what an upgrade may change is described at the top level. */
function members(schema: TSchema, path = ''): string[] {
  if (schema.type === 'array') return members(schema.items as TSchema, `${path}[]`)
  if (schema.type !== 'object' || path.startsWith('upgrades[].parameters.')) return []
  return Object.entries((schema.properties ?? {}) as Record<string, TSchema>).flatMap(([name, member]) => {
    const own = path === '' ? name : `${path}.${name}`
    return [own, ...members(member, own)]
  })
}

it('specs and trusts of shipped chains are files that a program can import', () => {
  const { resolve } = createRequire(import.meta.url)
  for (const name of shippedSpecs) {
    for (const file of [`${name}.json`, `${name}.trust.json`]) {
      expect(resolve(`didledger/genesis/${file}`)).toBe(
        fileURLToPath(new URL(`../../genesis/${file}`, import.meta.url)),
      )
    }
  }
})

it('docs/genesis.md describes every member of a chain spec, in order, and no other', () => {
  const described = [...page.matchAll(/^\| `([^`]+)` /gm)].map(([, path]) => path)
  expect(described).toEqual(members(specSchema))
})
