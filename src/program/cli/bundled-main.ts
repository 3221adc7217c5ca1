#!/usr/bin/env node
/** Runs main.ts and all that it imports, which `npm run build` bundled into one file beside this one. */
import { fileURLToPath } from 'node:url'
import { cacheFolder, runCompiled } from './compile-cache.js'

/** SHA-256 of program.js, hex, from the build. */
declare const programDigest: string

runCompiled({
  file: fileURLToPath(new URL('./program.js', import.meta.url)),
  digest: programDigest,
  command: process.argv[2],
  folder: cacheFolder(process.env),
})
