import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Whether dist is what the sources say. */

const root = fileURLToPath(new URL('..', import.meta.url))
/** File that every build writes last. */
const last = join(root, 'dist/THIRD-PARTY-LICENCES.txt')
const sources = [
  'src',
  'scripts/config',
  'scripts/bundle.ts',
  'scripts/bundle-chunks.ts',
  'scripts/build-client.ts',
  'packages/client/package.json',
  'scripts/bundle-licences.ts',
  'scripts/build-pages.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

/** Whether there is no complete build, or a source is newer. */
export function isStale(): boolean {
  if (!existsSync(last)) return true
  const { mtimeMs } = statSync(last)
  return sources.some((name) => newest(join(root, name)) > mtimeMs)
}

/** Milliseconds since the epoch at which a file, or the last one in a folder, was written; -Infinity where there is none. */
function newest(path: string): number {
  if (!existsSync(path)) return -Infinity
  if (!statSync(path).isDirectory()) return statSync(path).mtimeMs
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Math.max(...entries.map(({ parentPath, name }) => statSync(join(parentPath, name)).mtimeMs))
}
