import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { toHex } from '../../src/base/primitives/bytes.js'
import { devnetValidatorKey } from '../../src/clients/wallet/devnet-accounts.js'
import { commandFile, compiledUrl } from './compiled.js'

/** Nodes by the command line and scripts, as processes that are measured from outside. */

const compiledSources: Plugin = {
  name: 'compiled sources',
  resolveId(name, importer) {
    const id = importer === undefined ? undefined : compiledUrl(new URL(name, pathToFileURL(importer)).href)
    return id === undefined ? undefined : { id, external: 'absolute' }
  },
}

/** Milliseconds that a process may take to stop before it is killed. */
const patience = 20_000

/** A program that runs node, and its arguments before those of node. */
export type Command = readonly [program: string, ...before: string[]]

/** Runs node below processes with less niceness, which get the processors first: as if they had machines of their own. */
export function yielding(niceness: number): Command {
  return ['nice', '-n', String(niceness), process.execPath]
}

/** Addresses of a node's interfaces. */
export interface Places {
  readonly rest: string
  readonly ws: string
  readonly rpc: string
  readonly p2p: readonly string[]
}

export interface RunningNode extends Places {
  readonly process: ChildProcess
  stop(): Promise<void>
}

type OnSpawn = (process: ChildProcess) => void

/** Starts a node on free ports and waits until it serves. */
export async function runNode(args: readonly string[], command?: Command, onSpawn?: OnSpawn): Promise<RunningNode> {
  const { process, line } = await run([commandFile, ...args, '--port-base', '0', '--json'], command, onSpawn)
  return { process, stop: () => end(process), ...(JSON.parse(line) as Places) }
}

/** Arguments of a node for {@link runNode} that follows a chain, with peers on this machine. It ends with this process, even after a kill. */
export function following(spec: string, dataDir: string, peers: readonly string[] = []): string[] {
  const hosts = ['--p2p-host', '127.0.0.1', ...peers.flatMap((peer) => ['--peer', peer])]
  return ['start', '--genesis', spec, '--data-dir', dataDir, ...hosts, '--log-level', 'error', '--stop-on-eof']
}

/** Arguments of a validator of localnet, whose key is written beside its directory. */
export function validating(number: number, directory: string, spec: string, peers: readonly string[]): string[] {
  const key = join(directory, `node-${number}.key`)
  writeFileSync(key, toHex(devnetValidatorKey(number).privateKey), { mode: 0o600 })
  const dataDir = join(directory, `node-${number}`)
  return [...following(spec, dataDir, peers), '--validator-key', key, '--reset-sign-state=now']
}

/** Runs node until it prints its first line. */
export async function run(
  args: readonly string[],
  [program, ...before]: Command = [process.execPath],
  onSpawn: OnSpawn = () => {},
) {
  const child = spawn(program, [...before, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  onSpawn(child)
  for await (const line of createInterface({ input: child.stdout })) {
    // Further output must not fill the pipe.
    child.stdout.resume()
    return { process: child, line }
  }
  throw new Error(`${args.join(' ')} ended without a line`)
}

/** Runs a script in a process of its own, which measures the compiled program too. */
export function forked(script: URL, args: readonly string[] = [], command: Command = [process.execPath]): ChildProcess {
  const [execPath, ...before] = command
  const compiled = ['--import', new URL('./compiled.ts', import.meta.url).href]
  return fork(script, args, { execPath, execArgv: [...before, ...process.execArgv, ...compiled] })
}

/**
 * A script in a process of its own that has no loader, as programs of users have none: a loader is asked, in its own thread, each time
 * that a module is imported, also one that is there. The script is written into a directory.
 */
export async function forkedBare(script: URL, directory: string): Promise<ChildProcess> {
  const file = join(directory, `${basename(script.pathname, '.ts')}.mjs`)
  const bundle = await rolldown({ input: fileURLToPath(script), platform: 'node', plugins: [compiledSources] })
  await bundle.write({ file, format: 'esm' })
  await bundle.close()
  return fork(file, { execArgv: [] })
}

/** The next message of a forked process; rejects when it ends. */
export async function said<Message>(child: ChildProcess, interrupted?: AbortSignal): Promise<Message> {
  const finished = new AbortController()
  const signal = AbortSignal.any([finished.signal, ...(interrupted === undefined ? [] : [interrupted])])
  try {
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`${child.spawnargs.slice(-3).join(' ')} ended with ${String(code)}`)
    })
    const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [Message]
    return message
  } finally {
    finished.abort()
  }
}

/** Ends a process: first in order, then at once. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  const kill = setTimeout(() => child.kill('SIGKILL'), patience)
  child.kill('SIGTERM')
  await ended
  clearTimeout(kill)
}

/** Waits until a node has reached a height. */
export async function reach(height: number, { rest }: Places, seconds = 60): Promise<void> {
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await pause(100)) {
    const answer = await fetch(`${rest}/api/v1/block/height`)
    if (((await answer.json()) as { Result: number }).Result >= height) return
  }
  throw new Error(`${rest} has not reached height ${height} within ${seconds} s`)
}

/**
 * Resident memory of a process, the maximum of it so far, or its part that is of no file: the present value where the system does not
 * report that.
 */
export function residentBytes({ pid = 0 }: ChildProcess, figure: 'VmRSS' | 'VmHWM' | 'RssAnon' = 'VmRSS'): number {
  if (process.platform !== 'linux') return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) * 1024
  const kilobytes = new RegExp(`^${figure}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}
