import { defineConfig } from 'vitest/config'
import { ClosingLine } from './scripts/config/closing-line.js'
import { LongestFirst } from './scripts/config/longest-first.js'
import { pollPatience, testPatience } from './test/support/process/patience.js'

/**
 * Tests run through much code a few times, and a tenth of their processor time was V8 optimising functions that were hardly called
 * again. The number is of bytes of bytecode that a function runs before that, four times the usual one; later versions have no such option.
 */
const lateOptimising = process.version.startsWith('v20.') ? ['--interrupt-budget=540672'] : []

const common = {
  globalSetup: 'test/support/process/run.ts',
  setupFiles: 'test/support/process/file.ts',
  testTimeout: testPatience,
  hookTimeout: testPatience,
  teardownTimeout: testPatience,
  expect: { poll: { timeout: pollPatience } },
  // What a module compiles to is the same for all projects, and in the next run.
  experimental: { fsModuleCache: true },
  // Tests make much garbage that does not live long: with a larger young generation they take a tenth less of the processor.
  execArgv: ['--max-semi-space-size=64', ...lateOptimising],
}
/** Files with `vi.mock`: their modules are other ones than those of the other tests. */
const replacesModules = [
  'test/behaviour/config/option-effects.test.ts',
  'test/behaviour/network/discovery.test.ts',
  'test/unit/voting/sign-state-file.test.ts',
]

export default defineConfig({
  test: {
    reporters: ['default', new ClosingLine()],
    sequence: { sequencer: LongestFirst },
    teardownTimeout: testPatience,
    // The groups run one after another; the workers of each are what a machine with two cores can carry.
    projects: [
      {
        // Files share the modules of src: loading them anew for each file takes as long as these tests.
        test: {
          ...common,
          name: 'modules',
          include: ['test/{unit,behaviour,rules,vectors,limits,docs,soak,sim,pools}/**/*.test.ts'],
          exclude: replacesModules,
          isolate: false,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'replaced modules',
          include: replacesModules,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Tests of node processes wait for them most of the time.
        test: {
          ...common,
          name: 'processes',
          include: ['test/{e2e,crash}/**/*.test.ts'],
          isolate: false,
          maxWorkers: 6,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    coverage: { provider: 'v8', include: ['src/**'] },
  },
})
