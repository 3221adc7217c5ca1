import { mkdirSync, statSync } from 'node:fs'
import module from 'node:module'
import type { CliContext } from './cli-context.js'
import { homeOf, userFolder } from './user-folders.js'

/** Members of `node:module` from Node 22.1 on. */
interface Caching {
  readonly enableCompileCache?: (directory: string) => unknown
}

/**
 * Has Node keep what it compiles of modules that are loaded from now on, where it can, so that the next command starts sooner. It keeps
 * them in a folder of this user alone, and in none of a user who lends the home directory: what lies there is run as it is.
 */
export function keepCompiled(env: CliContext['env'], { enableCompileCache }: Caching = module as Caching): void {
  if (enableCompileCache === undefined) return
  try {
    const folder = userFolder('cache', { platform: process.platform, env, home: () => homeOf(env) })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    if (process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)) enableCompileCache(folder)
  } catch {
    // Without a home directory, or where nothing can be written, it is compiled each time.
  }
}
