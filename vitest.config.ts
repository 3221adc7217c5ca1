import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Crypto and process tests are heavy: two files at a time is what a two-core machine can carry.
    maxWorkers: 2,
    coverage: { provider: 'v8', include: ['src/**'] },
  },
})
