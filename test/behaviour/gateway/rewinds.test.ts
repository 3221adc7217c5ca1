import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Block } from '../../../src/base/primitives/block.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { Pruner } from '../../../src/ledger/chain/pruner.js'
import { prunedAtOnce } from '../../../src/ledger/chain/prune-chain.js'
import type { Gateway } from '../../../src/node/gateway/gateway.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { replaceByEmpty, rootAfter } from '../../support/builders/empty-branch.js'
import { testAddress } from '../../support/builders/spec.js'
import { contextOf, serve } from '../../support/client/api.js'
import { answerTo, type ContractQuestion, contractQuestions } from '../../support/client/contract-questions.js'
import { LedgerEngine } from '../../support/fakes/ledger-engine.js'
import { testDevnet, type TestDevnet } from '../../support/fakes/test-devnet.js'
import { gatewayOver } from '../../support/network/gateways.js'
import { oneIn } from '../../support/process/thorough.js'

const shards = 2
const day = 86_400
const urlOf = ({ port }: ApiServer) => `http://127.0.0.1:${port}`

/** A node and gateways over its rows, all of which are asked the same at each state of the chain. */
class Compared {
  readonly #tags = new Map<string, string>()

  private constructor(
    readonly node: TestChain,
    readonly server: ApiServer,
    readonly engine: LedgerEngine,
    readonly gateway: Gateway,
  ) {}

  static async open(node: TestChain, changes: Parameters<typeof contextOf>[1] = {}): Promise<Compared> {
    const engine = new LedgerEngine(node, shards)
    const server = await serve(contextOf(node, changes))
    return new Compared(node, server, engine, await gatewayOver(node, engine, [urlOf(server)]))
  }

  /** Resolves once the gateway has looked at the shards as they are now. */
  async look(): Promise<void> {
    await this.node.database.idle()
    this.engine.moved()
    const { database } = this.gateway.chain
    await expect.poll(() => database.state.sequence).toBe(this.node.database.sequence)
  }

  /** Expects the answers of the node from the gateway: one that has answered before, and one that has not. */
  async expectSame(further: readonly ContractQuestion[] = []): Promise<void> {
    await this.look()
    const fresh = await gatewayOver(this.node, new LedgerEngine(this.node, shards), [urlOf(this.server)])
    // A usual run asks one question in three: in each test others, and at all of its states the same.
    const turn = expect.getState().currentTestName?.length ?? 0
    const questions = (await contractQuestions(this.node)).filter((_, i) => (i + turn) % oneIn(3) === 0)
    for (const question of [...questions, ...further]) {
      for (const asked of [question, this.#again(question)]) {
        const expected = await answerTo(this.server.port, asked)
        const answers = [await answerTo(this.gateway.ports.rest, asked), await answerTo(fresh.ports.rest, asked)]
        expect({ asked, answers }).toEqual({ asked, answers: [expected, expected] })
        if (typeof expected.etag === 'string') this.#tags.set(JSON.stringify(question), expected.etag)
      }
    }
    await fresh.close()
  }

  async close(): Promise<void> {
    await this.gateway.close()
    await this.server.close()
  }

  /** The same by a client that has the answer of an earlier state. */
  #again(question: ContractQuestion): ContractQuestion {
    const tag = this.#tags.get(JSON.stringify(question))
    if (tag === undefined || question.call !== undefined) return question
    return { ...question, headers: { ...question.headers, 'if-none-match': tag } }
  }
}

