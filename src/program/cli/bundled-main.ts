#!/usr/bin/env node
/**
 * Runs main.ts and all that it imports, which `npm run build` bundled into one file beside this one. The version is printed without it: to
 * load it takes as long as to start Node.
 */
import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { asksVersion, versionText } from './version-text.js'

/** SHA-256 of program.js, hex, from the build. */
declare const programDigest: string

const args = process.argv.slice(2)
if (!asksVersion(args) || !printed(`${versionText()}\n`)) void runProgram()

async function runProgram(): Promise<void> {
  const { cacheFolder, commandOf, runCompiled } = await import('./compile-cache.js')
  runCompiled({
    file: fileURLToPath(new URL('./program.js', import.meta.url)),
    digest: programDigest,
    command: commandOf(args),
    folder: cacheFolder(process.env),
  })
}

/** Whether standard output took a line at once. Where it takes nothing, the program says why. */
function printed(line: string): boolean {
  try {
    return writeSync(1, line) > 0
  } catch {
    return false
  }
}
