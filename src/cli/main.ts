#!/usr/bin/env node
import { processContext } from './cli-context.js'
import { runCommand } from './cli-program.js'

// A reader that stops early, such as head, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

process.exitCode = await runCommand(process.argv.slice(2), processContext())
