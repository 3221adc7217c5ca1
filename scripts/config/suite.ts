import { defineConfig, type TestUserConfig, type ViteUserConfig } from 'vitest/config'
import { testPatience } from '../../test/support/process/patience.js'
import { ClosingLine } from './closing-line.js'

/** Configuration of a run of tests beside `npm test`. */
export function suite(include: readonly string[], changes: TestUserConfig = {}): ViteUserConfig {
  return defineConfig({
    test: {
      include: [...include],
      reporters: ['default', new ClosingLine()],
      globalSetup: 'test/support/process/run.ts',
      setupFiles: 'test/support/process/file.ts',
      testTimeout: testPatience,
      hookTimeout: testPatience,
      ...changes,
    },
  })
}
