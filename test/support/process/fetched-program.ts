import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTool } from './tool.js'

const cache = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url))

/** The binary at a path in an npm package such as `node@26.10.0`, fetched once and kept with the other packages. */
export async function fetchedProgram(pinned: string, path: string): Promise<string> {
  const kept = join(cache, pinned.replace('@', '-'))
  const binary = (directory: string) => join(directory, 'node_modules', path)
  if (existsSync(binary(kept))) return binary(kept)
  mkdirSync(cache, { recursive: true })
  const fresh = mkdtempSync(`${kept}-`)
  writeFileSync(join(fresh, 'package.json'), '{"private":true}')
  await runTool(fresh, 'npm', 'install', '--ignore-scripts=false', pinned)
  await runTool(fresh, binary(fresh), '--version')
  rmSync(kept, { recursive: true, force: true })
  renameSync(fresh, kept)
  return binary(kept)
}
