import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import type { Resolver } from '../../../src/answers/resolver/resolver.js'
import { callRpc } from '../../../src/clients/client/rpc.js'
import { writeDids } from '../did-rows.js'
import { delayDuring, median, medianTime, quantile, timeOf } from '../measure.js'
import { following, runNode } from '../processes.js'
import { type Row, row, shown } from '../report.js'
import { mineBlock, recent, resolverOf, withDirectory, withLedger, writtenSpec } from '../workshop.js'

const documents = 100_000
const rounds = 5
let asked = 0
/** Another text each time: what is known of a condition is kept. */
const condition = () => `{service:{text:{$regex:"and how they are"}},id:{$ne:"${asked++}"}}`

/**
 * A search through 100,000 documents of about 2 kB for what the index does not answer: in this process, with the delay of its event
 * loop, and in a node, with the time that another client waits for the height during it.
 */
export function suite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const dataDir = join(directory, 'data')
    const { file, spec } = await writtenSpec(directory, 1, 'pow', recent())
    const rows = await withLedger(spec, dataDir, async (ledger) => {
      await ledger.chain.acceptBlock((await mineBlock(ledger.chain, [])).bytes)
      const { bytes } = await writeDids(ledger.chain, documents)
      return [...(await inProcess(resolverOf(ledger))), row('bytes of a document there', bytes / documents, 'B')]
    })
    const node = await runNode(following(file, dataDir))
    try {
      return [...rows, ...(await besideOthers(node.rest))]
    } finally {
      await node.stop()
    }
  })
}

async function inProcess(resolver: Resolver): Promise<Row[]> {
  const search = async () => {
    const { total } = await resolver.query({ query: condition() })
    if (total === 0 || total === documents) throw new Error(`${total} documents match`)
  }
  // The first round compiles the code and fills the caches of the system.
  await search()
  let duration = 0
  const delay = await delayDuring(async () => {
    duration = await medianTime({ warmUp: 0, measured: rounds }, search)
  })
  return [
    row(`search through ${shown(documents)} documents`, duration, 'ms'),
    row('documents searched', documents / (duration / 1000), '/s'),
    row('event-loop delay p99 while searching', delay.percentile(99) / 1e6, 'ms', { most: 10 }),
    row('the same, longest', delay.max / 1e6, 'ms'),
  ]
}

/** Wait of a client for the height on an idle node, and during the search of another client. */
async function besideOthers(address: string): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true })
  const height = () => timeOf(() => answer(agent, `${address}/api/v1/block/height`))
  for (let i = 0; i < 500; i++) await height()
  const calm: number[] = []
  for (let i = 0; i < 500; i++) calm.push(await height())
  const busy: number[] = []
  const searches: number[] = []
  for (let round = 0; round < rounds; round++) {
    let running = true
    const question = { query: condition() }
    const search = timeOf(() => callRpc(`${address}/rpc`, 'query', question, { timeout: 60_000 })).finally(
      () => (running = false),
    )
    while (running) busy.push(await height())
    searches.push(await search)
  }
  agent.destroy()
  return [
    row('the search over HTTP, another client asking', median(searches), 'ms'),
    row('block/height beside it, p99', quantile(busy, 0.99), 'ms', { most: 10 }),
    row('block/height without it, p99', quantile(calm, 0.99), 'ms'),
  ]
}

async function answer(agent: Agent, url: string): Promise<void> {
  const [response] = (await once(get(url, { agent }), 'response')) as [NodeJS.ReadableStream]
  response.resume()
  await once(response, 'end')
}
