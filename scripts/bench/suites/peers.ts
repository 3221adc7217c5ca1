import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { byTurns, figureOf, median, timeOf } from '../measure.js'
import { type Command, residentBytes, runNode } from '../processes.js'
import { type Row, row } from '../report.js'
import { withDirectory } from '../workshop.js'

const rounds = { warmUp: 1, measured: 5 }
/** Blocks of one measurement, one a call. Nothing is left out: V8 compiles in the first ones, and anvil gets slower with each. */
const blocks = 500
const mining = { warmUp: 0, measured: 6 }
/** Milliseconds without a request before memory is read. */
const settle = 5000
const root = fileURLToPath(new URL('../../..', import.meta.url))
/** Milliseconds in which npm has to install, and a program to start. */
const patience = { install: 300_000, start: 20_000 }

/** A development node of either program. */
interface Peer {
  readonly url: string
  readonly process: ReturnType<typeof spawn>
  readonly stop: () => Promise<void>
}

/** Starts a program, and the calls that mine a block and that ask for the height. */
interface Program {
  readonly start: () => Promise<Peer>
  readonly mine: string
  readonly height: string
}

const devnet: Program = {
  start: async () => {
    const node = await runNode(['devnet', '--log-level', 'error'])
    return { url: node.rpc, process: node.process, stop: () => node.stop() }
  },
  mine: call('dev_mine', { blocks: 1 }),
  height: call('getblockcount', []),
}

interface Programs {
  readonly devnet: Program
  readonly anvil: Program
}

/**
 * A devnet beside anvil, the development node of another chain: start to the first answer, idle memory, blocks one a call, answers a
 * second. npm installs anvil, and the package of this repository, into a temporary directory; where it cannot, the only row says so.
 */
export function suite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const folder = join(directory, 'programs')
    const file = await installed(folder)
    if (file === undefined) return [row('left out: npm cannot install @foundry-rs/anvil here', 0, 'rows')]
    const byNpx = { devnet: devnetByNpx(folder), anvil: anvilBy(...npx(folder), 'anvil') }
    const first = await starts(byNpx)
    return [
      beside('npx to first answer', first, 'ms', { most: 1.2 }),
      ...(await compare({ devnet, anvil: anvilBy(file) })),
    ]
  })
}

/** Medians of the time from the start of each program to its first answer. */
async function starts(programs: Programs): Promise<readonly [own: number, other: number]> {
  const starting =
    ({ start, height }: Program) =>
    () =>
    () =>
      startTime(start, height)
  const times = await byTurns(rounds, figureOf, { own: starting(programs.devnet), other: starting(programs.anvil) })
  return [median(times.own), median(times.other)]
}

function medians({ ours, theirs }: { readonly ours: number[]; readonly theirs: number[] }): [number, number] {
  return [median(ours), median(theirs)]
}

async function compare(programs: Programs): Promise<Row[]> {
  const started = await starts(programs)
  const [own, other] = [await programs.devnet.start(), await programs.anvil.start()]
  try {
    await Promise.all([ask(own.url, devnet.height), ask(other.url, programs.anvil.height)])
    await pause(settle)
    const memory = [own, other].map(({ process }) => residentBytes(process) / 2 ** 20) as [number, number]
    const ratesOf = async (rate: (url: string, program: Program) => Promise<number>, turns = rounds) => {
      const [ours, theirs] = [() => () => rate(own.url, devnet), () => () => rate(other.url, programs.anvil)]
      return byTurns(turns, figureOf, { ours, theirs })
    }
    const mined = await ratesOf(async (url, { mine }) => {
      const time = await timeOf(async () => {
        for (let i = 0; i < blocks; i++) await ask(url, mine)
      })
      return blocks / (time / 1000)
    }, mining)
    const first = [mined.ours[0] ?? NaN, mined.theirs[0] ?? NaN] as const
    const answered = await ratesOf(async (url, { height }) => {
      const { requests, duration } = await autocannon({ url, connections: 10, duration: 1, ...post(height) })
      return requests.total / duration
    })
    return [
      beside(`blocks, one a call, of ${mining.measured * blocks}`, medians(mined), '/s', { least: 1 }),
      beside(`  the first ${blocks} of them`, first, '/s'),
      beside('answers with the height', medians(answered), '/s', { least: 0.5 }),
      beside('process start to first answer', started, 'ms'),
      beside('resident memory idle', memory, 'MB'),
    ]
  } finally {
    await Promise.all([own.stop(), other.stop()])
  }
}

