import { existsSync, readFileSync } from 'node:fs'

/** A file that the package has in its folder, and in no folder below. */
const ownFile = 'genesis/devnet.json'
/** The folder of the package: the nearest one above this module, in sources, build and bundle, with that file. */

const root = rootAbove(new URL(import.meta.url))

/** A file or folder of the package, by its path from there; that of a folder ends in a slash. */
export function packageFile(path: string): URL {
  return new URL(path, root)
}

/** The version in package.json. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}

/** The commit that the program was built from; undefined where it runs from its sources, or was built outside of a checkout. */
export function buildCommit(): string | undefined {
  if (import.meta.url.startsWith(packageFile('src/').href)) return undefined
  try {
    // scripts/bundle.ts writes it.
    const text = readFileSync(packageFile('dist/commit.txt'), 'utf8').trim()
    return /^[0-9a-f]{40}$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

function rootAbove(place: URL): URL {
  const folder = new URL('.', place)
  if (existsSync(new URL(ownFile, folder))) return folder
  const parent = new URL('..', folder)
  if (parent.href === folder.href)
    throw new Error(`no folder above ${place.pathname} has ${ownFile}: install didledger again`)
  return rootAbove(parent)
}
