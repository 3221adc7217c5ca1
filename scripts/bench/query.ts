import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { seededCreates, writeOperations } from './did-rows.js'
import { chainProver, createVerifierPool, DataDirectory, openLedger, Resolver, systemEnv } from './dist.js'
import { fundedSpec, quiet, withDirectory } from './load.js'
import { runNode } from './processes.js'
import { median, type Row } from './report.js'

const documents = 100_000
const rounds = 5
let asked = 0
/** Another text each time: what is known of a condition is kept. */
const condition = () => `{service:{text:{$regex:"and how they are"}},id:{$ne:"${asked++}"}}`

/**
 * A search through 100,000 documents of about 2 kB for what the index does not answer: in this process, with the delay of its event
 * loop, and in a node, with the time that another client waits for the height during it.
 */
export async function querySuite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const dataDir = join(directory, 'data')
    const specFile = join(directory, 'spec.json')
    const { text, spec } = fundedSpec(1)
    await writeFile(specFile, text)
    const dataDirectory = await DataDirectory.open(dataDir)
    const verifier = createVerifierPool()
    const { chain, database, clock } = await openLedger(spec, dataDirectory, verifier, systemEnv(quiet))
    const rows: Row[] = []
    try {
      const { bytes } = await writeOperations(database, chain.tip.header, seededCreates(documents), 1)
      const height = 0
      const standing = () => ({ inStep: true, height, age: 0 }) as const
      const resolver = new Resolver({
        database,
        prover: chainProver(chain),
        clock,
        tip: () => chain.tip.header,
        standing,
      })
      rows.push(...(await inProcess(resolver)), {
        name: 'bytes of a document there',
        value: bytes / documents,
        unit: 'B',
      })
      await chain.close()
    } finally {
      await database.close()
      await verifier.close()
    }
    const node = await runNode(['start', '--genesis', specFile, '--data-dir', dataDir])
    try {
      return [...rows, ...(await besideOthers(node.announced))]
    } finally {
      await node.stop()
    }
  })
}

async function inProcess(resolver: InstanceType<typeof Resolver>): Promise<Row[]> {
  const durations: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (let round = 0; round <= rounds; round++) {
    // The first round compiles the code and fills the caches of the system.
    if (round === 1) delay.enable()
    const start = performance.now()
    const { total } = await resolver.query({ query: condition() })
    if (round > 0) durations.push(performance.now() - start)
    if (total === 0 || total === documents) throw new Error(`${total} documents match`)
  }
  delay.disable()
  const duration = median(durations)
  return [
    { name: `search through ${documents.toLocaleString('en')} documents`, value: duration, unit: 'ms' },
    { name: 'documents searched', value: documents / (duration / 1000), unit: '/s' },
    {
      name: 'event-loop delay p99 while searching',
      value: delay.percentile(99) / 1e6,
      unit: 'ms',
      target: { most: 10 },
    },
    { name: 'the same, longest', value: delay.max / 1e6, unit: 'ms' },
  ]
}

/** Wait of a client for the height on an idle node, and during the search of another client. */
async function besideOthers(address: string): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true })
  const height = () => timed(() => answer(agent, `${address}/api/v1/block/height`))
  for (let i = 0; i < 500; i++) await height()
  const calm: number[] = []
  for (let i = 0; i < 500; i++) calm.push(await height())
  const busy: number[] = []
  const searches: number[] = []
  for (let round = 0; round < rounds; round++) {
    let running = true
    const search = timed(() => ask(address)).finally(() => (running = false))
    while (running) busy.push(await height())
    searches.push(await search)
  }
  agent.destroy()
  return [
    { name: 'the search over HTTP, another client asking', value: median(searches), unit: 'ms' },
    { name: 'block/height beside it, p99', value: percentile(busy, 0.99), unit: 'ms', target: { most: 10 } },
    { name: 'block/height without it, p99', value: percentile(calm, 0.99), unit: 'ms' },
  ]
}

async function ask(address: string): Promise<void> {
  const body = JSON.stringify({ id: 1, method: 'query', params: { query: condition() } })
  const response = await fetch(`${address}/rpc`, { method: 'POST', body })
  const { result, error } = (await response.json()) as { result?: { total: number }; error?: { message: string } }
  if (result === undefined) throw new Error(`query: ${error?.message}`)
}

async function answer(agent: Agent, url: string): Promise<void> {
  const [response] = (await once(get(url, { agent }), 'response')) as [NodeJS.ReadableStream]
  response.resume()
  await once(response, 'end')
}

async function timed(act: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await act()
  return performance.now() - start
}

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * part)] ?? NaN
}
