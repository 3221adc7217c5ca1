import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { commandFile } from './dist.js'

/** Processes that are measured from outside. */

/** Milliseconds that a process may take to stop before it is killed. */
const patience = 20_000

export interface Running {
  readonly process: ChildProcess
  /** The announcement in the first matching line of standard output. */
  readonly announced: string
  stop(): Promise<void>
}

/** A program that runs node, and its arguments before those of node. */
export type Command = readonly [program: string, ...before: string[]]

/** Runs node below processes with less niceness, which get the processors first: as if they had machines of their own. */
export function yielding(niceness: number): Command {
  return ['nice', '-n', String(niceness), process.execPath]
}

/** Runs node with these arguments until a line of its output matches; the first group is the announcement. */
export async function run(
  args: readonly string[],
  pattern: RegExp,
  [program, ...before]: Command = [process.execPath],
): Promise<Running> {
  const child = spawn(program, [...before, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const stop = async () => {
    const kill = setTimeout(() => child.kill('SIGKILL'), patience)
    child.kill('SIGTERM')
    await ended
    clearTimeout(kill)
  }
  for await (const line of lines) {
    const announced = pattern.exec(line)?.[1]
    if (announced === undefined) continue
    // Further output must not fill the pipe.
    child.stdout.resume()
    return { process: child, announced, stop }
  }
  throw new Error(`${args.join(' ')} ended without a line like ${pattern.source}`)
}

/** A node by the command line; it announces the address of its REST interface. */
export function runNode(command: readonly string[]): Promise<Running> {
  return run([commandFile, ...command, '--port-base', '0'], /^REST\s+(\S+)\/api\/v1/)
}

/** Resident memory of a process. */
export function residentBytes(running: Running): number {
  return memoryOf(running, 'VmRSS')
}

/** Maximum of {@link residentBytes} so far; the present value where the system does not report it. */
export function mostResidentBytes(running: Running): number {
  return memoryOf(running, 'VmHWM')
}

function memoryOf({ process: { pid = 0 } }: Running, figure: 'VmRSS' | 'VmHWM'): number {
  if (process.platform !== 'linux') return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) * 1024
  const kilobytes = new RegExp(`^${figure}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}
