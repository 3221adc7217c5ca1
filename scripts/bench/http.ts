import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import * as didResolver from 'did-resolver'
import { holder } from '../../test/support/builders/did.js'
import { chainProver, createVerifierPool, DataDirectory, getResolver, openLedger, Resolver, systemEnv } from './dist.js'
import { fundedSpec, mineBlock, quiet, selfTransfer, spendGenesis, withDirectory } from './load.js'
import { run, runNode } from './processes.js'
import { median, type Row } from './report.js'

const bigBlock = 300
const seconds = 1
const rounds = 3
const connections = 10
const resolutions = 200_000

/** A request: a GET of a path, or a POST of a body. */
interface Question {
  readonly name: string
  readonly path: string
  readonly body?: string
  readonly least: number
}

/**
 * The interfaces of a node started by the command line, each answer against a server of the same set-up with a constant of the
 * same length, and against bare node:http; then a node that logs its calls against one that does not. This process makes the
 * load, the servers are others; all alternate.
 */
export async function httpSuite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const { questions, inProcess } = await prepare(directory)
    const dataDir = join(directory, 'data')
    const start = ['start', '--genesis', join(directory, 'spec.json'), '--data-dir']
    await cp(dataDir, `${dataDir}-2`, { recursive: true })
    const node = await runNode([...start, dataDir])
    const logged = ['--log', 'calls', '--log-file', join(directory, 'calls.log')]
    const logging = await runNode([...start, `${dataDir}-2`, ...logged])
    const constantFile = fileURLToPath(new URL('./constant.ts', import.meta.url))
    const constant = await run(['--import', 'tsx', constantFile], /^(\[\d+,\d+\])$/)
    try {
      const [alike, bare] = (JSON.parse(constant.announced) as number[]).map((port) => `http://127.0.0.1:${port}`)
      const rows: Row[] = []
      for (const question of questions) {
        rows.push(...(await compare(question, node.announced, alike as string, bare as string)))
      }
      const asked = questions.filter(({ body }) => body !== undefined)
      for (const question of asked) rows.push(await compareLogging(question, logging.announced, node.announced))
      return [...rows, ...inProcess]
    } finally {
      await Promise.all([node.stop(), logging.stop(), constant.stop()])
    }
  })
}

/** Makes a chain with a block of one transaction, one of 300 more and a DID; measures resolving it in this process. */
async function prepare(directory: string): Promise<{ questions: Question[]; inProcess: Row[] }> {
  const { text, spec, payers } = fundedSpec(bigBlock)
  await writeFile(join(directory, 'spec.json'), text)
  const dataDirectory = await DataDirectory.open(join(directory, 'data'))
  const verifier = createVerifierPool()
  const { chain, database } = await openLedger(spec, dataDirectory, verifier, systemEnv(quiet))
  try {
    spendGenesis(chain, payers)
    const person = holder()
    const transfers = payers.map((payer) => selfTransfer(payer, chain.sanity.assetId))
    const registration = selfTransfer(payers[0] as (typeof payers)[0], chain.sanity.assetId, {
      type: 10,
      operation: person.create(),
    })
    let parent = chain.genesis.header
    const renewal = selfTransfer(payers[1] as (typeof payers)[0], chain.sanity.assetId, {
      type: 10,
      operation: person.update(registration.txid),
    })
    for (const transactions of [[], transfers, [registration], [renewal]]) {
      const block = await mineBlock(chain, parent, transactions)
      await chain.acceptBlock(block.bytes)
      parent = block.header
    }
    const tip = () => chain.tip.header
    const standing = () => ({ inStep: true, height: tip().height, age: 0 }) as const
    const resolver = new Resolver({ database, prover: chainProver(chain), clock: Date, tip, standing })
    const resolve = { jsonrpc: '2.0', id: 1, method: 'resolvedid', params: { did: person.did, all: false } }
    const proved = { ...resolve, params: { ...resolve.params, proof: true, depth: 0 } }
    const questions = [
      { name: 'block/height', path: '/api/v1/block/height', least: 0.8 },
      { name: 'transaction', path: `/api/v1/transaction/${transfers[0]?.txid}`, least: 0.8 },
      { name: 'block of 1 transaction', path: '/api/v1/block/details/height/1', least: 0.8 },
      { name: 'block of 301 transactions', path: '/api/v1/block/details/height/2', least: 0.2 },
      { name: 'resolvedid', path: '/rpc', body: JSON.stringify(resolve), least: 0.9 },
      { name: 'resolvedid with proof', path: '/rpc', body: JSON.stringify(proved), least: 0.5 },
      { name: 'proof by GET, at the tip', path: '/light/1/did/absent?depth=0', least: 0.2 },
      { name: 'proof by GET, below the tip', path: '/light/1/did/absent?depth=1', least: 0.15 },
    ]
    return { questions, inProcess: await resolveRates(resolver, person.did) }
  } finally {
    await chain.close()
    await database.close()
    await verifier.close()
    await dataDirectory.close()
  }
}

