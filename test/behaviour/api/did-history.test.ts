import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiServer } from '../../../src/api/http-server.js'
import type { ResolvedTransaction, ResolveResult } from '../../../src/did/resolution.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { type Holder, holder } from '../../support/builders/did.js'

const operations = 80
let node: TestChain
let server: ApiServer
let person: Holder
const context = () => contextOf(node)

beforeAll(async () => {
  node = await TestChain.open()
  // Room for one history at a time.
  server = await serve(contextOf(node, { limits: { searches: 17 * 1024 * 1024 } }))
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
      // A search that takes all the room is answered once the history has given it back.
      expect(await answered('query', { service: 'none', limit: 1000 })).toContain('"total":0')
      expect(reads.rows).toBeGreaterThan(0)
      expect(reads.rows).toBeLessThan(operations / 2)
    } finally {
      reads.end()
    }
  })
})
