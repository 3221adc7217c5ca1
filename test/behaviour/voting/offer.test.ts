import { afterEach, describe, expect, it } from 'vitest'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { auxPowBytes } from '../../../src/base/primitives/auxpow.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { Header } from '../../../src/base/primitives/header.js'
import { Mining } from '../../../src/ledger/production/mining.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { craftBlock, personHash, solved } from '../../support/builders/blocks.js'
import { TestNet, type TestNode } from '../../support/network/voting-net.js'

let net: TestNet
afterEach(() => net.close())

const sponsorSpec = {}
/** Any work is enough, but it has to be there. */
const minersSpec = { producer: 'miners' }
const tipOf = ({ test }: TestNode) => test.chain.tip.header.id
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )

/** What `submitauxblock` and its like do at a node. */
function miningAt({ test, voting }: TestNode): Mining {
  const { chain, mempool, clock, log } = test
  return new Mining({ ...systemEnv(log), chain, mempool, clock, validator: voting.blockProducer })
}

function unitOf({ header, auxPow }: Block) {
  return { header, auxPow: auxPowBytes(auxPow) }
}

describe('a block handed in at a sponsor', () => {
  it('is proposed before its own, as soon as minInterval is over', async () => {
    net = await TestNet.four(sponsorSpec)
    const sponsor = net.nodes[1] as TestNode
    const block = craftBlock(sponsor.test.chain)
    const offered = sponsor.voting.offer(block)
    await net.allAt(1, 1_500)
    await offered
    expect(net.nodes.map(tipOf)).toEqual([1, 2, 3, 4].map(() => block.hash))
  })

  it('waits for the view in which this node is the sponsor', async () => {
    net = await TestNet.four(sponsorSpec)
    const [, first, second] = net.nodes as [TestNode, TestNode, TestNode]
    first.online = false
    const block = craftBlock(second.test.chain)
    const offered = second.voting.offer(block)
    await net.allAt(1, 30_000, [second])
    await offered
    expect(tipOf(second)).toBe(block.hash)
  })

  it('is stale when the height went by', async () => {
    net = await TestNet.four(sponsorSpec)
    const [other] = net.nodes as [TestNode]
    const block = craftBlock(other.test.chain)
    const offered = codeOf(other.voting.offer(block))
    await net.allAt(1, 12_000)
    expect(await offered).toBe('template-stale')
    expect(await codeOf(other.voting.offer(block))).toBe('template-stale')
  })

  it('is stale as well when the height goes by while it is checked', async () => {
    net = await TestNet.four(sponsorSpec)
    const [other] = net.nodes as [TestNode]
    const { chain } = other.test
    const block = craftBlock(chain)
    const { prepare } = chain
    let goOn = () => {}
    chain.prepare = async (...given) => {
      chain.prepare = prepare
      const checked = await chain.prepare(...given)
      await new Promise<void>((resolve) => (goOn = resolve))
      return checked
    }
    const offered = codeOf(other.voting.offer(block))
    await net.allAt(1, 12_000)
    goOn()
    await net.settle()
    expect(await Promise.race([offered, Promise.resolve('it waits')])).toBe('template-stale')
  })

  it('is stale where it is on another block, or the height goes by just before it is checked', async () => {
    net = await TestNet.four(sponsorSpec)
    const [node] = net.nodes as [TestNode]
    const { chain } = node.test
    const prepare = chain.prepare.bind(chain)
    let checks = 0
    chain.prepare = (...given) => (checks++, prepare(...given))
    const elsewhere = craftBlock(chain, { header: { previous: new Uint8Array(32).fill(7) } })
    expect([await codeOf(node.voting.offer(elsewhere)), checks]).toEqual(['template-stale', 0])
    chain.prepare = () => Promise.reject(new RuleError('block-stale', 'for the test'))
    expect(await codeOf(node.voting.offer(craftBlock(chain)))).toBe('template-stale')
    chain.prepare = () => Promise.reject(new RuleError('busy', 'for the test'))
    expect(await codeOf(node.voting.offer(craftBlock(chain)))).toBe('busy')
  })

  it('is told to no miner, for no other node may propose it', async () => {
    net = await TestNet.four(sponsorSpec)
    const sponsor = net.nodes[1] as TestNode
    let told = 0
    sponsor.voting.events.on('candidate', () => told++)
    const offered = sponsor.voting.offer(craftBlock(sponsor.test.chain))
    await net.allAt(1, 1_500)
    await offered
    expect(told).toBe(0)
  })

  it('is refused where it breaks a rule, and where this node does not vote', async () => {
    net = await TestNet.four(sponsorSpec)
    const follower = await net.add({ person: undefined })
    const [node] = net.nodes as [TestNode]
    const greedy = craftBlock(node.test.chain, { fees: 1n })
    expect(await codeOf(node.voting.offer(greedy))).toBe('coinbase-value')
    expect(await codeOf(follower.voting.offer(craftBlock(follower.test.chain)))).toBe('mining-impossible')
    expect(follower.voting.blockProducer).toBeUndefined()
    expect(await codeOf(miningAt(follower).template(personHash(20)))).toBe('mining-impossible')
  })

  it('leaves a bounded number waiting, and none when the node stops', async () => {
    net = await TestNet.four(sponsorSpec, false)
    const [node] = net.nodes as [TestNode]
    const offers = Array.from({ length: 9 }, () => codeOf(node.voting.offer(craftBlock(node.test.chain))))
    await net.settle()
    await net.remove(node)
    expect((await Promise.all(offers)).sort()).toEqual(Array.from({ length: 9 }, () => 'busy'))
  })

  it('comes through the mining calls of a validator node', async () => {
    net = await TestNet.four(sponsorSpec)
    const sponsor = net.nodes[1] as TestNode
    const mining = miningAt(sponsor)
    expect(mining.active).toBe(true)
    const template = await mining.template(personHash(21))
    const submitted = mining.submit(template.header.hash, auxPowBytes(solved(template.header)))
    await net.allAt(1, 1_500)
    await submitted
    expect(tipOf(sponsor)).toBe(template.hash)
    const made = mining.mine(1, personHash(22))
    // Its turn does not come at every height: what went by is made anew.
    await net.until(() => sponsor.height() >= 5, 60_000)
    const [block] = await made
    expect(sponsor.test.chain.headers.active(block?.header.height as number)?.header.id).toBe(block?.hash)
  })
})

