import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { genesisBlock, registerAssetTransaction } from './bench/dist.js'
import { fundedSpec, spendGenesis, withDirectory } from './bench/load.js'
import { type LocalNode, type Places, reach, startLocalNode } from './bench/local-nodes.js'
import type { Said } from './soak/measured.js'
import { heading, judge, judgeLoad, lineOf, listed, type Taken } from './soak/report.js'
import { Traffic } from './soak/traffic.js'

/**
 * npm run soak -- [--minutes N]: four validators on this machine, one of them measured in a process of its own, while peers
 * and clients come and go and transactions flow. For an hour, or N minutes; prints a line for each sample and then by what each
 * figure rises in an hour. Exits with code 1 when one of them rises by more than docs/reliability.md allows, or when a kind of
 * visit or of traffic never succeeded.
 */

const payerCount = 400
/** Kinds of visits of peers that begin in a second. */
const visitRate = 7
/** Slow enough that the headers of an hour do not fill their cache, and so are no large part of what is measured. */
const timing = { minInterval: 2000, emptyInterval: 10_000, maxDrift: 15_000, propose: 3000, delta: 500 }
/** The part of the time before the figures count, and its bounds in minutes: what is remembered for a while has its size then. */
const warmUp = { part: 0.4, least: 0.5, most: 20 }
/** Milliseconds between two samples. */
const longestInterval = 10_000
/** Milliseconds that a process may take to stop before it is killed. */
const patience = 20_000

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } })
const minutes = Number(values.minutes)
if (!(minutes >= 1)) {
  console.error('--minutes takes a number from 1 on')
  process.exit(2)
}
const interrupted = new AbortController()
for (const event of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(event, () => interrupted.abort())

process.exit(await main())

async function main(): Promise<number> {
  return withDirectory(async (directory) => {
    const { text, spec, payers } = fundedSpec(payerCount, 'localnet', { timing })
    const file = join(directory, 'spec.json')
    writeFileSync(file, text)
    spendGenesis({ genesis: genesisBlock(spec) }, payers)
    const stops: (() => unknown)[] = []
    try {
      const child = forked(
        'measured',
        ['--expose-gc', '--disable-warning=ExperimentalWarning'],
        [file, join(directory, 'node-0')],
      )
      stops.push(() => end(child))
      const { places } = await answer(child, 'places')
      const nodes: (LocalNode | Places)[] = [places]
      for (const validator of [1, 2, 3]) {
        const peers = nodes.flatMap(({ p2p }) => p2p)
        const node = await startLocalNode({ directory, name: `node-${validator}`, spec: file, validator, peers })
        stops.push(() => node.stop())
        nodes.push(node)
      }
      await reach(2, places)
      const churner = forked('churner', [], [file, places.p2p[0] as string, String(visitRate)])
      stops.push(() => end(churner))
      let visits: Record<string, number> = {}
      churner.on('message', (said: { counts: Record<string, number> }) => (visits = said.counts))
      const traffic = new Traffic({ nodes, payers, assetId: registerAssetTransaction(spec).hash })
      stops.push(() => traffic.stop())
      const samples = await watch(child)
      const code = judge(samples)
      console.log(`visits of peers: ${listed(visits)}`)
      console.log(`users: ${listed(traffic.counts)}`)
      const [first, last] = [samples[0], samples.at(-1)].map((taken) => taken?.sample.joined ?? 0) as [number, number]
      return Math.max(code, judgeLoad({ visits, users: traffic.counts, peers: { 'those that joined': last - first } }))
    } catch (error) {
      if (!interrupted.signal.aborted) throw error
      return 130
    } finally {
      await Promise.all(stops.reverse().map((stop) => stop()))
    }
  })
}

/** Takes samples until the time is over; resolves with those after the warm-up. */
async function watch(child: ChildProcess): Promise<readonly Taken[]> {
  const start = performance.now()
  const length = minutes * 60_000
  const interval = Math.min(longestInterval, length / 60)
  const warm = Math.min(warmUp.most, Math.max(warmUp.least, minutes * warmUp.part)) * 60_000
  const counted: Taken[] = []
  console.log(heading())
  for (let due = interval; due <= length; due += interval) {
    await setTimeout(Math.max(0, start + due - performance.now()), undefined, interrupted)
    const counts = due >= warm
    const first = counts && counted.length === 0
    const last = due + interval > length
    child.send(first || last ? 'all' : 'sample')
    const { sample } = await answer(child, 'sample')
    const taken = { hours: (performance.now() - start) / 3_600_000, sample }
    if (counts) counted.push(taken)
    console.log(lineOf(taken))
  }
  return counted
}

/** Runs a script of this folder in a process of its own. */
function forked(name: string, options: readonly string[], args: readonly string[]): ChildProcess {
  const script = fileURLToPath(new URL(`./soak/${name}.ts`, import.meta.url))
  return fork(script, args, { execArgv: [...process.execArgv, ...options] })
}

/** The next thing of a kind that the measured process says; rejects when it ends, or this one is to end. */
async function answer<Kind extends 'places' | 'sample'>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<Said, Record<Kind, unknown>>> {
  const heard = new AbortController()
  const signal = AbortSignal.any([heard.signal, interrupted.signal])
  try {
    const [said] = (await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`the measured process ended with ${String(code)}`)
      }),
    ])) as [Said]
    if (!(kind in said)) throw new Error(`the measured process says ${JSON.stringify(said)}`)
    return said as Extract<Said, Record<Kind, unknown>>
  } finally {
    heard.abort()
  }
}

/** Ends a forked process: first in order, then at once. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  const kill = globalThis.setTimeout(() => child.kill('SIGKILL'), patience)
  child.kill('SIGTERM')
  await ended
  clearTimeout(kill)
}
