import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'
import { portOffsets } from '../../node/ports.js'
import { toHex } from '../../base/primitives/bytes.js'
import { devnetValidatorKey } from '../../clients/wallet/devnet-accounts.js'
import { ManyLines } from './many-lines.js'
import { isThere, makeDirectory } from '../../clients/wallet/files.js'
import type { NodeStart } from './run-node.js'
import { readValidatorKey, writeValidatorKey } from './validator-key.js'

/** Difference between the ports of consecutive nodes. */
export const portStep = 1000
/** Milliseconds that a node may take to stop before it is killed. */
const stopTimeout = 20_000
/** Milliseconds until a notice names the nodes that delay the stop. */
const stopNotice = 2_000
/** Log lines shown of a node that ended unexpectedly. */
const lastLines = 10
/** @tuning characters: first line of a node of `devnet --nodes` */
const longestStart = 65_536

export interface LocalNetworkOptions {
  readonly nodes: number
  /** Parent of the nodes' own directories. */
  readonly directory: string
  /** 0 takes free ports. */
  readonly portBase: number
  /** Environment variables of the nodes. */
  readonly env: NodeJS.ProcessEnv
}

/** One process of a {@link LocalNetwork}. Numbers begin at 1. */
export interface LocalNode {
  readonly number: number
  readonly start: NodeStart
  /** How it ended; undefined while it runs. */
  readonly ended: string | undefined
}

/**
 * Nodes of the chain `localnet` as separate processes, each with a well-known validator key. They stop at the end of their
 * standard input, so that none outlives this process. Each has its own session, so that terminal signals reach only this process.
 */
export class LocalNetwork {
  readonly #options: LocalNetworkOptions
  readonly #nodes: Member[] = []
  /** Called with the number of a node that ended unexpectedly, how, and the last lines of its log. */
  onEnd: (number: number, how: string, log: readonly string[]) => void = () => {}
  /** Called when the process of a node has begun, and when it serves. */
  onProgress: (number: number, state: 'started' | 'ready') => void = () => {}
  /** Called with the numbers of nodes that are slow to stop. */
  onSlowStop: (numbers: readonly number[]) => void = () => {}
  #stopping = false
  /** Nodes without a directory or key from an earlier run. */
  #fresh: ReadonlySet<number> = new Set()

  constructor(options: LocalNetworkOptions) {
    this.#options = options
  }

  get nodes(): readonly LocalNode[] {
    return this.#nodes.filter((node): node is Member & LocalNode => node.start !== undefined)
  }

