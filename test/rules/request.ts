import { connect } from 'node:net'
import type { ApiContext } from '../../src/answers/api/api-context.js'
import type { ApiLimits } from '../../src/answers/api/api-limits.js'
import type { ApiServer } from '../../src/answers/api/servers/node-server.js'
import { PassedOn } from '../../src/answers/api/http/passed-on.js'
import type { BackupView, NetworkView } from '../../src/answers/api/node-handles.js'
import { ProvedAnswers } from '../../src/answers/api/servers/proved-answers.js'
import { maxSnapshotBytes, type Snapshot, Snapshots } from '../../src/node/devnet/snapshots.js'
import type { Code } from '../../src/base/errors/error-codes.js'
import { brokenRule } from '../../src/base/errors/broken-rule.js'
import { codes } from '../../src/node/library/codes.js'
import { LinkError } from '../../src/network/link.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { type HistoryReading, readHistory } from '../../src/answers/resolver/history.js'
import { historyLimits } from '../../src/answers/resolver/history-limits.js'
import { WorkSlots } from '../../src/base/runtime/work-slots.js'
import { runCooperatively } from '../../src/base/runtime/cooperative.js'
import { JobQueue } from '../../src/base/runtime/job-queue.js'
import { Overlay } from '../../src/ledger/storage/write/overlay.js'
import { pruneBlockSteps } from '../../src/ledger/storage/care/prune-block.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import { type Answer, ask, askJson, contextOf, type Question, serve } from '../support/client/api.js'
import { oneValidator, quietLog, TestChain } from '../support/builders/chain.js'
import { namedChain } from '../support/fakes/named-chain.js'
import { lightOver, lightWorld } from '../support/builders/light-world.js'
import { testAddress } from '../support/builders/spec.js'
import type { RuleRow } from './row.js'
import type { Lies } from '../support/fakes/light-server.js'
import { provesNothing } from '../support/fakes/stubs.js'
import { behind } from '../support/fakes/standing.js'

/** What a row does with a node that serves, and what it needs that node to be. */
interface Setting {
  readonly limits?: Partial<ApiLimits>
  readonly context?: Partial<ApiContext> & Parameters<typeof contextOf>[1]
}
type Request = (server: ApiServer, node: TestChain) => Promise<Answer>

const provable = lightWorld()

/** Resolves by a light resolver, over a node that may lie. */
async function resolveBy(lies: Lies): Promise<void> {
  const { book, alice } = provable
  await new ProvedAnswers(lightOver(book, lies), quietLog()).did({ did: alice.did })
}

/** A history of so many operations. */
function longHistory(count: number): HistoryReading {
  const places = new WorkSlots(1, 1, 'histories')
  return { did: 'did:ledger:x', count, slice: undefined, places, read: async () => [] }
}

/**
 * A row whose requests go over the wire. An answer means its code if it shows the numbers that the table has for it: those of
 * REST with the HTTP status, or that of JSON-RPC. Any other failure is an error of the test.
 */
function overWire(code: Code, good: Request, bad: Request, { limits, context }: Setting = {}): RuleRow {
  const run = async (request: Request): Promise<Answer> => {
    const node = await TestChain.open(oneValidator())
    const server = await serve(contextOf(node, { ...context, ...(limits === undefined ? {} : { limits }) }))
    try {
      return await request(server, node)
    } finally {
      await server.close()
      await node.close()
    }
  }
  return {
    code,
    accepts: async () => refuse(await run(good), code),
    refuses: async () => refuse(await run(bad), code),
  }
}

function refuse({ status, body }: Answer, code: Code): void {
  const { Error: rest, error } = body as { Error?: number; error?: { code: number } | null }
  if (rest === 0 || (rest === undefined && (error === undefined || error === null))) return
  const entry = codes[code]
  // The confirm endpoints write the number of REST where JSON-RPC has its own.
  const said = error?.code === entry.rpc || ((rest ?? error?.code) === entry.rest && status === entry.http)
  if (!said) throw new Error(`${code} was expected, not ${status} ${JSON.stringify(body)}`)
  throw brokenRule(code)
}

