import { defineConfig } from 'vitest/config'
import { ClosingLine } from './scripts/config/closing-line.js'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', new ClosingLine()],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Crypto and process tests are heavy: two files at a time is what a two-core machine can carry.
    maxWorkers: 2,
    coverage: { provider: 'v8', include: ['src/**'] },
  },
})
