import { type ChildProcess, execFileSync, spawn, type SpawnOptions } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/** Processes that tests start: none outlives the file of its test, however that ends. */

/** The variable that names the run and the test file; processes below a child inherit it. */
const mark = 'SUITE_RUN'

const running = new Set<ChildProcess>()
process.on('exit', killChildren)

/** Starts a process that is killed at the end of the test file at the latest. */
export function startChild(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const { env = process.env, ...rest } = options
  const child = spawn(command, args, { ...rest, env: { ...env, [mark]: process.env[mark] } })
  running.add(child)
  child.once('close', () => running.delete(child))
  child.once('error', () => running.delete(child))
  return child
}

/** Marks all processes that are started from now on with a name. */
export function markChildren(name: string): void {
  process.env[mark] = name
}

/** Folder for the data of the user of a run: nothing that tests start writes into a real home. */
export function userData(run: string): string {
  return join(tmpdir(), `didledger-user-${run}`)
}

/** Kills what {@link startChild} started and still runs; resolves when all of it is gone. */
export async function endChildren(): Promise<void> {
  killChildren()
  while (running.size > 0) await setTimeout(5)
}

/** Kills all processes with a mark that begins with a name, of any parent; returns their command lines. */
export async function endMarked(name: string): Promise<string[]> {
  const found = new Map<number, string>()
  for (;;) {
    const alive = marked(`${mark}=${name}`)
    if (alive.length === 0) return [...found.values()]
    for (const { pid, command } of alive) {
      found.set(pid, command)
      kill(pid)
    }
    await setTimeout(20)
  }
}

function killChildren(): void {
  for (const child of running) child.kill('SIGKILL')
}

interface Marked {
  readonly pid: number
  readonly command: string
}

/** Processes with an environment that holds a text. A process that ended and waits for its parent has none. */
function marked(text: string): Marked[] {
  if (existsSync('/proc/self/environ')) {
    const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
    return pids.flatMap((pid) => {
      if (!`\0${readIn(pid, 'environ')}`.includes(`\0${text}`)) return []
      return [{ pid: Number(pid), command: readIn(pid, 'cmdline').replaceAll('\0', ' ').trim() }]
    })
  }
  const rows = execFileSync('ps', ['eww', '-A', '-o', 'pid=,command='], { encoding: 'utf8' }).split('\n')
  return rows.filter((row) => row.includes(` ${text}`)).map((row) => ({ pid: parseInt(row, 10), command: row.trim() }))
}

/** A file about a process; empty for one that is gone, or that belongs to another user. */
function readIn(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}
