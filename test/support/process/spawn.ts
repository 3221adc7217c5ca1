import type { ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NodeClient } from '../../../src/clients/client/node-client.js'
import { startChild } from './children.js'

/** The built command: what a user runs. `npm ci` and `npm run build` make it. */
export const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

/** How a process ended and what it had printed. */
export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** The line that a node prints with --json as soon as it serves. */
export interface StartLine {
  readonly name: string
  readonly height: number
  readonly genesis: string
  readonly dataDir: string
  readonly rest: string
  readonly ws: string
  readonly rpc: string
  /** Address of the metrics if they have a port of their own. */
  readonly metrics?: string
  /** Multiaddrs; none where it listens for no peers. */
  readonly p2p: readonly string[]
}

export interface SpawnOptions {
  /** A command and its arguments that run the program: `['nice', …]`. */
  readonly through?: readonly string[]
  /** Directory of the program; relative files start there. */
  readonly cwd?: string
  /** Variables beside those of this process; what configures a node there is left out. */
  readonly env?: Readonly<Record<string, string>>
}

/** A command of didledger as a process of its own. */
export class CommandProcess {
  out = ''
  err = ''
  readonly finished: Promise<Finished>
  readonly #child: ChildProcess
  #changed: () => void = () => {}

  constructor(args: readonly string[], { through = [], cwd, env }: SpawnOptions = {}) {
    if (!existsSync(program)) throw new Error(`${program} is missing; run: npm run build`)
    const [command, ...rest] = [...through, process.execPath, program, ...args] as [string, ...string[]]
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('DIDLEDGER_'))
    const child = startChild(command, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...Object.fromEntries(inherited), ...env },
      ...(cwd === undefined ? {} : { cwd }),
    })
    this.#child = child
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.out += text
      this.#changed()
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.err += text))
    this.finished = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => {
        resolve({ code, signal, out: this.out, err: this.err })
        this.#changed()
      })
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** The first line of output; undefined when the process ends without one. */
  async firstLine(): Promise<string | undefined> {
    let ended = false
    void this.finished.then(() => (ended = true))
    while (!this.out.includes('\n') && !ended) {
      await new Promise<void>((resolve) => (this.#changed = resolve))
    }
    return this.out.includes('\n') ? this.out.slice(0, this.out.indexOf('\n')) : undefined
  }
}

/** A node that serves. */
export class NodeProcess {
  readonly process: CommandProcess
  readonly line: StartLine
  readonly client: NodeClient

  private constructor(command: CommandProcess, line: StartLine) {
    this.process = command
    this.line = line
    this.client = new NodeClient({ rest: line.rest })
  }

  /** Starts a node with --json, on free ports unless told others, and waits until it serves; rejects with its output when it ends before. */
  static start(...args: string[]): Promise<NodeProcess> {
    return NodeProcess.startWith({}, ...args)
  }

  static async startWith(options: SpawnOptions, ...args: string[]): Promise<NodeProcess> {
    const ports = args.includes('--port-base') ? [] : ['--port-base', '0']
    const command = new CommandProcess([...args, ...ports, '--json'], options)
    const line = await command.firstLine()
    if (line !== undefined) return new NodeProcess(command, JSON.parse(line) as StartLine)
    const { code, signal, out, err } = await command.finished
    throw new Error(`${args.join(' ')} ended with ${code ?? signal} instead of serving: ${out}${err}`)
  }

  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Finished> {
    this.process.kill(signal)
    return this.process.finished
  }

  /** A REST answer as it came, error envelopes included; of a new connection, since the node may end one that idles while this asks. */
  async get(path: string): Promise<{ status: number; body: { Error: number; Desc: string; Result: unknown } }> {
    const response = await fetch(`${this.line.rest}/api/v1/${path}`, { headers: { connection: 'close' } })
    const body = (await response.json()) as { Error: number; Desc: string; Result: unknown }
    return { status: response.status, body }
  }

  /** The result of a JSON-RPC method that needs the token of the owner. */
  async admin<T>(method: string, params: object = {}): Promise<T> {
    const token = readFileSync(join(this.line.dataDir, 'admin.token'), 'utf8').trim()
    const response = await fetch(this.line.rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result: T; error?: unknown }
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }

  /** Hash of the block at a height. */
  async hashAt(height: number): Promise<string> {
    return (await this.get(`block/hash/${height}`)).body.Result as string
  }
}

/** Runs a command to its end. */
export function run(...args: string[]): Promise<Finished> {
  return new CommandProcess(args).finished
}

/** Runs a command that must succeed, with --json, and returns what it printed. */
export async function runJson<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, out, err } = await run(...args, '--json')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${err}`)
  return JSON.parse(out) as T
}

/** Output of `chain info` and `chain verify`. */
export interface ChainInfo {
  readonly height: number
  readonly tip: string
  readonly state: string
}

/** A temporary directory in which tests make data directories. */
export class Directories {
  readonly root = mkdtempSync(join(tmpdir(), 'didledger-test-'))
  #count = 0

  /** A path that does not exist yet. */
  fresh(name = 'data'): string {
    return join(this.root, `${name}-${++this.#count}`)
  }

  /** A copy of a directory that no process is using. */
  copyOf(directory: string): string {
    const copy = this.fresh('copy')
    cpSync(directory, copy, { recursive: true })
    return copy
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}

/** The standard error of a command, but the lines by which it says on a busy machine that it waits for a block. */
export function besidesWaiting(err: string): string {
  return err.replace(/^accepted [0-9a-f]{64}, waiting for a block\n/gm, '')
}
