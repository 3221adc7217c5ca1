import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { registerAssetTransaction } from '../src/base/primitives/genesis.js'
import { end, forked, type Places, reach, runNode, said, validating, yielding } from './bench/processes.js'
import { withDirectory, writtenSpec } from './bench/workshop.js'
import { hostileAllocations } from './soak/hostile/scene.js'
import type { Latencies, Latency } from './soak/latency.js'
import { share, slower } from './soak/machine.js'
import { Owner } from './soak/owner.js'
import {
  heading,
  judge,
  judgeBans,
  judgeLatencies,
  judgeLoad,
  judgeOutcome,
  judgePeak,
  judgeReplays,
  lineOf,
  listed,
  type Taken,
} from './soak/report.js'
import type { Sample } from './soak/sample.js'
import { Traffic } from './soak/traffic.js'
import { numberIn, scriptArguments } from './script-arguments.js'

/**
 * npm run soak -- [--minutes N] [--rate N] [--pause MS] [--p99 MS]: four validators on this machine, one of them measured in a
 * separate process, under visits of honest and hostile peers and clients, and as many transactions as the machine carries, or
 * N a second. Runs for an hour, or N minutes; prints a line per sample and then the rise of each figure in an hour.
 * Exits with code 1 if a figure rises by more than docs/reliability.md allows, honest clients wait too long, honest replays of events
 * lose more than half of their speed beside those that are not read, an acknowledged transaction is gone, an honest node is banned, or
 * a kind of visit, attack or traffic never succeeded.
 */

/** Payers for each transaction a second: the interval, in seconds, at which each payer pays again. */
const payersPerRate = 10
/** Visits of peers that begin in a second. */
const visitRate = Math.max(1, 7 * share)
/** Slow enough that the headers of an hour do not fill their cache, and so are a small part of the measured memory. */
const timing = { minInterval: 2000, emptyInterval: 10_000, maxDrift: 15_000, propose: 3000, delta: 500 }
/** Prices of the shipped chains, which junk has to pay. */
const fees = { minimum: '100', perByte: '1', freeBytes: 1024, leaf: '1200' }
/** Share of the time before the figures count, with its bounds in minutes: short-lived caches have reached their size by then. */
const warmUp = { part: 0.4, least: 0.5, most: 20 }
/** Commands for validators and for visitors: the measured node and its users get the processors first. */
const [validatorCommand, strangerCommand] = [yielding(5), yielding(10)]
/** Milliseconds between two samples. */
const longestInterval = 10_000