  /** Resolves once all nodes serve. If one fails, a {@link UserError} with the end of its log. */
  async start(): Promise<void> {
    const { nodes, portBase } = this.#options
    const numbers = Array.from({ length: nodes }, (_, i) => i + 1)
    // Fresh keys need no sign state, even if their nodes start late: they have never signed on this chain.
    const isFresh = (number: number) =>
      !isThere(this.#dataDir(number), 'data directory') && !isThere(this.#keyFile(number), 'validator key')
    this.#fresh = new Set(numbers.filter(isFresh))
    if (portBase !== 0) {
      const address = (number: number) => `127.0.0.1:${portBase + (number - 1) * portStep + portOffsets.p2p}`
      await Promise.all(
        numbers.map((number) => this.#run(number, numbers.filter((other) => other !== number).map(address))),
      )
      return
    }
    // A free port is known only after the start, so each node gets the addresses of those before it.
    for (const number of numbers) {
      if (this.#stopping) return
      await this.#run(
        number,
        this.#nodes.flatMap(({ start }) => start?.p2p.slice(0, 1) ?? []),
      )
    }
  }

  /** Resolves when no process is left. */
  async close(): Promise<void> {
    this.#stopping = true
    const left = new Set(this.#nodes)
    const notice = setTimeout(() => this.onSlowStop([...left].map(({ number }) => number)), stopNotice)
    await Promise.all(
      [...left].map(async (node) => {
        const { child, exit } = node
        child.stdin?.end()
        const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeout)
        await exit
        clearTimeout(timer)
        left.delete(node)
      }),
    )
    clearTimeout(notice)
  }

  /** Ends all processes without waiting for anything. */
  kill(): void {
    this.#stopping = true
    for (const { child } of this.#nodes) child.kill('SIGKILL')
  }

  async #run(number: number, peers: readonly string[]): Promise<void> {
    const { directory, portBase, env } = this.#options
    const log = join(directory, `node-${number}.log`)
    const key = this.#ownKeyFile(number)
    const args = [
      ...['start', '--genesis', 'localnet', '--data-dir', this.#dataDir(number), '--validator-key', key],
      ...(this.#fresh.has(number) ? ['--reset-sign-state=now'] : []),
      ...['--port-base', String(portBase === 0 ? 0 : portBase + (number - 1) * portStep), '--p2p-host', '127.0.0.1'],
      ...peers.flatMap((peer) => ['--peer', peer]),
      ...['--stop-on-eof', '--json'],
    ]
    // A file keeps the output of a node even after this process has ended.
    const errors = openSync(log, 'a')
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1] as string, ...args], {
      stdio: ['pipe', 'pipe', errors],
      env,
      detached: true,
    })
    closeSync(errors)
    // A write to a process that has died is not a failure of this one.
    child.stdin?.on('error', () => {})
    const exit = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
    })
    const node: Member = { number, child, exit, start: undefined, ended: undefined }
    this.#nodes.push(node)
    this.#nodes.sort((a, b) => a.number - b.number)
    this.onProgress(number, 'started')
    const line = await Promise.race([firstLine(child), exit])
    if (!line.startsWith('{')) {
      throw new ManyLines([`node ${number} ended with ${line}:`, ...tail(log)])
    }
    node.start = JSON.parse(line) as NodeStart
    this.onProgress(number, 'ready')
    void exit.then((how) => {
      node.ended = how
      if (!this.#stopping) this.onEnd(number, how, tail(log))
    })
  }

  #dataDir(number: number): string {
    return join(this.#options.directory, `node-${number}`)
  }

  #keyFile(number: number): string {
    return join(this.#options.directory, `validator-${number}.key`)
  }

  /** The key file of a node, kept for later starts; created if missing. */
  #ownKeyFile(number: number): string {
    const file = this.#keyFile(number)
    const { privateKey } = devnetValidatorKey(number - 1)
    makeDirectory(this.#options.directory)
    if (!isThere(file, 'validator key')) writeValidatorKey(file, privateKey)
    else if (toHex(readValidatorKey(file).privateKey) !== toHex(privateKey)) {
      throw new UserError(
        `${file} holds another key than that of validator ${number} of localnet: use another directory`,
      )
    }
    return file
  }
}

interface Member {
  readonly number: number
  readonly child: ChildProcess
  /** How it ended. */
  readonly exit: Promise<string>
  start: NodeStart | undefined
  ended: string | undefined
}

/** The first line that a process prints; never resolves without one. */
function firstLine({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    stdout?.setEncoding('utf8').on('data', (part: string) => {
      if (text.length > longestStart) return
      text += part
      const end = text.indexOf('\n')
      if (end >= 0) resolve(text.slice(0, end))
    })
  })
}

/** The last lines of a log; of a failed command with `--json` its error message. */
function tail(file: string): string[] {
  // Whatever it holds: a process may have been killed in the midst of a character.
  const text = readFileSync(file, 'utf8').trimEnd()
  const [, message] = /\n? {2}"error": \{[^{}]*?"message": ("(?:[^"\\]|\\.)*")\s*\}\s*\}$/.exec(text) ?? []
  return message === undefined ? text.split('\n').slice(-lastLines) : (JSON.parse(message) as string).split('\n')
}
