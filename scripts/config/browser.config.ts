import { defineConfig } from 'vitest/config'
import { testPatience } from '../../test/support/process/patience.js'
import { ClosingLine } from './closing-line.js'

/** `npm run test:browser`: tests that need Chromium, by its name in PATH or in the variable CHROMIUM. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.browser.ts'],
    reporters: ['default', new ClosingLine()],
    globalSetup: 'test/support/process/run.ts',
    setupFiles: 'test/support/process/file.ts',
    testTimeout: testPatience,
    hookTimeout: testPatience,
    fileParallelism: false,
  },
})
