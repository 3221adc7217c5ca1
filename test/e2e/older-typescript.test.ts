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
}

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