/** Resolving an updated DID, by the resolver itself and in the form of W3C. */
async function resolveRates(resolver: InstanceType<typeof Resolver>, did: string): Promise<Row[]> {
  const { status } = await resolver.resolve(did, { all: false })
  if (status !== 0) throw new Error(`the DID has status ${status}`)
  const w3c = new didResolver.Resolver(getResolver(resolver))
  const { didDocumentMetadata } = await w3c.resolve(did)
  if (didDocumentMetadata.updated === undefined) throw new Error('the DID has no update')
  return [
    await rateOf('resolvedid in process', 100_000, () => resolver.resolve(did, { all: false })),
    await rateOf('getResolver in process', 50_000, () => w3c.resolve(did)),
  ]
}

async function rateOf(name: string, least: number, resolve: () => Promise<unknown>): Promise<Row> {
  const start = performance.now()
  for (let i = 0; i < resolutions; i++) await resolve()
  return { name, value: resolutions / ((performance.now() - start) / 1000), unit: '/s', target: { least } }
}

async function compare(question: Question, node: string, alike: string, bare: string): Promise<Row[]> {
  const { name, path, body, least } = question
  const answer = await fetch(node + path, requestOf(body))
  const { length } = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`)
  const servers = [node + path, `${alike}/${length}`, `${bare}/${length}`]
  const [own, fastify, http] = (await ratesOf(servers, body)) as [number, number, number]
  return [
    {
      name: `${name}, ${length} bytes`,
      value: own,
      unit: '/s',
      ratio: { value: own / fastify, against: 'a constant buffer' },
      target: { least },
    },
    { name: '  the same', value: own, unit: '/s', ratio: { value: own / http, against: 'bare node:http' } },
  ]
}

/** What the live log of calls on a file costs: the same question to a node with it, and to one without. */
async function compareLogging({ name, path, body }: Question, logging: string, silent: string): Promise<Row> {
  const [value, against] = (await ratesOf([logging + path, silent + path], body)) as [number, number]
  const ratio = { value: value / against, against: 'the same without it' }
  return { name: `${name}, live log of calls on a file`, value, unit: '/s', ratio, target: { least: 0.8 } }
}

/** Requests a second of each server, median of the rounds, in which they alternate. */
async function ratesOf(servers: readonly string[], body: string | undefined): Promise<number[]> {
  const rates: number[][] = servers.map(() => [])
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [i, url] of servers.entries()) {
      const rate = await load(url, body)
      if (round > 0) rates[i]?.push(rate)
    }
  }
  return rates.map(median)
}

async function load(url: string, body: string | undefined): Promise<number> {
  const result = await autocannon({ url, connections, duration: seconds, ...requestOf(body) })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx + result.errors} failed`)
  return result.requests.total / result.duration
}

function requestOf(body: string | undefined) {
  return body === undefined ? {} : { method: 'POST' as const, headers: { 'content-type': 'application/json' }, body }
}