const path =
  (text: string, question?: Question): Request =>
  ({ port }) =>
    ask(port, `/api/v1/${text}`, question)
const rpc =
  (body: string): Request =>
  ({ port }) =>
    ask(port, '/rpc', { method: 'POST', body })
const resolve = rpc('{"id":1,"method":"resolvedid","params":{"did":"x","all":false}}')
const query = (params: string): Request => rpc(`{"id":1,"method":"query","params":${params}}`)
const height = path('block/height')
const heightAt = (least: number) => path('block/height', { headers: { 'x-min-height': String(least) } })

/** A transaction that the node takes, in a body that is changed on its way. */
function sent(change: (body: Record<string, unknown>) => unknown): Request {
  return async ({ port }, node) => {
    await node.mine(2)
    const transfer = await node.transfer(testAddress(12), 5n)
    return askJson(port, '/api/v1/transaction', change({ Action: 'sendrawtransaction', data: transfer.toHex() }))
  }
}
const unchanged = sent((body) => body)
const asPlainText: Request = ({ port }) =>
  ask(port, '/api/v1/transaction', { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } })

/** The same request twice; the second answer counts. */
const twice =
  (request: Request): Request =>
  async (server, node) => {
    await request(server, node)
    return request(server, node)
  }

/** Headers that stop half way. */
const unfinished: Request = ({ port }) =>
  new Promise((resolveAnswer, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => {
      const status = Number(text.split(' ')[1])
      resolveAnswer({ status, text, headers: {}, body: JSON.parse(text.split('\r\n\r\n')[1] ?? 'null') })
    })
    socket.write('GET /api/v1/block/height HTTP/1.1\r\nHost: x\r\n')
  })

