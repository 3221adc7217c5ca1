import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { register, type ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { isStale } from '../build-state.js'

/**
 * Imports modules of src as compiled, from dist, in every process with `--import` of this file: the program as users run it. The loader
 * that runs sources rewrites every closure, and verifier threads run compiled files only. Compiles first if the sources are newer.
 */

const root = new URL('../..', import.meta.url)
const [sources, dist] = ['src/', 'dist/'].map((name) => new URL(name, root).href) as [string, string]

/** The command line, a script for node. */
export const commandFile = fileURLToPath(new URL('cli/main.js', dist))

export const resolve: ResolveHook = async (specifier, context, next) => {
  const found = await next(specifier, context)
  const url = compiledUrl(found.url)
  return url === undefined ? found : { url, format: 'module', shortCircuit: true }
}

/** URL of a module of src as compiled; undefined for other modules, and for those of src that are not compiled alone. */
export function compiledUrl(source: string): string | undefined {
  const url = source.replace(sources, dist).replace(/\.ts(\?.*)?$/, '.js')
  return source.startsWith(sources) && existsSync(new URL(url)) ? url : undefined
}

if (isMainThread) {
  // Forked processes measure the build of this one.
  if (process.env['BENCH_BUILT'] === undefined && isStale()) {
    console.error('dist is missing or older than src: building it first')
    execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  process.env['BENCH_BUILT'] = 'yes'
  register(import.meta.url)
}
