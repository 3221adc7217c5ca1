import { defineConfig } from 'vitest/config'
import { testPatience } from '../../test/support/process/patience.js'
import { ClosingLine } from './closing-line.js'

/** `npm run test:netns`: tests that need their own network namespaces. */
export default defineConfig({
  test: {
    include: ['test/netns/**/*.netns.ts'],
    reporters: ['default', new ClosingLine()],
    globalSetup: 'test/support/process/run.ts',
    setupFiles: 'test/support/process/file.ts',
    testTimeout: testPatience,
    hookTimeout: testPatience,
    fileParallelism: false,
  },
})
