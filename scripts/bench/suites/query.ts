import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { queryLimits } from '../../../src/answers/resolver/document-search.js'
import type { Resolver } from '../../../src/answers/resolver/resolver.js'
import { callRpc } from '../../../src/clients/client/rpc.js'
import type { Database } from '../../../src/ledger/storage/database.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { writeDids } from '../did-rows.js'
import { byTurns, delayDuring, median, quantile, type Spent, spentOn, timeOf } from '../measure.js'
import { following, runNode } from '../processes.js'
import { type Row, row } from '../report.js'
import { mineBlock, recent, resolverOf, withDirectory, withLedger, writtenSpec } from '../workshop.js'

const documents = 100_000
const rounds = 5
let asked = 0
/** Another text each time: what is known of a condition is kept. */
const condition = () => `{service:{text:{$regex:"and how they are"}},id:{$ne:"${asked++}"}}`
/** A text of about a hundred documents. */
const rareCondition = () => `{service:{serviceEndpoint:{$regex:"/people/77"}},id:{$ne:"${asked++}"}}`

/**
 * A search through 100,000 documents of about 2 kB for what the index does not answer, of which a third has to be parsed: in this process, with the delay of its event
 * loop, and in a node, with the time that another client waits for the height during it.
 */
export function suite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const dataDir = join(directory, 'data')
    const { file, spec } = await writtenSpec(directory, 1, 'pow', recent())
    const rows = await withLedger(spec, dataDir, async (ledger) => {
      await ledger.chain.acceptBlock((await mineBlock(ledger.chain, [])).bytes)
      const { bytes } = await writeDids(ledger.chain, documents)
      return [
        ...(await inProcess(resolverOf(ledger), documentsOf(ledger.database))),
        row('bytes of a document there', bytes / documents, 'B'),
      ]
    })
    const node = await runNode(following(file, dataDir))
    try {
      return [...rows, ...(await besideOthers(node.rest))]
    } finally {
      await node.stop()
    }
  })
}

/** Searches for a text that most documents have and for one that few have, and parsing all documents, by turns. */
async function inProcess(resolver: Resolver, texts: AsyncIterable<Buffer>): Promise<Row[]> {
  const search = (of: () => string) => async () => {
    const { total } = await resolver.query({ query: of() })
    if (total === 0 || total === documents) throw new Error(`${total} documents match`)
  }
  const parse = async () => {
    for await (const text of texts) JSON.parse(text.toString('utf8'))
  }
  // The first round compiles the code and fills the caches of the system.
  const tasks = { frequent: () => search(condition), rare: () => search(rareCondition), parse: () => parse }
  const spent = await byTurns({ warmUp: 1, measured: rounds }, spentOn, tasks)
  const rate = (of: readonly Spent[]) => documents / (median(of.map(({ main }) => main)) / 1000)
  const [frequent, rare, parsed] = [rate(spent.frequent), rate(spent.rare), rate(spent.parse)]
  const delay = await delayDuring(async () => {
    for (let i = 0; i < rounds; i++) await search(condition)()
  })
  const against = 'parsing alone'
  return [
    row('documents parsed a second of the main thread', parsed, '/s'),
    row('documents searched for a frequent text', frequent, '/s', {
      ratio: [frequent / parsed, against],
      least: 1.2,
    }),
    row('documents searched for a rare text', rare, '/s', { ratio: [rare / parsed, against], least: 2 }),
    row('event-loop delay p99 while searching', delay.percentile(99) / 1e6, 'ms', { most: 10 }),
    row('the same, longest', delay.max / 1e6, 'ms'),
  ]
}

/** The documents of a chain, as a search reads them. */
function documentsOf(database: Database): AsyncIterable<Buffer> {
  return {
    async *[Symbol.asyncIterator]() {
      const rows = database.freeze()
      try {
        for await (const some of rows.pages(tables.didDocument.range(), queryLimits.pageBytes)) {
          for (const [, value] of some) yield value
        }
      } finally {
        rows.close()
      }
    },
  }
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
