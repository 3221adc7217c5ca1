import { afterEach, describe, expect, it } from 'vitest'
import { programHash, prefix, singleKeyCode } from '../../../src/base/primitives/address.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { equalBytes } from '../../../src/base/primitives/bytes.js'
import { confirmBytes } from '../../../src/base/primitives/confirm.js'
import { Candidates } from '../../../src/ledger/production/candidates.js'
import { ProposalSource } from '../../../src/ledger/production/proposal-source.js'
import { parseMessage, viewOf } from '../../../src/voting/tendermint/message.js'
import { craftBlock, craftConfirm, personHash } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { SeededRandom } from '../../support/builders/seeded-random.js'
import { testAddress, testPublicKey } from '../../support/builders/spec.js'
import { TestNet, type TestNode } from '../../support/network/voting-net.js'

/** Who made the block at the tip of a node. */
async function makerAt({ test: { reader, chain } }: TestNode): Promise<number> {
  const { transactions } = await reader.block(chain.tip)
  const paid = transactions[0]?.outputs[0]?.programHash ?? new Uint8Array()
  const hashOf = (person: number) => programHash(prefix.standard, singleKeyCode(testPublicKey(person)))
  return [0, 1, 2, 3].find((person) => equalBytes(hashOf(person), paid)) ?? -1
}

describe('a view that failed', () => {
  let net: TestNet
  afterEach(() => net.close())

  it('leaves a block that others checked: the next sponsors propose it, in whatever view it comes through', async () => {
    const seed = Date.now() % 1_000_000
    const random = new SeededRandom(seed)
    for (let round = 0; round < 4; round++) {
      const views = 1 + random.below(6)
      net = await TestNet.four({
        timing: { minInterval: 500, emptyInterval: 500, maxDrift: 5_000, propose: 1_000, delta: 500 },
      })
      // Nobody asks for what it missed, and only the next sponsor gets a proposal: no view of these has a quorum.
      net.healing = false
      net.filter = (bytes, _, to) => {
        const message = parseMessage(bytes)
        const view = viewOf(message)
        return message.kind !== 'proposal' || view >= views || to.plan.person === (message.height + view + 1) % 4
      }
      await net.allAt(1, 200_000)
      for (const node of net.nodes) {
        const what = `seed ${seed}, round ${round}, ${views} views`
        expect(await makerAt(node), what).toBe(1)
        const { hash } = node.test.chain.tip.header
        expect(node.test.reader.confirm(hash)?.proposal.viewOffset, what).toBeGreaterThanOrEqual(views)
      }
      if (round < 3) await net.close()
    }
  })

  it('leaves an own block whose check ended after it: its proposer proposes it in its next view', async () => {
    net = await TestNet.four({
      producer: 'sponsor',
      timing: { minInterval: 500, emptyInterval: 500, maxDrift: 60_000, propose: 1_000, delta: 500 },
    })
    net.healing = false
    // No proposal before view 4 arrives, where the proposer of view 0 is due again.
    net.filter = (bytes) => {
      const message = parseMessage(bytes)
      return message.kind !== 'proposal' || viewOf(message) >= 4
    }
    const [, first] = net.nodes as [TestNode, TestNode]
    const { chain } = first.test
    const prepare = chain.prepare.bind(chain)
    const made: string[] = []
    let release = () => {}
    const late = new Promise<void>((resolve) => (release = resolve))
    chain.prepare = async (...args) => {
      const block = await prepare(...args)
      made.push(block.header.id)
      await late
      return block
    }
    await net.until(() => first.voting.status().view > 0, 30_000)
    expect(made).toHaveLength(1)
    release()
    await net.allAt(1, 100_000)
    expect(made).toEqual([first.test.chain.tip.header.id])
    for (const { test } of net.nodes) {
      expect(test.chain.tip.header.id).toBe(made[0])
      expect(test.reader.confirm(test.chain.tip.header.hash)?.proposal.viewOffset).toBe(4)
    }
  })

  it('leaves nothing where its block is of a time that is not acceptable: the next sponsor makes its own', async () => {
    net = await TestNet.four({ producer: 'sponsor' })
    const [, first] = net.nodes as [TestNode, TestNode]
    const { chain } = first.test
    const early = craftBlock(chain, { header: { time: Math.floor(first.test.clock.time / 1000) + 60 } })
    // Its owner has a clock that is a minute ahead.
    first.test.clock.time += 60_000
    void first.voting.offer(early).catch(() => {})
    await net.allAt(1, 30_000)
    expect(await makerAt(first)).not.toBe(1)
    expect(chain.tip.header.id).not.toBe(early.hash)
  })
})

