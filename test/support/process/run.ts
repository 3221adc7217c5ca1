import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { endMarked, userData } from './children.js'
import { memoryFolder } from './memory-folder.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** The name of this run: the mark of all processes that its tests start begins with it. */
    readonly run: string
  }
}

/**
 * Before and after all tests. No process of a run remains: one that is found at the end makes the run fail. A run that is killed
 * takes its processes and its temporary files in memory with it. What they keep for their user is a temporary folder of the run.
 */
export function setup(project: TestProject): () => Promise<void> {
  const run = randomUUID()
  project.provide('run', run)
  // The groups of one run share it: the second one finds TMPDIR.
  const folder = memoryFolder()
  if (folder !== undefined) process.env['TMPDIR'] = folder
  const reaper = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('reaper.ts', import.meta.url)), run, ...(folder ? [folder] : [])],
    {
      stdio: ['pipe', 'ignore', 'inherit'],
      detached: true,
    },
  )
  reaper.unref()
  return async () => {
    const left = await endMarked(run)
    rmSync(userData(run), { recursive: true, force: true })
    reaper.stdin.end()
    if (left.length === 0) return
    process.exitCode = 1
    throw new Error(`processes outlived their tests:\n${left.join('\n')}`)
  }
}
