import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Resolver } from '../../../src/answers/resolver/resolver.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { DocumentQuery } from '../../../src/identity/did/resolution.js'
import { EngineRows } from '../../../src/ledger/engine/engine-rows.js'
import type { RowSource } from '../../../src/ledger/storage/stored-rows.js'
import { quietLog, type TestChain } from '../../support/builders/chain.js'
import { DocumentChain } from '../../support/builders/document-chain.js'
import { replaceByEmpty } from '../../support/builders/empty-branch.js'
import { conditionsOf, withDids } from '../../support/builders/query-arbitraries.js'
import { SeededRandom } from '../../support/builders/seeded-random.js'
import { contextOf, serve } from '../../support/client/api.js'
import { answerTo } from '../../support/client/contract-questions.js'
import { LedgerEngine } from '../../support/fakes/ledger-engine.js'
import { inStep } from '../../support/fakes/standing.js'
import { gatewayOver } from '../../support/network/gateways.js'
import { rounds } from '../../support/process/thorough.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
const random = new SeededRandom(seed)
/** More than one chunk of the index has. */
const documents = 260
const tips = 4
const conditionsPerTip = rounds(20, 2500)
const shardCounts = [1, 3]
/** Of so many conditions one is also asked of a gateway without rows in memory. */
const coldEach = 10

let chain: DocumentChain
let node: TestChain

beforeAll(async () => {
  chain = await DocumentChain.open(random, documents)
  ;({ node } = chain)
})
afterAll(() => node.close())

function resolverOver(database: RowSource, queryLimits = {}): Resolver {
  const { chain: at, clock, prover } = node
  const standing = () => inStep(at.tip.header.height)
  return new Resolver({ database, clock, prover, standing, tip: () => at.tip.header, queryLimits })
}

const rowsOf = (shards: number) => EngineRows.open({ engine: new LedgerEngine(node, shards), log: quietLog() })

/** An answer in full, or code and words of a refusal. */
async function answerOf(resolver: Resolver, query: DocumentQuery): Promise<unknown> {
  try {
    return await resolver.query(query)
  } catch (error) {
    if (error instanceof RuleError) return { refused: error.code, why: error.message }
    throw error
  }
}

async function coldAnswer(shards: number, query: DocumentQuery, limits = {}): Promise<unknown> {
  const rows = await rowsOf(shards)
  const resolver = resolverOver(rows, limits)
  const answer = await answerOf(resolver, query)
  await resolver.close()
  await rows.close()
  return answer
}

function conditions(count: number, depth: number): DocumentQuery[] {
  return fc.sample(conditionsOf(depth), { seed: random.below(2 ** 31), numRuns: count }).map((condition) => {
    const query = withDids(condition, chain.dids)
    const context = random.below(2) === 0
    if (random.below(4) === 0) return { query, context }
    return { query, context, skip: random.below(random.below(2) === 0 ? 4 : documents), limit: random.below(60) }
  })
}

/** Moves the chain between two portions of conditions. */
const moves = [
  () => chain.change(25),
  () => replaceByEmpty(node, 3),
  async () => {
    await chain.mine()
    await chain.create(5)
  },
]

describe('a search by a gateway', () => {
  it('gives for random conditions what the node gives, through blocks and a reorganisation', async () => {
    const own = resolverOver(node.database)
    const rows = await Promise.all(shardCounts.map(rowsOf))
    const warm = rows.map((database) => resolverOver(database))
    let found = 0
    for (let tip = 0; tip < tips; tip++) {
      if (tip > 0) await moves[tip - 1]?.()
      for (const one of rows) await expect.poll(() => one.state.height).toBe(node.reader.height)
      for (const [i, query] of conditions(conditionsPerTip, tip % 3).entries()) {
        const expected = await answerOf(own, query)
        const answers = await Promise.all(warm.map((resolver) => answerOf(resolver, query)))
        if (i % coldEach === 0) answers.push(...(await Promise.all(shardCounts.map((n) => coldAnswer(n, query)))))
        expect(answers, `seed ${seed}: ${JSON.stringify(query)}`).toEqual(answers.map(() => expected))
        if ((expected as { total?: number }).total !== 0) found++
      }
    }
    expect(found).toBeGreaterThan((tips * conditionsPerTip) / 10)
    await Promise.all([own, ...warm].map((resolver) => resolver.close()))
    await Promise.all(rows.map((one) => one.close()))
  })

  const refusals: readonly DocumentQuery[] = [
    {},
    { service: 'Hub', credential: 'Hub' },
    { service: '' },
    { query: { $where: '1' } },
    { query: { service: { type: 'Hub', $size: 1 } } },
    { query: '{"service":' },
    { query: {}, skip: -1 },
    { query: {}, limit: 1.5 },
    // These reach the rows: too many documents would have to be read.
    { query: { 'publicKey.controller': { $regex: 'i' } } },
    { query: { service: { $size: 2 } }, skip: 1, limit: 1 },
  ]

  it.each(refusals)('is refused as by the node: %j', async (query) => {
    const limits = { examined: 100 }
    const own = resolverOver(node.database, limits)
    const expected = await answerOf(own, query)
    await own.close()
    expect(expected).toMatchObject({ refused: expect.any(String) as string })
    for (const shards of shardCounts) expect(await coldAnswer(shards, query, limits)).toEqual(expected)
  })

  it('gives the bytes of the node by HTTP, page by page and as of which block', async () => {
    const server = await serve(contextOf(node))
    const gateways = await Promise.all(shardCounts.map((shards) => gatewayOver(node, new LedgerEngine(node, shards))))
    const paged = [0, 50, 100, 150, 200, 250, 300].map((skip) => ({ query: {}, skip, limit: 50, context: true }))
    for (const params of [...paged, ...refusals, ...conditions(rounds(30, 300), 1)]) {
      const question = { path: '/rpc', call: { method: 'query', params } }
      const expected = await answerTo(server.port, question)
      const answers = await Promise.all(gateways.map(({ ports }) => answerTo(ports.rest, question)))
      expect(answers, JSON.stringify(params)).toEqual([expected, expected])
    }
    await Promise.all(gateways.map((gateway) => gateway.close()))
    await server.close()
  })
})
