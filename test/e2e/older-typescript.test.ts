import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** Types as `npm run build` wrote them, which TypeScript before 5.7 reads too: there Uint8Array has no parameter. */

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The declarations of an entry, and all that they import. */
function reached(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path) || !existsSync(path)) return found
  found.add(path)
  for (const [, from = ''] of readFileSync(path, 'utf8').matchAll(/(?:from ?|import\()['"](\.[^'"]+)\.js['"]/g)) {
    reached(join(dirname(path), `${from}.d.ts`), found)
  }
  return found
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>
  readonly types?: string
  readonly typesVersions: Readonly<Record<'*', Readonly<Record<string, readonly [string]>>>>
}

/** The types of an entry for a compiler that does not read `exports`: with `moduleResolution: node`, the default beside `module: commonjs` before 6. */
function typesBefore({ types, typesVersions }: Manifest, entry: string): string | undefined {
  const name = entry.slice('./'.length)
  return entry === '.' ? types : (typesVersions['*'][name]?.[0] ?? typesVersions['*']['*']?.[0]?.replace('*', name))
}

it.each(['.', 'packages/client'])('types of %s are found without its exports', (folder) => {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
  for (const [entry, target] of Object.entries(manifest.exports)) {
    if (entry.endsWith('.json')) continue
    const types = typeof target === 'object' ? target.types : target.replace(/\.js$/, '.d.ts')
    const found = join(root, folder, typesBefore(manifest, entry) ?? entry)
    const files = [found, `${found}.d.ts`].filter((file) => /\.d\.ts$/.test(file) && existsSync(file))
    expect([entry, ...files]).toEqual([entry, join(root, folder, types ?? '')])
  }
})

it.each(['.', 'packages/client'])('types of %s have no parameter of Uint8Array, Buffer or DataView', (folder) => {
  const { exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
  // Compilers look for declarations beside the code of an entry that names none.
  const entries = Object.values(exports).flatMap((one) =>
    typeof one === 'object' ? (one.types ?? []) : one.replace(/\.js$/, '.d.ts'),
  )
  const files = [...new Set(entries.flatMap((entry) => [...reached(join(root, folder, entry))]))]
  expect(files.length).toBeGreaterThan(5)
  expect(files.filter((file) => /\b(?:Uint8Array|Buffer|DataView)</.test(readFileSync(file, 'utf8')))).toEqual([])
})