describe('the sponsor of a coming view', () => {
  let net: TestNet
  afterEach(() => net.close())

  it('begins with its block before that, once', async () => {
    const timing = { minInterval: 1_000, emptyInterval: 10_000, maxDrift: 5_000, propose: 3_000, delta: 500 }
    net = await TestNet.four({ timing })
    const [, first, second] = net.nodes as [TestNode, TestNode, TestNode]
    const checks = new Map(net.nodes.map((node) => [node, 0]))
    for (const node of net.nodes) {
      const { chain } = node.test
      const prepare = chain.prepare.bind(chain)
      chain.prepare = (...block) => {
        checks.set(node, (checks.get(node) ?? 0) + 1)
        return prepare(...block)
      }
    }
    const counts = () => net.nodes.map((node) => checks.get(node))
    const transfer = await first.test.transfer(testAddress(30), 5n)
    for (const { test } of net.nodes) await test.send(transfer)
    await net.advance(900)
    expect(counts()).toEqual([0, 1, 0, 0])
    // What it made is lost with it, and the next one is ready when its view begins.
    first.online = false
    await net.advance(2_000)
    expect([second.voting.status().view, ...counts()]).toEqual([0, 0, 1, 1, 0])
    await net.allAt(1, 30_000, [second])
    expect(second.test.reader.confirm(second.test.chain.tip.header.hash)?.proposal.viewOffset).toBe(1)
    expect(counts()).toEqual([1, 1, 1, 1])
  })
})

describe('an own block', () => {
  const search = (view: number, stop = () => false) => ({
    ...{ view, stop, patience: 1_000, late: () => {} },
    end: new Promise<undefined>(() => {}),
  })

  async function maker() {
    const test = await TestChain.open({
      timing: { minInterval: 500, emptyInterval: 500, maxDrift: 5_000, propose: 1_000, delta: 500 },
    })
    const random = { bytes: (length: number) => new Uint8Array(length).map(() => Math.floor(Math.random() * 256)) }
    const timers = { after: () => () => {} }
    const candidates = new Candidates(test.chain, test.clock)
    const own = new ProposalSource({ ...test, timers, random, candidates, payTo: personHash(20) })
    return { test, own }
  }
  const countIn = (block: Block | undefined) => block?.transactions.length

  it('that was begun for a view is the one that is proposed there', async () => {
    const { test, own } = await maker()
    await test.send(await test.transfer(testAddress(30), 5n))
    await own.begin({ view: 0, stop: () => false })
    await test.send(await test.transfer(testAddress(30), 5n, 11))
    expect(countIn(await own.find(search(0)))).toBe(2)
    // It is proposed once.
    expect(countIn(await own.find(search(0)))).toBe(3)
    await test.close()
  })

  it('that was begun for another view, for another tip, or in vain is made anew', async () => {
    const { test, own } = await maker()
    await own.begin({ view: 0, stop: () => false })
    await test.send(await test.transfer(testAddress(30), 5n))
    expect(countIn(await own.find(search(0)))).toBe(2)
    await own.begin({ view: 1, stop: () => false })
    await test.send(await test.transfer(testAddress(30), 5n, 11))
    expect(countIn(await own.find(search(2)))).toBe(3)
    await own.begin({ view: 0, stop: () => true })
    expect(countIn(await own.find(search(0)))).toBe(3)
    await own.begin({ view: 0, stop: () => false })
    const other = craftBlock(test.chain)
    await test.chain.acceptBlock(other.bytes, confirmBytes(craftConfirm(test.spec, other)))
    const block = await own.find(search(0))
    expect(block?.header.previous).toEqual(test.chain.tip.header.hash)
    await test.close()
  })
})