const { values } = scriptArguments(import.meta.url, {
  options: {
    minutes: { type: 'string', default: '60' },
    /** Transactions of honest users a second. */
    rate: { type: 'string', default: String(Math.ceil(200 * share)) },
    /** Milliseconds from one round of an attack to the next; 0: no attacks. */
    pause: { type: 'string', default: String(Math.min(6000, Math.round(1500 / share))) },
    /** Milliseconds in which 99 of 100 honest questions have to be answered. */
    p99: { type: 'string', default: String(Math.round(250 * slower)) },
  },
})
const minutes = numberIn('minutes', values.minutes, 1)
const rate = numberIn('rate', values.rate, 1)
const pause = numberIn('pause', values.pause, 0)
const p99 = numberIn('p99', values.p99, 1)
const payerCount = payersPerRate * Math.max(rate, 40)
const interrupted = new AbortController()
for (const event of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(event, () => interrupted.abort())

process.exit(await main())

async function main(): Promise<number> {
  return withDirectory(async (directory) => {
    const own = { timing, fees }
    const { file, spec, payers } = await writtenSpec(directory, payerCount, 'localnet', own, hostileAllocations)
    const stops: (() => unknown)[] = []
    const started = (name: string, command: Parameters<typeof forked>[2], ...args: string[]) => {
      const child = forked(new URL(`./soak/${name}.ts`, import.meta.url), [file, ...args], command)
      stops.push(() => end(child))
      return child
    }
    try {
      const collecting = [process.execPath, '--expose-gc', '--disable-warning=ExperimentalWarning'] as const
      const child = started('measured', collecting, join(directory, 'node-0'))
      const { places } = await said<{ places: Places }>(child, interrupted.signal)
      const nodes = [places]
      for (const validator of [1, 2, 3]) {
        const peers = nodes.flatMap(({ p2p }) => p2p)
        const node = await runNode(validating(validator, directory, file, peers), validatorCommand)
        stops.push(() => node.stop())
        const { rest, ws, rpc, p2p } = node
        nodes.push({ rest, ws, rpc, p2p })
      }
      await reach(2, places)
      const owners = nodes.map((node, i) => new Owner(node, join(directory, `node-${i}`)))
      const honest = new Set((await Promise.all(owners.map((owner) => owner.peers()))).flat())
      const churner = started('churner', strangerCommand, places.p2p[0] as string, String(visitRate))
      let visits: Record<string, number> = {}
      churner.on('message', (message: { counts: Record<string, number> }) => (visits = message.counts))
      const idle = await sampleOf(child, 'sample')
      const traffic = new Traffic({ nodes, payers, assetId: registerAssetTransaction(spec).hash, rate })
      stops.push(() => traffic.stop())
      let attacks: Record<string, number> = {}
      let replaySpeeds: readonly number[] = []
      if (pause > 0) {
        const hostile = started('hostile', strangerCommand, String(payerCount), String(pause), JSON.stringify(nodes))
        hostile.on('message', (message: { counts: Record<string, number>; replaySpeeds: number[] }) => {
          attacks = message.counts
          replaySpeeds = message.replaySpeeds
        })
        hostile.once('exit', () => (attacks = { ...attacks, 'attackers that live': 0 }))
      }
      const { counted: samples, peak, waits } = await watch(child, traffic.latencies)
      const load = { visits, users: { ...traffic.counts }, ...(pause > 0 ? { attacks: { ...attacks } } : {}) }
      traffic.stop()
      const [first, last] = [samples[0], samples.at(-1)].map((taken) => taken?.sample.joined ?? 0) as [number, number]
      const codes = [
        judge(samples),
        judgePeak(idle.resident, peak),
        judgeLatencies(waits, p99),
        judgeOutcome(await traffic.acknowledged.settle(interrupted.signal)),
        judgeBans((await Promise.all(owners.map((owner) => owner.bansOf(honest)))).flat()),
        ...(pause > 0 ? [judgeReplays(replaySpeeds)] : []),
        judgeLoad({ ...load, peers: { 'those that joined': last - first } }),
      ]
      for (const [of, kinds] of Object.entries(load)) console.log(`${of}: ${listed(kinds)}`)
      return Math.max(...codes)
    } catch (error) {
      if (!interrupted.signal.aborted) throw error
      return 130
    } finally {
      await Promise.all(stops.reverse().map((stop) => stop()))
    }
  })
}

/** Observations of the measured process and of its users. */
interface Watched {
  /** Samples after the warm-up. */
  readonly counted: readonly Taken[]
  /** Maximum resident memory in bytes, warm-up included. */
  readonly peak: number
  readonly waits: readonly Latency[]
}

/**
 * Takes samples until the time is over. The first and the last counted one also count objects, which stops the process for
 * seconds. So latencies count from the sample after that first one, once the backlog is gone, until that last one begins.
 */
async function watch(child: ChildProcess, latencies: Latencies): Promise<Watched> {
  const start = performance.now()
  const length = minutes * 60_000
  const interval = Math.min(longestInterval, length / 60)
  const warm = Math.min(warmUp.most, Math.max(warmUp.least, minutes * warmUp.part)) * 60_000
  const counted: Taken[] = []
  let peak = 0
  const take = async (question: 'sample' | 'all') => {
    // Collecting garbage stops the node too.
    const sample = await latencies.aside(() => sampleOf(child, question))
    peak = Math.max(peak, sample.peak)
    const taken = { hours: (performance.now() - start) / 3_600_000, sample }
    console.log(lineOf(taken))
    return taken
  }
  console.log(heading())
  for (let due = interval; due <= length - interval; due += interval) {
    await setTimeout(Math.max(0, start + due - performance.now()), undefined, interrupted)
    if (counted.length === 1) latencies.clear()
    // Until now V8 compiled, and the measured process filled caches that take days elsewhere.
    const taken = await take(due >= warm && counted.length === 0 ? 'all' : 'sample')
    if (due >= warm) counted.push(taken)
  }
  await setTimeout(Math.max(0, start + length - performance.now()), undefined, interrupted)
  await latencies.settle()
  const waits = latencies.summary()
  counted.push(await take('all'))
  return { counted, peak, waits }
}

/** The answer of the measured process; rejects when it ends, or this one is to end. */
async function sampleOf(child: ChildProcess, question: 'sample' | 'all'): Promise<Sample> {
  child.send(question)
  return (await said<{ sample: Sample }>(child, interrupted.signal)).sample
}