const token = new Uint8Array(32).fill(7)
const asOwner =
  (method: string, params: object): Request =>
  ({ port }) =>
    ask(port, '/rpc', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${'07'.repeat(32)}` },
      body: JSON.stringify({ id: 1, method, params }),
    })
const addPeer = (address: string) => asOwner('addpeer', { address })
const backUpTo = (path: string) => asOwner('backup', { path })
const fewCoins = (amount: string) => ({
  id: 1,
  method: 'getutxosbyamount',
  params: { address: testAddress(11), amount },
})
/** Peers of which one answers. */
const network = {
  connect: async (address: string) => {
    if (address !== '192.0.2.7:1') throw new LinkError('unreachable', 'connection refused')
  },
} as NetworkView

/** The transactions of a height, where the first block has given up its own. */
const prunedThen =
  (at: number): Request =>
  async ({ port }, node) => {
    await node.mine(2)
    const overlay = new Overlay(node.database)
    await runCooperatively(pruneBlockSteps(overlay, 1, await node.database.rows(tables.transaction.range(1))))
    const { hash, height: tip } = node.chain.tip.header
    await overlay.commit({ kind: 'prune', hash, height: tip }, { sync: true })
    return ask(port, `/api/v1/block/details/height/${at}`)
  }

/** A proof as of a block, after two blocks. */
const provedAt =
  (height: number): Request =>
  async ({ port }, node) => {
    await node.mine(2)
    return ask(port, `/light/1/did/x?height=${height}`)
  }

const zeros = '0'.repeat(64)
const never = () => Promise.reject(new Error('not asked'))

/** A snapshot of a pool with so many bytes. */
function snapshotOf(length: number): Snapshot {
  const transaction = { bytes: { length } } as Transaction
  return { tip: new Uint8Array(32), clock: { now: 0, nextBlockTime: undefined }, pool: [{ transaction, arrival: 0 }] }
}

/** Everything that can be wrong with a request, whatever it asks for. */
/** Makes backups at one place alone. */
const backups: BackupView = {
  follow: async (path) => {
    if (path !== '/one') throw brokenRule('backup-failed')
    return { path, rows: 1, bytes: 1, total: 1 }
  },
}

export const requestRules: RuleRow[] = [
  overWire('request-path', height, path('block/heights')),
  overWire('request-method', height, path('block/height', { method: 'DELETE' })),
  overWire(
    'request-action',
    unchanged,
    sent((body) => ({ ...body, Action: 'sendtransaction' })),
  ),
  overWire('request-parameter', path('block/hash/0'), path('block/hash/00')),
  overWire('request-json', unchanged, ({ port }) =>
    ask(port, '/api/v1/transaction', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }),
  ),
  overWire('query-invalid', query('{"service":"T"}'), query('{"service":"T","query":"{}"}')),
  overWire('request-form', resolve, rpc('[]')),
  overWire('request-headers', height, path('block/height', { headers: { x: 'x'.repeat(20_000) } })),
  overWire('request-media-type', unchanged, asPlainText),
  overWire(
    'request-too-large',
    unchanged,
    sent((body) => ({ ...body, more: 'x'.repeat(16_100_000) })),
  ),
  overWire('request-timeout', height, unfinished, { limits: { headersTimeout: 100, requestTimeout: 200 } }),
  overWire('request-forbidden', path('restart'), path('restart', { headers: { 'sec-fetch-site': 'cross-site' } })),
  overWire('request-rate', height, twice(height), { limits: { rateRequests: 1, rateSparesLoopback: false } }),
  overWire(
    'unknown-transaction',
    async ({ port }, node) => ask(port, `/api/v1/transaction/${node.chain.genesis.transactions[0]?.txid}`),
    path(`transaction/${zeros}`),
  ),
  overWire(
    'coins-too-few',
    ({ port }) => askJson(port, '/rpc', fewCoins('0.00000001')),
    ({ port }) => askJson(port, '/rpc', fewCoins('30000000')),
  ),
  overWire('unknown-block', path('block/hash/0'), path('block/hash/1')),
  overWire(
    'unknown-confirm',
    async ({ port }, node) => {
      await node.mine()
      return ask(port, '/api/v1/confirm/details/height/1')
    },
    path('confirm/details/height/0'),
  ),
  {
    code: 'snapshot-limit',
    accepts: () => void new Snapshots().add(snapshotOf(maxSnapshotBytes)),
    refuses: () => void new Snapshots().add(snapshotOf(maxSnapshotBytes + 1)),
  },
  {
    ...overWire('resolver-behind', resolve, resolve, {
      context: { standing: () => behind(0, 9) },
    }),
    accepts: overWire('resolver-behind', resolve, resolve).accepts,
  },
  {
    code: 'history-size',
    accepts: async () => void (await readHistory(longHistory(historyLimits.operations))),
    refuses: async () => void (await readHistory(longHistory(historyLimits.operations + 1))),
  },
  {
    ...overWire('followed-unreachable', unchanged, unchanged, {
      context: { followed: new PassedOn('http://127.0.0.1:9', namedChain) },
    }),
    accepts: overWire('followed-unreachable', unchanged, unchanged).accepts,
  },
  overWire('behind-height', heightAt(0), heightAt(1), { limits: { heightWait: 1 } }),
  {
    code: 'busy',
    accepts: () => new JobQueue(1).run(async () => {}),
    refuses: async () => {
      const queue = new JobQueue(1)
      const first = queue.run(async () => {})
      try {
        await queue.run(async () => {})
      } finally {
        await first
      }
    },
  },
  overWire('pruned', prunedThen(2), prunedThen(1)),
  overWire('proof-unavailable', provedAt(2), provedAt(3)),
  {
    code: 'answer-unproved',
    accepts: () => resolveBy({}),
    refuses: () => resolveBy({ answer: ({ did }) => ({ did, status: 3 }) }),
  },
  overWire('peer-unreachable', addPeer('192.0.2.7:1'), addPeer('192.0.2.7:2'), {
    context: { adminToken: token, network },
  }),
  overWire('backup-failed', backUpTo('/one'), backUpTo('/another'), { context: { adminToken: token, backups } }),
  {
    ...overWire('internal', resolve, resolve, {
      context: {
        resolver: {
          resolve: () => Promise.reject(new Error('unforeseen')),
          resolveShort: never,
          standing: { inStep: true, height: 0, age: 0 },
          answersAt: undefined,
          now: Date.now,
          queryJson: never,
          credentials: { resolve: never, list: never },
          proofs: provesNothing,
        },
      },
    }),
    accepts: overWire('internal', resolve, resolve).accepts,
  },
]
