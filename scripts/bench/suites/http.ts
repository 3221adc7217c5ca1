import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import autocannon from 'autocannon'
import * as didResolver from 'did-resolver'
import type { Resolver } from '../../../src/answers/resolver/resolver.js'
import { addressFromPublicKey } from '../../../src/base/primitives/address.js'
import { defined } from '../../../src/base/primitives/defined.js'
import { getResolver } from '../../../src/node/library/get-resolver.js'
import { holder } from '../../../test/support/builders/did.js'
import { byTurns, median, timeOf, type Work } from '../measure.js'
import { end, following, forked, runNode, said } from '../processes.js'
import { processorTime } from '../processor-time.js'
import { type Row, row } from '../report.js'
import {
  mineBlock,
  type Payer,
  recent,
  resolverOf,
  selfTransfer,
  withDirectory,
  withLedger,
  writtenSpec,
} from '../workshop.js'

const bigBlock = 300
const rounds = { warmUp: 1, measured: 3 }
const resolutions = 200_000

/** A request: a GET of a path, or a POST of a body. */
interface Question {
  readonly name: string
  readonly path: string
  readonly body?: string
  /** Target, of a constant buffer in the same server. */
  readonly least?: number
  /** Target, of a constant buffer in bare node:http. */
  readonly leastOfBare?: number
}

/**
 * The interfaces of a node started by the command line, each answer against a server of the same set-up with a constant of the
 * same length, and against bare node:http; then a node that logs its calls against one that does not. This process makes the
 * load, the servers are others; all alternate.
 */
export function suite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const dataDir = join(directory, 'data')
    const { file, questions, inProcess } = await prepare(directory, dataDir)
    await cp(dataDir, `${dataDir}-2`, { recursive: true })
    const logged = ['--log', 'calls', '--log-file', join(directory, 'calls.log')]
    const node = await runNode(following(file, dataDir))
    const logging = await runNode([...following(file, `${dataDir}-2`), ...logged])
    const constant = forked(new URL('../constant.ts', import.meta.url))
    try {
      const ports = await said<[number, number]>(constant)
      const [alike, bare] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string]
      const rows: Row[] = []
      const own = { url: node.rest, pid: node.process.pid }
      const others = [alike, bare].map((url) => ({ url, pid: constant.pid })) as [Server, Server]
      for (const question of questions) rows.push(...(await compare(question, own, ...others)))
      const asked = questions.filter(({ name }) => name.startsWith('resolvedid'))
      for (const question of asked) {
        rows.push(await compareLogging(question, { url: logging.rest, pid: logging.process.pid }, own))
      }
      return [...rows, ...inProcess]
    } finally {
      await Promise.all([node.stop(), logging.stop(), end(constant)])
    }
  })
}

/** Makes a chain with a block of one transaction, one of 300 more and a DID; measures resolving it in this process. */
async function prepare(directory: string, dataDir: string) {
  const { file, spec, payers } = await writtenSpec(directory, bigBlock, 'pow', recent())
  return withLedger(spec, dataDir, async (ledger) => {
    const { chain } = ledger
    const { assetId } = chain.sanity
    const [first, second] = payers as [Payer, Payer]
    const person = holder()
    const transfers = payers.map((payer) => selfTransfer(payer, assetId))
    const registration = selfTransfer(first, assetId, { payload: { type: 10, operation: person.create() } })
    const operation = person.update(registration.txid)
    const renewal = selfTransfer(second, assetId, { payload: { type: 10, operation } })
    for (const transactions of [[], transfers, [registration], [renewal]]) {
      await chain.acceptBlock((await mineBlock(chain, transactions)).bytes)
    }
    const call = (method: string, params: object) => {
      return { name: method, path: '/rpc', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) }
    }
    const resolve = (more: object) => call('resolvedid', { did: person.did, all: false, ...more })
    const address = addressFromPublicKey(first.publicKey)
    const questions: Question[] = [
      { name: 'block/height', path: '/api/v1/block/height', least: 0.8 },
      { name: 'transaction', path: `/api/v1/transaction/${transfers[0]?.txid}`, least: 0.8 },
      { name: 'block of 1 transaction', path: '/api/v1/block/details/height/1', least: 0.8 },
      { name: 'block of 301 transactions', path: '/api/v1/block/details/height/2', least: 0.2 },
      { name: 'DID Resolution', path: `/1.0/identifiers/${person.did}`, leastOfBare: 0.6 },
      { ...call('getblockcount', {}), leastOfBare: 0.6 },
      { ...call('getblockbyheight', { height: 1 }), leastOfBare: 0.6 },
      { ...call('getreceivedbyaddress', { address }), leastOfBare: 0.6 },
      { ...resolve({}), least: 0.9 },
      { ...resolve({ proof: true, depth: 0 }), name: 'resolvedid with proof', least: 0.5 },
      { name: 'proof by GET, at the tip', path: '/light/1/did/absent?depth=0', least: 0.5 },
      { name: 'proof by GET, below the tip', path: '/light/1/did/absent?depth=1', least: 0.5 },
    ]
    return { file, questions, inProcess: await resolveRates(resolverOf(ledger), person.did) }
  })
}

