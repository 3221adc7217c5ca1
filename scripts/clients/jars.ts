import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** Jars of the Java SDK for `npm run test:clients`: Maven gets those of a pom.xml, and each has to have the SHA-256 of jars.json. */

/** Directories: of the pom.xml and jars.json, and the one that the jars come into. */
export interface JarPlaces {
  readonly from: string
  readonly into: string
}

/** For Maven, which gets its plugin as well, in milliseconds. */
const patience = 300_000

/** Oldest JDK that compiles and runs the programs of test/clients/java. */
const oldestJdk = 11

/** Its version is that of the pom.xml. */
const copy = 'org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies'

/** Failures of Maven that are those of the network or the registry; others are faults of this repository. */
const notReached = /could not (?:be resolved|resolve|find|transfer)|unknown host|timed out/i

function toolOutput(command: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}

/** Returns which of the programs that Java tests need is missing here, or too old. */
function missingTool(): string | undefined {
  const version = /^javac (\d+)/.exec(toolOutput('javac', '-version') ?? '')?.[1]
  if (version === undefined || Number(version) < oldestJdk) return `a JDK from version ${oldestJdk} on`
  return toolOutput('mvn', '-version') === undefined ? 'Maven' : undefined
}

/** Gets the jars unless they are there; returns the reason why they cannot be had, undefined when they are there. */
export function getJars({ from, into }: JarPlaces): string | undefined {
  const tool = missingTool()
  if (tool !== undefined) return `they need ${tool}`
  const marker = `${into}/.lock`
  const lock = readFileSync(`${from}/jars.json`, 'utf8')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return undefined
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into, { recursive: true })
  const options = ['-q', '-B', '-f', `${from}/pom.xml`, `-DoutputDirectory=${into}`, '-DincludeScope=runtime']
  const { status, stdout, error } = spawnSync('mvn', [...options, copy], {
    encoding: 'utf8',
    timeout: patience,
    killSignal: 'SIGKILL',
  })
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT') return 'Maven did not get their jars in time'
  if (error !== undefined) throw error
  if (status !== 0) {
    const reason = /^\[ERROR\] (.*)/m.exec(stdout)?.[1] ?? ''
    if (notReached.test(reason)) return `Maven cannot get their jars: ${reason}`
    throw new Error(`mvn -f ${from}/pom.xml failed: ${stdout}`)
  }
  requireJars(into, JSON.parse(lock) as Record<string, string>)
  writeFileSync(marker, lock)
  return undefined
}

/** Throws if the jars are not exactly those of the list. */
export function requireJars(directory: string, list: Readonly<Record<string, string>>): void {
  const names = readdirSync(directory).filter((name) => name.endsWith('.jar'))
  const hashes = names.map((name) => [name, sha256(readFileSync(`${directory}/${name}`))] as const)
  const wrong = [
    ...hashes.filter(([name, hash]) => list[name] !== hash).map(([name, hash]) => `${name} has the SHA-256 ${hash}`),
    ...Object.keys(list)
      .filter((name) => !names.includes(name))
      .map((name) => `${name} is missing`),
  ]
  if (wrong.length > 0) throw new Error(`jars that jars.json does not list: ${wrong.join('; ')}`)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