describe('a chain whose blocks come from miners', () => {
  it('stands still until there is a candidate, and then takes it', async () => {
    net = await TestNet.four(minersSpec)
    await net.advance(60_000)
    expect(net.nodes.map((node) => node.height())).toEqual([0, 0, 0, 0])
    expect(net.nodes.map(({ voting }) => voting.status().view)).toEqual([0, 0, 0, 0])
    const sponsor = net.nodes[1] as TestNode
    const block = craftBlock(sponsor.test.chain)
    let fetched = 0
    const fetch = async () => {
      fetched++
      return block.bytes
    }
    for (const { voting } of net.nodes) expect(voting.offerCandidate(unitOf(block), fetch)).toBe(true)
    await net.allAt(1, 3_000)
    expect(net.nodes.map(tipOf)).toEqual([1, 2, 3, 4].map(() => block.hash))
    // Only the sponsor fetched it as a candidate; the others had it from those who voted.
    expect(fetched).toBe(1)
  })

  it('takes the block of a miner at a node without a key, which tells it to the others', async () => {
    net = await TestNet.four(minersSpec)
    const miner = await net.add({ person: undefined })
    miner.voting.events.on('candidate', (unit) => {
      for (const { voting } of net.nodes) {
        if (voting !== miner.voting) voting.offerCandidate(unit, async () => miner.voting.candidate(unit.header.hash))
      }
    })
    const mining = miningAt(miner)
    expect(mining.active).toBe(false)
    const template = await mining.template(personHash(21))
    const submitted = mining.submit(template.header.hash, auxPowBytes(solved(template.header)))
    await net.allAt(1, 5_000)
    await submitted
    expect(tipOf(miner)).toBe(template.hash)
  })

  it('goes on with another candidate when the body of one is not valid, or nobody hands it out', async () => {
    net = await TestNet.four(minersSpec)
    const { chain } = (net.nodes[0] as TestNode).test
    const [greedy, lost, good] = [craftBlock(chain, { fees: 1n }), craftBlock(chain), craftBlock(chain)]
    for (const { voting } of net.nodes) {
      voting.offerCandidate(unitOf(greedy), async () => greedy.bytes)
      voting.offerCandidate(unitOf(lost), async () => undefined)
      voting.offerCandidate(unitOf(good), async () => good.bytes)
    }
    await net.allAt(1, 5_000)
    expect(net.nodes.map(tipOf)).toEqual([1, 2, 3, 4].map(() => good.hash))
  })

  it('has room for another candidate where nobody hands out those that it holds', async () => {
    net = await TestNet.four(minersSpec)
    const sponsor = net.nodes[1] as TestNode
    const { chain } = sponsor.test
    for (let i = 0; i < 8; i++) {
      const withheld = unitOf(craftBlock(chain))
      for (const { voting } of net.nodes) voting.offerCandidate(withheld, async () => undefined)
    }
    const good = craftBlock(chain)
    expect(sponsor.voting.offerCandidate(unitOf(good), async () => good.bytes)).toBe(false)
    await net.advance(1_500)
    expect(sponsor.voting.offerCandidate(unitOf(good), async () => good.bytes)).toBe(true)
    await net.allAt(1, 300)
    expect(net.nodes.map(tipOf)).toEqual([1, 2, 3, 4].map(() => good.hash))
  })

  it('has room for another candidate where all that it holds are far ahead of the clock, the furthest going first', async () => {
    net = await TestNet.four(minersSpec)
    const { chain } = (net.nodes[0] as TestNode).test
    const { time } = chain.tip.header
    const announce = (block: Block) =>
      net.nodes.map(({ voting }) => voting.offerCandidate(unitOf(block), async () => block.bytes))
    for (let hour = 1; hour <= 8; hour++) announce(craftBlock(chain, { header: { time: time + hour * 3600 } }))
    await net.advance(1_500)
    expect(announce(craftBlock(chain, { header: { time: time + 9 * 3600 } }))).toEqual([false, false, false, false])
    expect(announce(craftBlock(chain, { header: { time: time + 1800 } }))).toEqual([true, true, true, true])
    const good = craftBlock(chain)
    expect(announce(good)).toEqual([true, true, true, true])
    await net.allAt(1, 5_000)
    expect(net.nodes.map(tipOf)).toEqual([1, 2, 3, 4].map(() => good.hash))
  })

  it('takes a candidate that comes in the middle of a view', async () => {
    net = await TestNet.four(minersSpec)
    const { chain } = (net.nodes[0] as TestNode).test
    const [useless, good] = [craftBlock(chain), craftBlock(chain)]
    for (const { voting } of net.nodes) voting.offerCandidate(unitOf(useless), async () => undefined)
    await net.advance(1_500)
    for (const { voting } of net.nodes) voting.offerCandidate(unitOf(good), async () => good.bytes)
    await net.allAt(1, 300)
    expect(net.nodes.map(tipOf)).toEqual([1, 2, 3, 4].map(() => good.hash))
  })

  /** Hands out a body after so long, or nothing. */
  const after = (milliseconds: number, body?: Block) => () =>
    new Promise<Uint8Array | undefined>((resolve) => void net.timers.after(milliseconds, () => resolve(body?.bytes)))

  it('waits for a body that is kept back no longer than part of a view', async () => {
    net = await TestNet.four(minersSpec)
    const { chain } = (net.nodes[0] as TestNode).test
    const [useless, good] = [craftBlock(chain), craftBlock(chain)]
    for (const { voting } of net.nodes) {
      voting.offerCandidate(unitOf(useless), after(8_000))
      voting.offerCandidate(unitOf(good), async () => good.bytes)
    }
    await net.allAt(1, 2_500)
    expect(net.nodes.map(tipOf)).toEqual([1, 2, 3, 4].map(() => good.hash))
  })

  it('begins a later view with a candidate that was not asked for yet, also where a view ended meanwhile', async () => {
    net = await TestNet.four(minersSpec)
    const sponsor = net.nodes[1] as TestNode
    const asked: number[] = []
    for (let i = 0; i < 8; i++) {
      const unit = unitOf(craftBlock(sponsor.test.chain))
      for (const node of net.nodes) {
        const fetch = after(8_000)
        node.voting.offerCandidate(unit, () => (node === sponsor && asked.push(i), fetch()))
      }
    }
    await net.until(() => sponsor.voting.status().view > 0, 20_000)
    const inFirstView = asked.length
    await net.until(() => asked.length > inFirstView, 60_000)
    expect(asked).toEqual(asked.map((_, i) => i))
  })

  it('looks at a candidate that comes while the body of another is waited for', async () => {
    net = await TestNet.four(minersSpec)
    const { chain } = (net.nodes[0] as TestNode).test
    const [useless, good] = [craftBlock(chain), craftBlock(chain)]
    for (const { voting } of net.nodes) voting.offerCandidate(unitOf(useless), after(8_000))
    await net.advance(1_200)
    for (const { voting } of net.nodes) voting.offerCandidate(unitOf(good), async () => good.bytes)
    await net.allAt(1, 1_000)
    expect(net.nodes.map(tipOf)).toEqual([1, 2, 3, 4].map(() => good.hash))
  })

  it('takes a body that comes late after all', async () => {
    net = await TestNet.four(minersSpec)
    const slow = craftBlock((net.nodes[0] as TestNode).test.chain)
    for (const { voting } of net.nodes) {
      let body: Promise<Uint8Array | undefined> | undefined
      voting.offerCandidate(unitOf(slow), () => (body ??= after(1_500, slow)()))
    }
    await net.allAt(1, 3_000)
    expect(net.nodes.map(({ test }) => test.reader.confirm(test.chain.tip.header.hash)?.proposal.viewOffset)).toEqual([
      0, 0, 0, 0,
    ])
  })

  it('holds eight candidates of the tip, each once, with their work and their header right', async () => {
    net = new TestNet(minersSpec)
    const { voting, test } = await net.add({ person: 0 })
    const { chain } = test
    const never = async () => undefined
    const refused = (act: () => unknown) => {
      try {
        return act()
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    const first = craftBlock(chain)
    const lazy = { ...unitOf(first), auxPow: auxPowBytes(solved(first.header, false)) }
    expect(refused(() => voting.offerCandidate(lazy, never))).toBe('auxpow-work')
    expect(refused(() => voting.offerCandidate({ ...lazy, auxPow: Uint8Array.of(1) }, never))).toBe('auxpow-malformed')
    const early = craftBlock(chain, { header: { time: chain.tip.header.time - 1 } })
    expect(refused(() => voting.offerCandidate(unitOf(early), never))).toBe('block-time-early')
    const elsewhere = new Header({ ...first.header, previous: new Uint8Array(32).fill(7) })
    expect(voting.offerCandidate({ ...unitOf(first), header: elsewhere }, never)).toBe(false)
    expect(voting.offerCandidate(unitOf(first), never)).toBe(true)
    expect(voting.offerCandidate(unitOf(first), never)).toBe(false)
    for (let i = 0; i < 7; i++) expect(voting.offerCandidate(unitOf(craftBlock(chain)), never)).toBe(true)
    expect(voting.offerCandidate(unitOf(craftBlock(chain)), never)).toBe(false)
  })

  it('is the only one that takes candidates', async () => {
    net = new TestNet(sponsorSpec)
    const { voting, test } = await net.add({ person: 0 })
    expect(() => voting.offerCandidate(unitOf(craftBlock(test.chain)), async () => undefined)).toThrow(
      expect.objectContaining({ code: 'vote-candidate' }) as Error,
    )
  })
})
