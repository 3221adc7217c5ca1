import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type RunnerTask, type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite, TestRunner, vi } from 'vitest'
import { startTests } from '@vitest/runner'
import { claimOf, type FileCoverage, jobVariable, type Line, planVariable, readPlan, type Trial } from './plan.js'
import { switchName } from './switches.js'

/**
 * Runs test files again and again in one worker of Vitest, whose modules hold the mutants of a plan behind switches. The modules of
 * `src` stay loaded; test files are loaded anew each time.
 */

const folder = process.env[planVariable] ?? ''
const job = process.env[jobVariable] ?? ''
/** Milliseconds beyond three times what tests take without a mutant, before they fail; and before the process is ended. */
const patience = 4_000
const reserve = 5_000
/** Milliseconds that a test file may take without a mutant. */
const longest = 900_000

let active = 0
let met = new Set<number>()
Object.assign(globalThis, {
  [switchName]: (id: number) => {
    met.add(id)
    return id === active
  },
})
let unhandled: unknown
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => (unhandled = error ?? event))
}

function say(line: Line): void {
  appendFileSync(join(folder, 'lines', job), `${JSON.stringify(line)}\n`)
}

/** Whether this process is the one that does this piece. */
function claims(what: number | string): boolean {
  try {
    mkdirSync(join(folder, 'claims', claimOf(what)))
    return true
  } catch {
    return false
  }
}

/** Runs the one file of the process, and then all the work it finds. */
export default class Runner extends TestRunner {
  /** Whether nothing ran in this process yet. */
  isFresh = true

  override onAfterRunFiles(): void {
    super.onAfterRunFiles()
    return this.#work() as unknown as void
  }

  async #work(): Promise<void> {
    const { files, trials } = readPlan(folder)
    for (const file of files) {
      if (!claims(file)) continue
      say({ does: 'begins', what: file, limit: longest })
      say({ does: 'covers', coverage: await new Repeat(this).coverageOf(file) })
    }
    for (const trial of trials) {
      if (claims(trial.id)) await this.#try(trial)
    }
  }

  async #try({ id, reloads, meetings }: Trial): Promise<void> {
    const { isFresh } = this
    this.isFresh = false
    if (reloads) vi.resetModules()
    for (const { file, tests, milliseconds } of meetings) {
      const limit = 3 * milliseconds + patience
      say({ does: 'begins', what: String(id), limit: 2 * limit + reserve })
      active = id
      const killer = await new Repeat(this, tests, limit).failureOf(file)
      active = 0
      if (killer === undefined) continue
      if (reloads) vi.resetModules()
      // A failure of what the mutant before left behind is no kill. A process that fails in the middle is followed by a fresh one.
      const isSound = isFresh || (await new Repeat(this, tests, longest).failureOf(file)) === undefined
      if (!isSound) process.kill(process.pid, 'SIGKILL')
      say({ does: 'ends', id, killer: `${file} > ${killer}` })
      return
    }
    if (reloads) vi.resetModules()
    say({ does: 'ends', id })
  }
}

/** One more run of one test file, which Vitest does not report. */
class Repeat extends TestRunner {
  readonly #wanted: ReadonlySet<number> | 'none' | 'all'
  #tests: RunnerTestCase[] = []
  #whole = new Set<number>()
  #perTest: Set<number>[] = []

  constructor(outer: TestRunner, wanted: readonly number[] | 'none' | 'all' = 'all', limit = longest) {
    super({ ...outer.config, testTimeout: limit, hookTimeout: limit })
    this.#wanted = typeof wanted === 'string' ? wanted : new Set(wanted)
    const { moduleRunner, _otel } = outer as unknown as Record<string, object>
    Object.defineProperty(this, 'moduleRunner', { value: moduleRunner })
    ;(this as unknown as { __setTraces(traces: unknown): void }).__setTraces(_otel)
  }

  async coverageOf(file: string): Promise<FileCoverage> {
    // Loads the modules, so that what they do when they are loaded is met by no test.
    await new Repeat(this, 'none').failureOf(file)
    const failed = await this.failureOf(file)
    const testMilliseconds = this.#tests.map(({ result }) => Math.ceil(result?.duration ?? 0))
    const sum = testMilliseconds.reduce((a, b) => a + b, 0)
    return {
      file,
      ...(failed !== undefined && { failed }),
      milliseconds: Math.max(0, Math.ceil(this.#taken - sum)),
      testMilliseconds,
      names: this.#tests.map(nameOf),
      whole: [...this.#whole],
      tests: this.#perTest.map((some) => [...some]),
    }
  }

  #taken = 0

  /** Name of the first test that fails. */
  async failureOf(file: string): Promise<string | undefined> {
    unhandled = undefined
    const filepath = join(this.config.root, file)
    const { workerState } = this as unknown as { readonly workerState: WorkerState }
    const { evaluatedModules } = workerState
    for (const [id, module] of evaluatedModules.idToModuleMap) {
      if (id === filepath || id.endsWith('.test.ts')) evaluatedModules.invalidateModule(module)
    }
    workerState.filepath = filepath
    met = this.#whole
    const start = performance.now()
    const [result] = await startTests(
      [{ filepath, testLocations: undefined, testNamePattern: undefined, testIds: undefined } as never],
      this,
    )
    this.#taken = performance.now() - start
    vi.resetConfig()
    vi.restoreAllMocks()
    met = new Set()
    return result === undefined ? 'nothing ran' : this.#failureIn(result)
  }

  onCollected(files: RunnerTestFile[]): void {
    this.#tests = files.flatMap((file) => testsOf(file))
    this.#perTest = this.#tests.map(() => new Set())
    this.#tests.forEach((test, i) => {
      if (this.#wanted !== 'all' && (this.#wanted === 'none' || !this.#wanted.has(i))) test.mode = 'skip'
    })
    files.forEach(skipEmpty)
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test)
    met = (test.concurrent === true ? undefined : this.#perTest[this.#tests.indexOf(test)]) ?? this.#whole
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test)
    if (test.result?.state !== 'fail' || active === 0) return
    for (const other of this.#tests)
      if (other.result === undefined || other.result.state === 'queued') other.mode = 'skip'
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    met = this.#whole
    await super.onAfterRunSuite(suite).catch(() => {})
  }

  #failureIn(file: RunnerTestFile): string | undefined {
    const failed = this.#tests.find(({ result }) => result?.state === 'fail')
    if (failed !== undefined) return nameOf(failed)
    if (file.result?.state === 'fail' && this.#wanted !== 'none') return file.result.errors?.[0]?.message ?? 'a hook'
    return unhandled === undefined ? undefined : `unhandled: ${String(unhandled)}`
  }
}

/** The part of what Vitest keeps for itself that has no public door. */
interface WorkerState {
  filepath?: string
  readonly evaluatedModules: {
    readonly idToModuleMap: Map<string, object>
    invalidateModule(module: object): void
  }
}

function nameOf(test: RunnerTestCase): string {
  return test.fullTestName ?? test.name
}

function testsOf(task: RunnerTask): RunnerTestCase[] {
  return task.type === 'test' ? [task] : task.tasks.flatMap(testsOf)
}

/** Skips the suites of which all tests are skipped, with their hooks. */
function skipEmpty(suite: RunnerTestSuite): void {
  for (const task of suite.tasks) if (task.type === 'suite') skipEmpty(task)
  if (suite.tasks.every(({ mode }) => mode === 'skip')) suite.mode = 'skip'
}
