import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const run = promisify(execFile)

/** A failed test: its file, and its name with what was found. */
export interface Failure {
  readonly file: string
  readonly text: string
}

interface Report {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

/** A copy of the repository, with its packages and its build. */
export class Copy {
  readonly directory = mkdtempSync(join(tmpdir(), 'didledger-guides-'))

  constructor() {
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' })
    for (const file of listed.split('\0')) {
      if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(this.directory, file))
    }
    for (const name of ['node_modules', 'dist']) {
      if (existsSync(join(root, name))) symlinkSync(join(root, name), join(this.directory, name))
    }
  }

  write(files: ReadonlyMap<string, string>): void {
    for (const [file, text] of files) {
      mkdirSync(dirname(join(this.directory, file)), { recursive: true })
      writeFileSync(join(this.directory, file), text)
    }
  }

  read(file: string): string {
    return readFileSync(join(this.directory, file), 'utf8')
  }

  /** Runs a command of the packages; rejects where it fails. */
  async run(command: string, ...parameters: readonly string[]): Promise<string> {
    return this.#run(join(root, 'node_modules/.bin', command), parameters)
  }

  /** Runs the text of a command as a shell does; rejects where it fails. */
  async shell(text: string): Promise<string> {
    return this.#run('sh', ['-c', text])
  }

  async #run(file: string, parameters: readonly string[]): Promise<string> {
    const options = { cwd: this.directory, env: environment(), maxBuffer: 64 * 1024 * 1024 }
    return (await run(file, [...parameters], options)).stdout
  }

  /** Runs files of tests; `passed` counts the tests that pass. */
  async test(files: readonly string[]): Promise<{ readonly passed: number; readonly failures: readonly Failure[] }> {
    const out = 'guide-tests.json'
    const reporter = ['--reporter=json', `--outputFile=${out}`]
    // One worker loads the modules of src once; what they compile to is kept for the next run.
    const cache = ['--experimental.fsModuleCache', '--experimental.fsModuleCachePath=.vitest-modules']
    const failed = await this.run('vitest', 'run', '--maxWorkers=1', ...cache, ...reporter, ...files).then(
      () => '',
      (error: unknown) => String(error),
    )
    if (!existsSync(join(this.directory, out))) throw new Error(`no tests ran: ${failed}`)
    const { numPassedTests, testResults } = JSON.parse(this.read(out)) as Report
    return {
      passed: numPassedTests,
      failures: testResults.flatMap(({ name, status, message, assertionResults }) => {
        const file = name.slice(name.indexOf('/test/') + 1)
        const found = assertionResults.filter((one) => one.status === 'failed')
        if (status === 'failed' && found.length === 0) return [{ file, text: message }]
        return found.map(({ fullName, failureMessages }) => ({ file, text: [fullName, ...failureMessages].join('\n') }))
      }),
    }
  }

  remove(): void {
    rmSync(this.directory, { recursive: true })
  }
}

/** The environment without the variables of the test runner that this runs in. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|VITE_|NODE_ENV|TEST|DEV|PROD|MODE|SSR|BASE_URL)/.test(name),
  )
  return Object.fromEntries(own)
}
