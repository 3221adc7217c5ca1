#!/usr/bin/env node
/**
 * Runs main.ts and all that it imports, which `npm run build` bundled into one file beside this one. The version is printed without it: to
 * load it takes as long as to start Node.
 */
import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { oldNodeText } from './old-node.js'
import { asksVersion, versionText } from './version-text.js'

/** SHA-256 of program.js, hex, from the build. */
declare const programDigest: string
/** The least version of Node, as package.json has it, from the build. */
declare const leastNode: string

const args = process.argv.slice(2)
if (!asksVersion(args) || !written(1, `${versionText()}\n`)) start(oldNodeText(process.version, leastNode))

/** Runs the program, unless this Node is too old for it: then `message` says so. */
function start(message: string | undefined): void {
  if (message === undefined) return void runProgram()
  written(2, args.includes('--json') ? `${JSON.stringify({ error: { message } }, null, 2)}\n` : `error: ${message}\n`)
  process.exitCode = 1
}

async function runProgram(): Promise<void> {
  const { cacheFolder, commandOf, runCompiled } = await import('./compile-cache.js')
  runCompiled({
    file: fileURLToPath(new URL('./program.js', import.meta.url)),
    digest: programDigest,
    command: commandOf(args),
    folder: cacheFolder(process.env),
  })
}

/** Whether a standard stream took a line at once. Where standard output takes nothing, the program says why. */
function written(stream: 1 | 2, line: string): boolean {
  try {
    return writeSync(stream, line) > 0
  } catch {
    return false
  }
}