describe('a gateway over a devnet', () => {
  const ada = holder()
  let net: TestDevnet
  let both: Compared
  let created: string

  beforeAll(async () => {
    net = await testDevnet()
    const expires = new Date((net.clock.seconds + 10 * day) * 1000).toISOString().replace('.000', '')
    created = await publish(ada.create({ expires }))
    await net.devnet.mine(2)
    both = await Compared.open(net.chain, { resolver: net.resolver })
  })
  afterAll(async () => {
    await both.close()
    await net.close()
  })

  async function publish(operation: Parameters<TestChain['carry']>[0]): Promise<string> {
    const { txid } = await net.chain.send(await net.chain.carry(operation, ada.did))
    await net.devnet.mine(1)
    return txid
  }

  async function statuses(): Promise<unknown> {
    await both.look()
    const call = { method: 'resolvedid', params: { did: ada.did, all: false } }
    const ports = [both.server.port, both.gateway.ports.rest]
    const texts = await Promise.all(ports.map(async (port) => (await answerTo(port, { path: '/rpc', call })).text))
    return texts.map((text) => (JSON.parse(text) as { result: { status: number } }).result.status)
  }

  it('answers by the clock of the node, wherever that is moved without a block', async () => {
    expect(await statuses()).toEqual([0, 0])
    await net.devnet.increaseTime(20 * day)
    expect(await statuses()).toEqual([1, 1])
    await both.expectSame()
    await net.devnet.setTime(net.chain.chain.tip.header.time + 60)
    expect(await statuses()).toEqual([0, 0])
    await both.expectSame()
  })

  it('answers as of a snapshot that the node comes back to, from another time alone', async () => {
    const id = await net.devnet.snapshot()
    await net.devnet.increaseTime(20 * day)
    expect(await statuses()).toEqual([1, 1])
    await net.devnet.revert(id)
    expect(await statuses()).toEqual([0, 0])
    await both.expectSame()
  })

  it('answers as of a snapshot that the node comes back to, from blocks that follow it', async () => {
    const id = await net.devnet.snapshot()
    await publish(ada.update(created, { expires: '2030-01-01T00:00:00Z' }))
    await both.expectSame()
    await net.devnet.revert(id)
    await both.expectSame()
    await publish(ada.deactivate())
    expect(await statuses()).toEqual([2, 2])
    await both.expectSame()
    await net.devnet.revert(id)
    expect(await statuses()).toEqual([0, 0])
    await both.expectSame()
  })

  it('answers as of a tip that the node left and came back to between two looks', async () => {
    const id = await net.devnet.snapshot()
    await both.expectSame()
    const behind = await Promise.all(Array.from({ length: shards }, (_, shard) => both.engine.hideAfter(shard)))
    await publish(ada.update(created, { expires: '2030-01-01T00:00:00Z' }))
    await net.devnet.increaseTime(20 * day)
    await net.devnet.revert(id)
    for (const show of behind) show()
    await both.expectSame()
  })
})

describe('a gateway over a chain of work', () => {
  it('answers as of blocks that a reorganisation left and another one came back to', async () => {
    const ada = holder()
    const node = await TestChain.open(withoutValidators)
    await node.publish(ada.create(), ada.did)
    await node.mine(3)
    const both = await Compared.open(node)
    await both.expectSame()
    const [left] = await node.mine()
    await both.expectSame()
    await replaceByEmpty(node, 2)
    await both.expectSame()
    let parent = node.knownHeader((left as Block).header.hash)
    for (let i = 0; i < 2; i++) {
      const block = craftBlock(node.chain, { parent, didRoot: rootAfter(node, 1) })
      await node.accept(block)
      parent = node.knownHeader(block.header.hash)
    }
    expect(node.activeHeader((left as Block).header.height).header.id).toBe((left as Block).header.id)
    await both.expectSame()
    await both.close()
    await node.close()
  })
})

describe('a gateway over a chain that prunes', () => {
  const keep = 288
  const length = 420
  let node: TestChain
  let both: Compared
  let old: string

  beforeAll(async () => {
    node = await TestChain.open(withoutValidators)
    ;({ txid: old } = await node.send(await node.transfer(testAddress(30), 5000n)))
    await node.mine()
    const ada = holder()
    const created = await node.publish(ada.create(), ada.did)
    await node.publish(ada.update(created), ada.did)
    await node.mineEmpty(length - node.reader.height)
    both = await Compared.open(node)
  })
  afterAll(async () => {
    await both.close()
    await node.close()
  })

  it('refuses what the node has given up, and answers what it has left', async () => {
    const gone: ContractQuestion[] = [
      { path: `/api/v1/transaction/${old}` },
      { path: '/rpc', call: { method: 'getrawtransaction', params: { txid: old, verbose: true } } },
    ]
    await both.expectSame(gone)
    const pruner = new Pruner({ chain: node.chain, what: 'blocks', keep, log: node.log })
    await expect.poll(() => node.chain.prunedHeight).toBeGreaterThan(length - keep - prunedAtOnce)
    await pruner.close()
    await node.mineEmpty(1)
    await both.expectSame(gone)
    expect(both.gateway.chain.prunedHeight).toBe(node.chain.prunedHeight)
    const [refused] = await Promise.all(gone.map((question) => answerTo(both.gateway.ports.rest, question)))
    expect(refused?.text).toContain('prunes')
  })
})
