import { defineConfig } from 'vitest/config'
import { testPatience } from '../../test/support/process/patience.js'
import { ClosingLine } from './closing-line.js'

/** `npm run test:verifier`: proofs against a verifier in Python, which a machine may lack. */
export default defineConfig({
  test: {
    include: ['test/verifier/**/*.verifier.ts'],
    reporters: ['default', new ClosingLine()],
    globalSetup: 'test/support/process/run.ts',
    setupFiles: 'test/support/process/file.ts',
    testTimeout: testPatience,
    hookTimeout: testPatience,
  },
})
