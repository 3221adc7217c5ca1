import { defineConfig } from 'vitest/config'
import { ClosingLine } from './closing-line.js'

/** `npm run test:netns`: what needs network namespaces of its own. */
export default defineConfig({
  test: {
    include: ['test/netns/**/*.netns.ts'],
    reporters: ['default', new ClosingLine()],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
})
