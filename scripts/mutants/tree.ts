import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mutant, mutated } from './points.js'
import type { TestOutcome, TestRun } from './tester.js'

const signals = ['SIGINT', 'SIGTERM'] as const

/** A copy of the working tree in a temporary folder, with a process that runs its tests. */
export class Tree {
  readonly root = mkdtempSync(join(tmpdir(), 'didledger-mutants-'))
  /** Files of which the tester may know the text of a mutant. */
  readonly #changed = new Set<string>()
  #tester: ChildProcess | undefined
  readonly #onSignal = () => {
    this.close()
    process.exit(1)
  }

  constructor(original: string) {
    for (const signal of signals) process.once(signal, this.#onSignal)
    const options = { cwd: original, encoding: 'utf8' } as const
    for (const path of execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], options).split('\0')) {
      if (path === '' || !existsSync(join(original, path))) continue
      mkdirSync(dirname(join(this.root, path)), { recursive: true })
      cpSync(join(original, path), join(this.root, path))
    }
    for (const path of ['node_modules', 'dist']) {
      if (existsSync(join(original, path))) symlinkSync(realpathSync(join(original, path)), join(this.root, path))
    }
  }

  /**
   * Outcome of tests with a mutant in place; undefined when they take longer than `limit` milliseconds. `mutant` undefined: the
   * tree as it is. Rejects when they could not be run.
   */
  async outcome(
    mutant: Mutant | undefined,
    {
      tests,
      limit,
      bail = true,
    }: { readonly tests: readonly string[]; readonly limit: number; readonly bail?: boolean },
  ): Promise<TestOutcome | undefined> {
    if (mutant === undefined) return this.#run({ changed: [...this.#changed], tests, bail }, limit)
    const file = join(this.root, mutant.file)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, mutated(text, mutant))
    this.#changed.add(mutant.file)
    try {
      return await this.#run({ changed: [...this.#changed], tests, bail }, limit)
    } finally {
      writeFileSync(file, text)
    }
  }

  close(): void {
    for (const signal of signals) process.off(signal, this.#onSignal)
    this.#end()
    rmSync(this.root, { recursive: true, force: true })
  }

  async #run(run: TestRun, limit: number): Promise<TestOutcome | undefined> {
    const tester = (this.#tester ??= await this.#start())
    tester.send(run)
    const signal = AbortSignal.timeout(Math.ceil(limit))
    try {
      const outcome = (await answerOf(tester, signal)) as TestOutcome
      if (outcome.broken !== undefined) throw new Error(`the tests did not run: ${outcome.broken}`)
      return outcome
    } catch (error) {
      // A loop without end stops for nothing but this.
      this.#end()
      if (signal.aborted) return undefined
      throw error
    }
  }

  async #start(): Promise<ChildProcess> {
    const tester = fork(fileURLToPath(new URL('tester.ts', import.meta.url)), {
      cwd: this.root,
      detached: true,
      execArgv: ['--import', 'tsx'],
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    await answerOf(tester)
    return tester
  }

  /** Ends the tester and the workers of its process group. */
  #end(): void {
    const { pid } = this.#tester ?? {}
    this.#tester = undefined
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // All of them have ended already.
    }
  }
}

/** The next message of a process; rejects when it ends before. */
async function answerOf(child: ChildProcess, signal?: AbortSignal): Promise<unknown> {
  const done = new AbortController()
  const options = { signal: AbortSignal.any([done.signal, ...(signal === undefined ? [] : [signal])]) }
  const ended = once(child, 'exit', options).then(() => {
    throw new Error('the process that runs the tests has ended')
  })
  ended.catch(() => {})
  try {
    const [answer] = (await Promise.race([once(child, 'message', options), ended])) as [unknown]
    return answer
  } finally {
    done.abort()
  }
}
