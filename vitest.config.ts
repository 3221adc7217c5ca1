import { defineConfig } from 'vitest/config'
import { ClosingLine } from './scripts/config/closing-line.js'
import { pollPatience, testPatience } from './test/support/process/patience.js'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', new ClosingLine()],
    globalSetup: 'test/support/process/run.ts',
    setupFiles: 'test/support/process/file.ts',
    testTimeout: testPatience,
    hookTimeout: testPatience,
    teardownTimeout: testPatience,
    expect: { poll: { timeout: pollPatience } },
    // Crypto and process tests are heavy: two files at a time is what a two-core machine can carry.
    maxWorkers: 2,
    coverage: { provider: 'v8', include: ['src/**'] },
  },
})
