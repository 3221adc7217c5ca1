import { defineConfig } from 'vitest/config'
import { testPatience } from '../../test/support/process/patience.js'
import { ClosingLine } from './closing-line.js'

/** Programs of others against a node, for `npm run test:clients` (test/clients/README.md). */
export default defineConfig({
  test: {
    include: ['test/clients/**/*.test.ts'],
    reporters: ['default', new ClosingLine()],
    globalSetup: 'test/support/process/run.ts',
    setupFiles: 'test/support/process/file.ts',
    testTimeout: testPatience,
    hookTimeout: testPatience,
    maxWorkers: 2,
    silent: 'passed-only',
  },
})
