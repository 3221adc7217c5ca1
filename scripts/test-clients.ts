import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { getJars } from './clients/jars.js'

/**
 * `npm run test:clients`: programs of others against a node (test/clients/README.md).
 *
 * - Installs what test/clients/package-lock.json names, without install scripts, unless it is there.
 * - Packages cannot be had -> one line that says so, and exit code 0. A lockfile that does not fit is a failure.
 * - Gets the jars of test/clients/java by Maven. Without a JDK, Maven or the jars -> one line that says so, and the rest runs.
 * - Without jars of the Universal Registrar -> likewise.
 * - Then types, and tests; further arguments go to vitest. Exit code 0 if all of it passed.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}test/clients/`
const modules = `${folder}node_modules`
const installed = `${modules}/.installed`

/** For one attempt to get the packages, in milliseconds. */
const patience = 300_000

/** Refusals by npm that are faults of this repository; others are those of the network or the registry. */
const ownFaults = ['EUSAGE', 'EINTEGRITY', 'EJSONPARSE', 'ERESOLVE', 'EBADENGINE', 'EUNSUPPORTEDPROTOCOL']

const run = (command: string, args: readonly string[], cwd = root) =>
  spawnSync(command, args, { cwd, stdio: 'inherit' }).status ?? 1

const lock = createHash('sha256')
  .update(readFileSync(`${folder}package-lock.json`))
  .digest('hex')

/** Installs the packages; the reason why they cannot be had, undefined when they are there. */
function install(): string | undefined {
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return undefined
  rmSync(modules, { recursive: true, force: true })
  const retries = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=60000']
  const { status, stderr, error } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', ...retries],
    { cwd: folder, encoding: 'utf8', timeout: patience, killSignal: 'SIGKILL' },
  )
  if (status !== 0) rmSync(modules, { recursive: true, force: true })
  if (error !== undefined) {
    if ((error as NodeJS.ErrnoException).code === 'ETIMEDOUT') return 'ETIMEDOUT'
    throw error
  }
  if (status !== 0) {
    const code = /^npm error code (\S+)/m.exec(stderr)?.[1]
    if (code !== undefined && !ownFaults.includes(code)) return code
    throw new Error(`npm ci in test/clients failed: ${stderr}`)
  }
  // As a user of the package has it: by the exports of package.json. A link to the root would be a folder that contains itself.
  mkdirSync(`${modules}/didledger`)
  for (const name of ['package.json', 'dist']) symlinkSync(`../../../../${name}`, `${modules}/didledger/${name}`)
  writeFileSync(installed, lock)
  return undefined
}

/** Arguments of vitest that leave out the tests of Java, after a line with the reason, where what they need is not to be had. */
function withoutJava(): string[] {
  const missing = getJars({ from: `${folder}java`, into: `${modules}/.jars` })
  if (missing === undefined) return []
  console.log(`left out: test/clients/java, tests of the Java SDK; ${missing}`)
  return ['--exclude', 'test/clients/java/**']
}

/** The same for the tests of the Universal Registrar, whose jars no public repository of Maven has. */
function withoutUniversalRegistrar(): string[] {
  if (process.env['UNIVERSAL_REGISTRAR'] !== undefined) return []
  console.log(
    'left out: test/clients/registrar; UNIVERSAL_REGISTRAR names no folder of its jars (test/clients/README.md)',
  )
  return ['--exclude', 'test/clients/registrar/**']
}

const missing = install()
if (missing === undefined) {
  const without = [...withoutJava(), ...withoutUniversalRegistrar()]
  process.exitCode =
    run('node', ['node_modules/typescript-7/bin/tsc', '--noEmit', '-p', 'test/clients/tsconfig.json']) ||
    run('npx', ['vitest', 'run', '--config', 'scripts/config/clients.config.ts', ...without, ...process.argv.slice(2)])
} else {
  console.log(`left out: test:clients, whose packages cannot be had from the registry (npm: ${missing})`)
}
