import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startChild } from './children.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const copied = [
  'dist',
  'docs',
  'genesis',
  'scripts',
  'src',
  '.npmrc',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

/**
 * A copy of the checkout to run commands in as a user would: built, with its packages, and with an npm cache of its own, so that
 * nothing outside is touched and `npx` behaves as it does the first time.
 */
export class Checkout {
  readonly path = mkdtempSync(join(tmpdir(), 'readme-'))
  readonly #env: NodeJS.ProcessEnv

  constructor() {
    if (!existsSync(join(root, 'dist'))) throw new Error('dist is missing; run: npm run build')
    for (const name of copied)
      cpSync(join(root, name), join(this.path, name), { recursive: true, preserveTimestamps: true })
    symlinkSync(join(root, 'node_modules'), join(this.path, 'node_modules'))
    // What npm and vitest set for their own children is not there in a user's terminal.
    const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST|TEST$|DIDLEDGER)/i.test(name))
    const tools = join(fileURLToPath(new URL('../tools', import.meta.url)))
    const path = [process.env['PATH'] ?? '', tools].join(delimiter)
    this.#env = { ...Object.fromEntries(own), PATH: path, npm_config_cache: join(this.path, '.npm') }
  }

  /** Starts a command in a shell. */
  start(command: string): ChildProcess {
    return startChild('sh', ['-c', command], { cwd: this.path, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] })
  }

  /** Runs a command in a shell; its output without the line break at the end. */
  async run(command: string): Promise<{ code: number | null; out: string; err: string }> {
    const child = this.start(command)
    let out = ''
    let err = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, out: out.replace(/\n$/, ''), err }
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text)
  }

  close(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** A command without npx, which takes a second of processor time: for those that come after commands that did run by npx. */
export function withoutNpx(command: string): string {
  return command.replace(/^npx didledger /, 'node dist/cli/main.js ')
}

/**
 * The process that a chain of shells and npm below `pid` has started: the last of the line. Ctrl-C in a terminal reaches all of
 * them; only this one decides how to end.
 */
export async function innermost(pid: number): Promise<number> {
  const parents = await parentsOf()
  let found = pid
  for (;;) {
    const child = [...parents].find(([, parent]) => parent === found)?.[0]
    if (child === undefined) return found
    found = child
  }
}

/** Every process with its parent: from /proc where there is one, else from ps. */
async function parentsOf(): Promise<Map<number, number>> {
  if (existsSync('/proc/self/stat')) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return new Map(pids.flatMap((pid) => parentIn(pid)))
  }
  const child = spawn('ps', ['-A', '-o', 'pid=,ppid='])
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) text += String(chunk)
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]),
  )
}

function parentIn(pid: string): [number, number][] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold anything; state and parent follow it.
    return [[Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]]
  } catch {
    return []
  }
}
