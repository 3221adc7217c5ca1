import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { transpiled } from './transpiled.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Modules compiled for Node, for what cannot run from the sources: worker threads. */
export interface CompiledModules {
  /** The file of a module, named by its path below `src` with the extension of JavaScript. */
  url(name: string): URL
  /** Deletes them all. */
  remove(): void
}

/**
 * Compiles modules, named by their paths below `src`, and all they import, from the sources as they are now: `dist` may be
 * missing or stale. The files lie below node_modules, where they find the packages they import.
 */
export function compileModules(names: readonly string[]): CompiledModules {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, 'compiled-'))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  const modules = new Set(names)
  // A set visits what is added to it on the way.
  for (const name of modules) {
    const text = transpiled(name)
    const target = join(directory, name.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
    for (const [, specifier] of text.matchAll(/from "(\.[^"]+)\.js"/g)) {
      modules.add(join(dirname(name), `${specifier}.ts`))
    }
  }
  return {
    url: (name) => pathToFileURL(join(directory, name)),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
