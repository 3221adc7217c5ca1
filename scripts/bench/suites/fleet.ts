import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import autocannon from 'autocannon'
import { holder } from '../../../test/support/builders/did.js'
import { byTurns, figureOf, median } from '../measure.js'
import { following, residentBytes, runNode, validating } from '../processes.js'
import { type Row, row } from '../report.js'
import {
  localnet,
  mineBlock,
  type Payer,
  recent,
  selfTransfer,
  withDirectory,
  withLedger,
  writtenSpec,
} from '../workshop.js'

const rounds = { warmUp: 1, measured: 7 }
/** Blocks of the chain. */
const height = 2

/** A request with the height below which it must not be answered, in one of its places. */
interface Question {
  readonly name: string
  readonly path: string
  readonly body?: string
  /** The same with the height: in the header, unless in this body. */
  readonly bodyAt?: string
}

/** Followers that idle, and the milliseconds after which their memory is looked at: Node has collected the garbage of the start by then. */
const idle = { followers: 3, after: 45_000 }

/** The price of reading what was written, and what a node takes that only reads. */
export async function suite(): Promise<Row[]> {
  return [...(await withDirectory(heightRows)), ...(await withDirectory(idleRows))]
}

/** Memory of followers of a validator, none of which is asked anything. */
async function idleRows(directory: string): Promise<Row[]> {
  const shipped = JSON.parse(await localnet()) as { readonly validators: readonly string[] }
  const spec = join(directory, 'spec.json')
  await writeFile(spec, JSON.stringify({ ...shipped, ...recent(), validators: shipped.validators.slice(0, 1) }))
  const validator = await runNode(validating(0, directory, spec, []))
  const nodes = [validator]
  try {
    for (let i = 0; i < idle.followers; i++) {
      const dataDir = join(directory, `follower-${i}`)
      nodes.push(await runNode([...following(spec, dataDir), '--follow', validator.rest]))
    }
    await setTimeout(idle.after)
    const memory = nodes.slice(1).map((node) => residentBytes(node.process) / 1e6)
    return [
      row(`resident memory of ${idle.followers} followers that idle, the median`, median(memory), 'MB', { most: 90 }),
      row('  the most of them', Math.max(...memory), 'MB'),
    ]
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
  }
}

/** Requests that name the height of a node that has it, against the same without. */
async function heightRows(directory: string): Promise<Row[]> {
  const dataDir = join(directory, 'data')
  const { file, questions } = await prepare(directory, dataDir)
  const node = await runNode(following(file, dataDir))
  try {
    const rows: Row[] = []
    for (const question of questions) rows.push(await compare(question, node.rest))
    return rows
  } finally {
    await node.stop()
  }
}

/** Makes a chain with a DID. */
async function prepare(directory: string, dataDir: string) {
  const { file, spec, payers } = await writtenSpec(directory, 1, 'pow', recent())
  return withLedger(spec, dataDir, async ({ chain }) => {
    const [payer] = payers as [Payer]
    const person = holder()
    const create = { payload: { type: 10, operation: person.create() } } as const
    const registration = selfTransfer(payer, chain.sanity.assetId, create)
    for (const transactions of [[], [registration]])
      await chain.acceptBlock((await mineBlock(chain, transactions)).bytes)
    const call = (more: object) =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resolvedid', params: { did: person.did, all: false }, ...more })
    const rpc = { path: '/rpc', body: call({}) }
    const questions: Question[] = [
      { name: 'block/height, X-Min-Height', path: '/api/v1/block/height' },
      { name: 'W3C, X-Min-Height', path: `/1.0/identifiers/${person.did}` },
      { name: 'resolvedid, X-Min-Height', ...rpc },
      { name: 'resolvedid, minHeight', ...rpc, bodyAt: call({ minHeight: height }) },
    ]
    return { file, questions }
  })
}

async function compare({ name, path, body, bodyAt }: Question, node: string): Promise<Row> {
  const header: Readonly<Record<string, string>> = bodyAt === undefined ? { 'x-min-height': String(height) } : {}
  const rates = await byTurns(rounds, figureOf, {
    plain: () => () => load(node + path, body, {}),
    at: () => () => load(node + path, bodyAt ?? body, header),
  })
  const [at, plain] = [median(rates['at'] ?? []), median(rates['plain'] ?? [])]
  return row(name, at, '/s', { ratio: [at / plain, 'the same without it'], least: 0.98 })
}

async function load(url: string, body: string | undefined, headers: Readonly<Record<string, string>>): Promise<number> {
  const posted = body === undefined ? {} : { method: 'POST' as const, body }
  const all = { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const result = await autocannon({ url, connections: 10, duration: 1, headers: all, ...posted })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx + result.errors} failed`)
  return result.requests.total / result.duration
}
