import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiLimits } from '../../../src/answers/api/api-limits.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type { ResolvedTransaction, ResolveResult } from '../../../src/identity/did/resolution.js'
import { historyLimits } from '../../../src/answers/resolver/history-limits.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { type Holder, holder } from '../../support/builders/did.js'

const operations = 80
let node: TestChain
let server: ApiServer
let person: Holder
const context = () => contextOf(node)

beforeAll(async () => {
  node = await TestChain.open()
  // Room for one answer at a time.
  server = await serve(contextOf(node, { limits: { answers: apiLimits.answerPlace } }))
  person = holder()
  let last = await node.publish(person.create(), person.did)
  for (let made = 1; made < operations;) {
    // Eight operations of a DID may wait for one block.
    for (let i = 0; i < 8 && made < operations; i++, made++) {
      const { bytes, txid } = await node.carry(person.update(last), person.did)
      await node.mempool.accept(bytes, { local: true })
      last = txid
    }
    await node.mine()
  }
})

afterAll(async () => {
  await server.close()
  await node.close()
})

const body = (method: string, params: unknown) => JSON.stringify({ id: 1, method, params })

/** What the node answers, as text. */
async function answered(method: string, params: unknown): Promise<string> {
  const { text } = await ask(server.port, '/rpc', { method: 'POST', body: body(method, params) })
  return text
}

const framed = (result: ResolveResult) => `{"id":1,"jsonrpc":"2.0","result":${JSON.stringify(result)}}`

/** Keys by their full ids. */
function absolute(tx: ResolvedTransaction, did: string): ResolvedTransaction {
  const proof = { ...tx.operation.proof }
  return {
    ...tx,
    operation: { ...tx.operation, proof: { ...proof, verificationMethod: did + proof.verificationMethod } },
  }
}

/** The transactions that are read from the database, and a pause of the one under way. */
function watchReads() {
  const { database } = node
  const real = database.getMany.bind(database)
  const reads = { rows: 0, before: async (): Promise<void> => {}, end: () => void (database.getMany = real) }
  database.getMany = async (wanted) => {
    reads.rows += wanted.length
    await reads.before()
    return real(wanted)
  }
  return reads
}

describe('the answer with all operations of a DID', () => {
  it('has the bytes of the result, whatever its status and its length', async () => {
    const { resolver } = context()
    const [short, gone] = [holder(), holder()]
    await node.publish(short.create({ expires: '2029-01-01T00:00:00Z' }), short.did)
    await node.publish(gone.update(await node.publish(gone.create(), gone.did)), gone.did)
    await node.publish(gone.deactivate(), gone.did)
    const now = node.clock.time
    try {
      for (const time of [now, Date.UTC(2029, 5, 1)]) {
        node.clock.time = time
        const found: ResolveResult[] = []
        for (const { did } of [person, short, gone, holder()]) {
          const whole = await resolver.resolve(did, { all: true })
          const last = await resolver.resolve(did, { all: false })
          found.push(whole)
          const params = { did: did.slice('did:ledger:'.length), all: true }
          expect(await answered('resolvedid', params)).toBe(framed(whole))
          expect(await answered('did_resolveDID', params)).toBe(framed(whole))
          expect(await answered('resolvedid', { did, all: false })).toBe(framed(last))

          const shape = ({ status, transaction }: ResolveResult): ResolveResult =>
            transaction === undefined
              ? { did, status }
              : { did, status: status === 2 ? 2 : 0, transaction: transaction.map((tx) => absolute(tx, did)) }
          const two = { ...whole, ...(whole.transaction && { transaction: whole.transaction.slice(0, 2) }) }
          expect(await answered('did_resolveDID', [{ did, all: true }])).toBe(
            framed(shape(whole.status === 2 ? two : whole)),
          )
          expect(await answered('did_resolveDID', [{ did }])).toBe(framed(shape(whole.status === 2 ? two : last)))
        }
        expect(found.map(({ transaction }) => transaction?.length)).toEqual([operations, 1, 3, undefined])
        expect(found.map(({ status }) => status)).toEqual(time === now ? [0, 0, 2, 3] : [0, 1, 2, 3])
      }
    } finally {
      node.clock.time = now
    }
  })

  it('is not read any further once the client is gone', async () => {
    const reads = watchReads()
    try {
      const gone = new Promise<void>((resolve) => {
        const client = request({ host: '127.0.0.1', port: server.port, path: '/rpc', method: 'POST', agent: false })
        client.on('error', () => resolve())
        reads.before = async () => {
          client.destroy()
          // The node has seen that the connection is closed before it answers what comes after it.
          for (let i = 0; i < 3; i++) await ask(server.port, '/api/v1/block/height')
        }
        client.end(body('resolvedid', { did: person.did, all: true }))
      })
      await gone
      // An answer that takes all the room is there once the history has given it back.
      expect(await answered('getblock', [node.chain.tip.header.id, 2])).toContain('"result"')
      expect(reads.rows).toBeGreaterThan(0)
      expect(reads.rows).toBeLessThan(operations / 2)
    } finally {
      reads.end()
    }
  })
})

describe('many clients at once', () => {
  let other: ApiServer
  beforeAll(async () => void (other = await serve(contextOf(node))))
  afterAll(() => other.close())
  /** Requests that arrive together, each over a connection of its own. */
  async function together(requests: readonly (readonly [method: string, params: unknown])[]) {
    const ready = requests.map(async ([method, params]) => {
      const socket = connect(other.port, '127.0.0.1')
      await once(socket, 'connect')
      return { socket, method, params }
    })
    const sockets = await Promise.all(ready)
    return Promise.all(
      sockets.map(async ({ socket, method, params }) => {
        const text = body(method, params)
        socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
        const chunks: Buffer[] = []
        for await (const chunk of socket) chunks.push(chunk as Buffer)
        return Buffer.concat(chunks).toString()
      }),
    )
  }
  const clients = 200
  const requests: readonly [string, (i: number) => readonly [string, unknown]][] = [
    ['parts of a short history', (i) => ['resolvedid', { did: person.did, all: true, skip: i, limit: 1 }]],
    ['short histories in the shape of the family', () => ['did_resolveDID', [{ did: holder().did, all: true }]]],
    ['last versions in that shape', () => ['did_resolveDID', [{ did: holder().did }]]],
    ['the same last version', () => ['did_resolveDID', [{ did: person.did }]]],
  ]

  it.each(requests)('none of 200 that ask for %s is refused', async (_, requestOf) => {
    const answers = await together(Array.from({ length: clients }, (_, i) => requestOf(i)))
    expect(answers.filter((answer) => !answer.includes('"result"'))).toEqual([])
  })

  it('all that ask for parts above 1 MiB get them', async () => {
    const author = holder()
    const services = [{ id: '#big', type: 'Big', serviceEndpoint: `https://example.com/${'x'.repeat(90_000)}` }]
    let last = await node.publish(author.create({ services }), author.did)
    for (let i = 0; i < 11; i++) last = await node.publish(author.update(last, { services }), author.did)
    const parts = Array.from({ length: 24 }, (_, i) => ({ did: author.did, all: true, skip: i % 2, limit: 100 + i }))
    const answers = await Promise.all(
      parts.map((params) => askJson(other.port, '/', { id: 1, method: 'resolvedid', params })),
    )
    const { resolver } = context()
    for (const [i, { text }] of answers.entries()) {
      expect(text.length).toBeGreaterThan(historyLimits.unplaced)
      // Texts of megabytes: their difference is of no use in a report.
      expect(text === framed(await resolver.resolve(author.did, parts[i]))).toBe(true)
    }
  })
})
