import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Resolver } from '../../../src/answers/resolver/resolver.js'
import type { ForkEvidence } from '../../../src/identity/proofs/fork.js'
import { chainProver } from '../../../src/node/chain-prover.js'
import { HeadComparison } from '../../../src/node/heads/compare-heads.js'
import type { Gateway } from '../../../src/node/gateway/gateway.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { quietLog, TestChain } from '../../support/builders/chain.js'
import { keysOf } from '../../support/builders/light-scene.js'
import type { ProofBook } from '../../support/builders/proof-book.js'
import { branchOf } from '../../support/builders/witness-world.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { LedgerEngine } from '../../support/fakes/ledger-engine.js'
import { inStep } from '../../support/fakes/standing.js'
import { gatewayOver } from '../../support/network/gateways.js'

/** Heads that light resolvers tell a gateway: a node compares them, and keeps the evidence. */

let node: TestChain
let server: ApiServer
let book: ProofBook
let alone: Gateway
let gateway: Gateway
const found: ForkEvidence[] = []

beforeAll(async () => {
  node = await TestChain.open({ validators: keysOf(1) })
  await node.mine(4)
  const { chain, database, clock, reader } = node
  const resolver = new Resolver({
    ...{ database, clock, tip: () => chain.tip.header, standing: () => inStep(reader.height) },
    prover: chainProver(chain),
  })
  const onEvidence = (evidence: ForkEvidence) => void found.push(evidence)
  const compareHeads = new HeadComparison({ reader, proofs: resolver.proofs, log: quietLog(), onEvidence })
  server = await serve({ ...contextOf(node), resolver, compareHeads })
  book = await bookOf(node)
  alone = await gatewayOver(node, new LedgerEngine(node, 2))
  gateway = await gatewayOver(node, new LedgerEngine(node), [`http://127.0.0.1:${server.port}`])
})
afterAll(async () => {
  await alone.close()
  await gateway.close()
  await server.close()
  await node.close()
})

const tell = (to: number, body: string) => ask(to, '/light/1/heads', { method: 'POST', body })
const headOf = (of: ProofBook) =>
  JSON.stringify({ chain: node.chain.genesis.header.id, anchor: of.anchor(of.tip.height, true) })

describe('a head told to a gateway', () => {
  it('is compared by a node, whose answers and refusals stand as they are', async () => {
    const bodies = [headOf(book), '{', '', '{}', JSON.stringify({ chain: '00'.repeat(32), anchor: {} })]
    for (const body of bodies) {
      const { status, text } = await tell(server.port, body)
      expect(await tell(gateway.ports.rest, body), body.slice(0, 80)).toMatchObject({ status, text })
    }
    expect((await tell(gateway.ports.rest, headOf(book))).body).toMatchObject({ height: book.tip.height + 1 })
    expect(found).toEqual([])
  })

  it('of a second history leaves evidence at the node', async () => {
    const rival = branchOf(book, book.tip.height - 1, [{ padding: 3 }])
    expect((await tell(gateway.ports.rest, headOf(rival))).status).toBe(200)
    expect(found).toHaveLength(1)
  })

  it('is refused as gateway-reads-only without a node, and where it is too long before a node is asked', async () => {
    expect(await tell(alone.ports.rest, headOf(book))).toMatchObject({
      status: 503,
      body: { error: { code: -32601, data: expect.stringContaining('ask a node') as string } },
    })
    expect((await tell(gateway.ports.rest, `"${'x'.repeat(128 * 1024 - 1)}"`)).status).toBe(413)
  })

  it('is compared by no node that is gone: the refusal says so', async () => {
    const without = await gatewayOver(node, new LedgerEngine(node), ['http://127.0.0.1:9'])
    expect(await tell(without.ports.rest, headOf(book))).toMatchObject({
      status: 502,
      body: { error: { code: -32023 } },
    })
    await without.close()
  })

  it('does not change that a gateway names no block with cosignatures', async () => {
    expect((await ask(gateway.ports.rest, '/light/1/witnessed')).body).toMatchObject({ heads: [] })
  })
})
