import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { planVariable, readPlan } from './plan.js'
import { switched } from './switches.js'

/** Vitest in one worker that runs what a plan asks for: see worker.ts. The root is that of the tree. */

const { mutants } = readPlan(process.env[planVariable] ?? '')
const root = process.cwd()
const ifThere = (path: string) => (existsSync(join(root, path)) ? [path] : [])

export default defineConfig({
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform(text, id) {
        const some = mutants.filter(({ file }) => file === relative(root, id))
        return some.length === 0 ? undefined : { code: switched(text, some), map: null }
      },
    },
  ],
  test: {
    root,
    include: ['mutants.test.ts'],
    runner: fileURLToPath(new URL('worker.ts', import.meta.url)),
    globalSetup: ifThere('test/support/process/run.ts'),
    setupFiles: ifThere('test/support/process/file.ts'),
    reporters: [{}],
    isolate: false,
    maxWorkers: 1,
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 120_000 } },
  },
})
