import { join } from 'node:path'
import { createVitest, type Vitest } from 'vitest/node'

/**
 * Runs test files of the tree in the working directory for its parent process, again and again in one Vitest. Between two runs
 * source files change.
 */

/** Question of the parent. */
export interface TestRun {
  /** Source files that changed since the last run. */
  readonly changed: readonly string[]
  readonly tests: readonly string[]
  /** Whether the first failure ends the run. */
  readonly bail: boolean
}

/** Answer to the parent. */
export interface TestOutcome {
  /** Failed test files with the name of their first failed test. */
  readonly failed: readonly (readonly [file: string, test: string])[]
  /** Milliseconds of each file. */
  readonly times: Readonly<Record<string, number>>
  /** Why the tests did not run at all: that says nothing about the change. */
  readonly broken?: string
}

const root = process.cwd()
let vitest: Vitest | undefined

process.on('message', (run: TestRun) => {
  void outcomeOf(run).then(
    (outcome) => process.send?.(outcome),
    (error: unknown) => process.send?.({ failed: [], times: {}, broken: String(error) } satisfies TestOutcome),
  )
})
process.on('disconnect', () => void (vitest?.close() ?? Promise.resolve()).finally(() => process.exit()))
process.send?.('ready')

async function outcomeOf({ changed, tests, bail }: TestRun): Promise<TestOutcome> {
  vitest ??= await createVitest('test', {
    root,
    watch: false,
    reporters: [{}],
    maxWorkers: 1,
    coverage: { enabled: false },
  })
  vitest.config.bail = bail ? 1 : 0
  for (const project of vitest.projects) project.config.bail = bail ? 1 : 0
  for (const file of changed) vitest.invalidateFile(join(root, file))
  vitest.state.filesMap.clear()
  vitest.state.errorsSet.clear()
  const all = await vitest.globTestSpecifications([...tests])
  const wanted = new Set(tests.map((test) => join(root, test)))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    all.filter(({ moduleId }) => wanted.has(moduleId)),
  )
  const failed = testModules.flatMap((module): (readonly [string, string])[] => {
    if (module.state() !== 'failed') return []
    const test = [...module.children.allTests()].find((one) => one.result().state === 'failed')
    return [[module.relativeModuleId, test?.fullName ?? 'the file does not load']]
  })
  const [unhandled] = unhandledErrors.map((error) => String((error as Partial<Error>).message ?? error))
  if (failed.length === 0 && unhandled !== undefined) {
    // A worker that does not start in time on a busy machine is no failed test.
    const isBroken = testModules.length === 0 || unhandled.includes('[vitest-pool')
    return isBroken ? { failed, times: {}, broken: unhandled } : { failed: [['', unhandled]], times: {} }
  }
  const times = testModules.map((module) => {
    const { duration, collectDuration } = module.diagnostic()
    return [module.relativeModuleId, duration + collectDuration] as const
  })
  return { failed, times: Object.fromEntries(times) }
}