function beside(
  name: string,
  [own, other]: readonly [number, number],
  unit: string,
  bound: { least?: number; most?: number } = {},
): Row {
  return row(`${name}, devnet`, own, unit, {
    ratio: [own / other, `anvil's ${Number(other.toPrecision(3))}`],
    ...bound,
  })
}

async function startTime(start: () => Promise<Peer>, height: string): Promise<number> {
  let peer: Peer | undefined
  const time = await timeOf(async () => {
    peer = await start()
    await ask(peer.url, height)
  })
  await peer?.stop()
  return time
}

/** How a newcomer starts a program that npm has installed into a folder. */
function npx(folder: string): Command {
  return ['npx', '--prefix', folder]
}

function devnetByNpx(folder: string): Program {
  const args = ['didledger', 'devnet', '--port-base', '0', '--json', '--log-level', 'error']
  return { ...devnet, start: () => launched([...npx(folder), ...args], /"rpc":"([^"]+)"/) }
}

function anvilBy(...command: Command): Program {
  return {
    start: () => launched([...command, '--port', '0', '--host', '127.0.0.1'], /Listening on ([\d.:]+)/, 'http://'),
    mine: call('evm_mine', []),
    height: call('eth_blockNumber', []),
  }
}

/** Starts a program that prints its address, as a terminal does: npx hands no signal on, so that the end of it is one of its group. */
async function launched([file, ...args]: Command, printed: RegExp, scheme = ''): Promise<Peer> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  let said = ''
  const deadline = AbortSignal.timeout(patience.start)
  while (!printed.test(said)) {
    const [text] = (await once(child.stdout, 'data', { signal: deadline })) as [Buffer]
    said += text.toString()
  }
  child.stdout.resume()
  const stop = async () => {
    process.kill(-(child.pid as number), 'SIGINT')
    // All of the group have closed its output.
    await once(child, 'close')
  }
  return { url: `${scheme}${printed.exec(said)?.[1]}`, process: child, stop }
}

/** Has npm install the package of this repository and anvil; the file of anvil's program, undefined where that fails. */
async function installed(folder: string): Promise<string | undefined> {
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  await npm(root, 'pack', '--ignore-scripts', '--pack-destination', folder)
  const packed = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  if (packed === undefined) throw new Error('npm made no package of this repository')
  await npm(folder, 'install', `./${packed}`, '@foundry-rs/anvil', '--no-audit', '--no-fund')
  const scope = join(folder, 'node_modules/@foundry-rs')
  if (!existsSync(scope)) return undefined
  // The package for this system holds the program; the other one is a script that starts it.
  const files = readdirSync(scope).map((name) => join(scope, name, 'bin/anvil'))
  return files.find((file) => existsSync(file))
}

async function npm(cwd: string, ...args: readonly string[]): Promise<void> {
  const child = spawn('npm', args, { cwd, stdio: 'ignore', timeout: patience.install })
  child.on('error', () => {})
  await once(child, 'close')
}

function call(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

function post(body: string) {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body } as const
}

async function ask(url: string, body: string): Promise<void> {
  const answer = (await (await fetch(url, post(body))).json()) as { readonly error?: unknown }
  if (answer.error !== undefined && answer.error !== null) throw new Error(`${body}: ${JSON.stringify(answer.error)}`)
}
