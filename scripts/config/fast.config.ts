import { defineConfig } from 'vitest/config'
import { testPatience } from '../../test/support/process/patience.js'
import { ClosingLine } from './closing-line.js'

/** Tests of the pure rooms, for npm run test:fast: they share their modules, and repeat random cases a tenth as often. */
export default defineConfig({
  test: {
    include: ['primitives', 'did', 'consensus', 'did-query', 'did-index'].map(
      (room) => `test/{unit/*,behaviour}/${room}/**/*.test.ts`,
    ),
    reporters: ['default', new ClosingLine()],
    globalSetup: 'test/support/process/run.ts',
    setupFiles: 'test/support/process/file.ts',
    env: { DIDLEDGER_QUICK: '1' },
    testTimeout: testPatience,
    hookTimeout: testPatience,
    isolate: false,
    maxWorkers: 2,
  },
})