/** Resolving an updated DID, by the resolver itself and in the form of W3C. */
async function resolveRates(resolver: Resolver, did: string): Promise<Row[]> {
  const { status } = await resolver.resolve(did, { all: false })
  if (status !== 0) throw new Error(`the DID has status ${status}`)
  const w3c = new didResolver.Resolver(getResolver(resolver))
  const { didDocumentMetadata } = await w3c.resolve(did)
  if (didDocumentMetadata.updated === undefined) throw new Error('the DID has no update')
  const rate = async (name: string, least: number, resolve: () => Promise<unknown>) => {
    const time = await timeOf(async () => {
      for (let i = 0; i < resolutions; i++) await resolve()
    })
    return row(name, resolutions / (time / 1000), '/s', { least })
  }
  return [
    await rate('resolvedid in process', 100_000, () => resolver.resolve(did, { all: false })),
    await rate('getResolver in process', 50_000, () => w3c.resolve(did)),
  ]
}

async function compare(
  { name, path, body, least, leastOfBare }: Question,
  node: Server,
  alike: Server,
  bare: Server,
): Promise<Row[]> {
  const answer = await fetch(node.url + path, requestOf(body))
  const { length } = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`)
  const constants = [alike, bare].map((server) => ({ ...server, path: `/${length}` }))
  const [own, constant, http] = await loadsOf([{ ...node, path }, ...constants], body)
  return [
    row(`${name}, ${length} bytes`, own.rate, '/s', {
      ratio: [own.rate / constant.rate, 'a constant buffer'],
      ...defined({ least }),
    }),
    row('  the same', own.rate, '/s', {
      ratio: [own.rate / http.rate, 'bare node:http'],
      ...defined({ least: leastOfBare }),
    }),
    row('  processor time of the server', own.micros, 'µs', {
      ratio: [own.micros / http.micros, 'bare node:http'],
      ...defined({ most: leastOfBare && Number((1 / leastOfBare).toFixed(2)) }),
    }),
  ]
}

/** Cost of the live log of calls on a file: the same question to a node with it, and to one without. */
async function compareLogging({ name, path, body }: Question, logging: Server, silent: Server): Promise<Row> {
  const [logged, bare] = await loadsOf(
    [logging, silent].map((server) => ({ ...server, path })),
    body,
  )
  const ratio = [logged.rate / bare.rate, 'the same without it'] as const
  return row(`${name}, live log of calls on a file`, logged.rate, '/s', { ratio, least: 0.8 })
}

/** A server, and the process that it is in. */
interface Server {
  readonly url: string
  readonly pid: number | undefined
}

/** Answers a second, and the microseconds of processor time that the server took for each. */
interface Load {
  readonly rate: number
  readonly micros: number
}

/** Load of each server, by turns. */
async function loadsOf(asked: readonly (Server & { path: string })[], body?: string): Promise<[Load, Load, Load]> {
  const loads = asked.map(() => [] as Load[])
  const tasks = asked.map((server, i) => [
    String(i),
    (round: number) => async () => {
      const one = await load(server, body)
      if (round >= rounds.warmUp) loads[i]?.push(one)
    },
  ])
  await byTurns(rounds, timeOf, Object.fromEntries(tasks) as Record<string, (round: number) => Work>)
  const medianOf = (all: readonly Load[], figure: keyof Load) => median(all.map((one) => one[figure]))
  return loads.map((all) => ({ rate: medianOf(all, 'rate'), micros: medianOf(all, 'micros') })) as [Load, Load, Load]
}

async function load({ url, pid, path }: Server & { path: string }, body: string | undefined): Promise<Load> {
  const before = processorTime([pid])
  const result = await autocannon({ url: url + path, connections: 10, duration: 1, ...requestOf(body) })
  const micros = ((processorTime([pid]) - before) * 1000) / result.requests.total
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx + result.errors} failed`)
  return { rate: result.requests.total / result.duration, micros }
}

function requestOf(body: string | undefined) {
  return body === undefined ? {} : { method: 'POST' as const, headers: { 'content-type': 'application/json' }, body }
}
