import { afterEach, describe, expect, it } from 'vitest'
import type { KnownHeader } from '../../../src/ledger/chain/header-index.js'
import { Block } from '../../../src/base/primitives/block.js'
import { equalBytes, toHex } from '../../../src/base/primitives/bytes.js'
import { parseMessage } from '../../../src/voting/tendermint/message.js'
import { encodeSummary } from '../../../src/voting/tendermint/summary.js'
import { signMessage } from '../../../src/voting/sign-message.js'
import { signingText } from '../../../src/voting/signing-state.js'
import { sideChainPow } from '../../rules/transaction.js'
import { craftBlock, personHash } from '../../support/builders/blocks.js'
import type { TestChain } from '../../support/builders/chain.js'
import { testAddress, testKey, testPublicKey } from '../../support/builders/spec.js'
import { TestNet, type TestNode } from '../../support/network/voting-net.js'

let net: TestNet
afterEach(() => net.close())

const tips = () => new Set(net.nodes.map(({ test }) => test.chain.tip.header.id))
const heights = () => net.nodes.map((node) => node.height())
const viewOfTip = ({ test }: TestNode) => test.reader.confirm(test.chain.tip.header.hash)?.proposal.viewOffset

describe('four validators', () => {
  it('confirm blocks of nothing, emptyInterval apart', async () => {
    net = await TestNet.four()
    await net.advance(9_900)
    expect(heights()).toEqual([0, 0, 0, 0])
    await net.allAt(1, 500)
    expect(tips().size).toBe(1)
    await net.allAt(3, 21_000)
    expect(tips().size).toBe(1)
    expect(net.nodes.map(viewOfTip)).toEqual([0, 0, 0, 0])
    expect(net.nodes.flatMap(({ refused }) => refused).filter((code) => code !== 'vote-height')).toEqual([])
  })

  it('confirm a transaction as soon as minInterval is over, in a block that pays the sponsor', async () => {
    net = await TestNet.four()
    // Person 1 is the sponsor of view 0 at height 1; others have the transaction too, as relay brings it.
    const transfer = await (net.nodes[1] as TestNode).test.transfer(testAddress(30), 5_000n)
    for (const { test } of net.nodes) await test.send(transfer)
    await net.advance(900)
    expect(heights()).toEqual([0, 0, 0, 0])
    await net.allAt(1, 300)
    const { test } = net.nodes[0] as TestNode
    const [coinbase, included] = (await test.reader.block(test.chain.tip)).transactions
    expect(included?.txid).toBe(transfer.txid)
    expect(toHex(coinbase?.outputs[0]?.programHash as Uint8Array)).toBe(toHex(personHash(1)))
  })

  it('begin with the one that has something to include', async () => {
    net = await TestNet.four()
    const { test } = net.nodes[1] as TestNode
    await test.send(await test.transfer(testAddress(30), 5_000n))
    await net.allAt(1, 1_500)
    expect((await test.reader.block(test.chain.tip)).transactions).toHaveLength(2)
  })

  it('go on without the sponsor, and without any two they wait', async () => {
    net = await TestNet.four()
    const [, sponsor, second] = net.nodes as [TestNode, TestNode, TestNode]
    sponsor.online = false
    const others = net.nodes.filter((node) => node !== sponsor)
    await net.allAt(1, 20_000, others)
    expect(viewOfTip(others[0] as TestNode)).toBe(1)
    expect(sponsor.height()).toBe(0)
    second.online = false
    await net.advance(40_000)
    expect(others[0]?.height()).toBe(1)
    // Both come back: what they lack is sent to them.
    second.online = sponsor.online = true
    await net.allAt(2, 200_000)
    expect(tips().size).toBe(1)
  })

  it('need no gossip: what they lack they are told when they ask', async () => {
    net = await TestNet.four()
    net.filter = () => false
    await net.allAt(2, 60_000)
    expect(tips().size).toBe(1)
  })

  it('stand still while they hear nothing of each other, and go on from there', async () => {
    net = await TestNet.four()
    net.healing = false
    net.filter = () => false
    await net.advance(60_000)
    expect(heights()).toEqual([0, 0, 0, 0])
    net.healing = true
    await net.allAt(1, 30_000)
    expect(tips().size).toBe(1)
  })

  it('and say how long it is until an empty block, if there is nothing else', async () => {
    net = await TestNet.four()
    await net.advance(4_000)
    expect(net.nodes.map(({ voting }) => voting.status().emptyBlockIn)).toEqual([6_000, 6_000, 6_000, 6_000])
    net.filter = () => false
    net.healing = false
    await net.advance(6_000)
    expect(net.nodes.map(({ voting }) => voting.status().emptyBlockIn)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('and one that follows them connects the same blocks, without a key', async () => {
    net = await TestNet.four()
    const follower = await net.add({ person: undefined })
    const stranger = await net.add({ person: 9 })
    await net.allAt(2, 25_000)
    expect(tips().size).toBe(1)
    expect(follower.voting.status().signing).toEqual({ kind: 'no-key' })
    expect(stranger.voting.status().signing).toEqual({ kind: 'not-validator' })
    // Its state is begun with the chain, in case that an upgrade names its key, and nothing is signed.
    expect(stranger.signs.saves).toBe(1)
    expect(net.nodes[0]?.voting.status()).toMatchObject({ height: 3, view: 0, signing: { kind: 'voting' } })
    expect(toHex(net.nodes[0]?.voting.status().sponsor as Uint8Array)).toBe(toHex(testPublicKey(3)))
    expect(follower.voting.received).toBeGreaterThan(0)
  })

  it('bring a late one along, one decided height after the other', async () => {
    net = await TestNet.four()
    await net.allAt(3, 40_000)
    const late = await net.add({ person: undefined })
    await net.advance(4_000)
    expect(late.height()).toBe(3)
    expect(tips().size).toBe(1)
  })

  it('leave no body behind when a height is decided', async () => {
    net = await TestNet.four()
    await net.advance(10_050)
    await net.allAt(1, 5_000)
    const { test, voting } = net.nodes[0] as TestNode
    expect(voting.candidate(test.chain.tip.header.hash)).toBeUndefined()
    expect(await test.database.keys({ gte: Buffer.of(0x24), lt: Buffer.of(0x25) })).toEqual([])
  })
})

describe('a key', () => {
  it('that another node votes with is an error in the log, and an own vote that comes back is none', async () => {
    net = new TestNet()
    net.healing = false
    for (const person of [0, 1]) await net.add({ person })
    await net.advance(12_000)
    const [first] = net.nodes as [TestNode]
    const nothing = encodeSummary({ height: 1, view: 0, step: 'propose', validView: -1, views: [] })
    const own = (await Promise.all(net.nodes.map(({ voting }) => voting.missing(nothing)))).flat().map(parseMessage)
    expect(own.length).toBeGreaterThan(1)
    for (const { voting } of net.nodes) for (const message of own) await voting.receive(message)
    const errors = () => net.nodes.map(({ test }) => test.log.errors.map(({ fields }) => fields))
    expect([net.nodes.map(({ voting }) => voting.received > 0), errors()]).toEqual([
      [true, true],
      [[], []],
    ])
    const genesis = first.test.chain.genesis.header.hash
    const unsigned = { kind: 'precommit-nil', height: 1, view: 7, signer: testPublicKey(0) } as const
    for (const { voting } of net.nodes) await voting.receive(signMessage(unsigned, genesis, testKey(0)))
    expect(errors()).toEqual([[{ height: 1, view: 7, step: 'precommit' }], []])
  })
})

describe.each([1, 2, 3, 7])('%i validators', (count) => {
  it('confirm blocks, and with as many as a quorum go on after a restart of one', async () => {
    const persons = Array.from({ length: count }, (_, person) => person)
    net = new TestNet({ validators: persons.map((person) => toHex(testPublicKey(person))) })
    for (const person of persons) await net.add({ person })
    await net.allAt(2, 30_000)
    const last = net.nodes.at(-1) as TestNode
    await net.remove(last)
    const { plan, store, signs } = last
    await net.add({ ...plan, store, signs })
    await net.allAt(4, 60_000)
    expect(tips().size).toBe(1)
    expect(net.nodes.map(({ voting }) => voting.status().signing.kind)).toEqual(persons.map(() => 'voting'))
  })
})

describe('a body', () => {
  const proposalOf = (chain: TestNode['test']['chain'], { header }: Block, view: number) => {
    const person = 1 + view
    const proposal = { sponsor: testPublicKey(person), blockHash: header.hash, viewOffset: view }
    const unsigned = { kind: 'proposal', height: 1, validView: -1, header, proposal, prevotes: [] } as const
    return signMessage(unsigned, chain.genesis.header.hash, testKey(person))
  }
  const prevoteOf = (chain: TestNode['test']['chain'], { header }: Block, person: number, view = 0) => {
    const unsigned = { kind: 'prevote', height: 1, view, blockHash: header.hash } as const
    const signer = testPublicKey(person)
    return signMessage({ ...unsigned, signer }, chain.genesis.header.hash, testKey(person))
  }
  const handIn = async ({ voting, test }: TestNode) => {
    // Half of them are refused, for only some may wait; all are kept, one after the other.
    const blocks = Array.from({ length: 17 }, () => craftBlock(test.chain))
    for (const block of blocks) void voting.offer(block).catch(() => {})
    const last = (blocks.at(-1) as Block).header.hash
    while (voting.candidate(last) === undefined) await net.settle()
  }

  it('of a locked block is kept, however many blocks are handed in at the node', async () => {
    net = new TestNet()
    net.healing = false
    const node = await net.add({ person: 0 })
    await net.add({ person: 3 }, false)
    const { chain } = node.test
    const block = craftBlock(chain)
    net.handOut = () => block.bytes
    for (const message of [proposalOf(chain, block, 0), ...[1, 2].map((person) => prevoteOf(chain, block, person))]) {
      await node.voting.receive(message)
    }
    await net.advance(1_500)
    expect(node.voting.status().step).toBe('precommit')
    await handIn(node)
    expect(node.voting.candidate(block.header.hash)).toBeDefined()
  })

  it('that made room for others is fetched again before its block gets another vote', async () => {
    net = new TestNet()
    net.healing = false
    const node = await net.add({ person: 0 })
    await net.add({ person: 3 }, false)
    const { chain } = node.test
    const block = craftBlock(chain)
    let fetched = 0
    net.handOut = () => {
      fetched++
      return block.bytes
    }
    await node.voting.receive(proposalOf(chain, block, 0))
    await net.advance(1_500)
    expect([node.voting.status().step, fetched]).toEqual(['prevote', 1])
    const { header } = craftBlock(chain)
    for (const person of [1, 3]) await node.voting.receive(prevoteOf(chain, { header } as Block, person, 2))
    expect(node.voting.status()).toMatchObject({ view: 2, step: 'propose' })
    await handIn(node)
    expect(node.voting.candidate(block.header.hash)).toBeUndefined()
    await node.voting.receive(proposalOf(chain, block, 2))
    await net.settle()
    expect([node.voting.status().step, fetched]).toEqual(['prevote', 2])
    expect(node.voting.candidate(block.header.hash)).toBeDefined()
  })

  it('that is mutated says nothing of its block: it is asked for again', async () => {
    net = await TestNet.four()
    let handedOut = 0
    net.handOut = (hash) => {
      const bytes = net.nodes[1]?.voting.candidate(hash)
      if (bytes === undefined || handedOut >= 3) return undefined
      handedOut++
      const { header, auxPow, transactions } = Block.fromBytes(bytes)
      return new Block(header, auxPow, [...transactions, ...transactions]).bytes
    }
    await net.allAt(1, 12_000)
    expect(handedOut).toBe(3)
    expect(net.nodes.map(viewOfTip)).toEqual([0, 0, 0, 0])
  })

  const greedyBlock = ({ chain }: TestChain) => craftBlock(chain, { fees: 1n })
  /** Two proofs of one side block. */
  const provingTwice = async (test: TestChain) => {
    const proof = (output: 0 | 1) => sideChainPow({ output })(test)
    return craftBlock(test.chain, { transactions: [await proof(0), await proof(1)] })
  }
  it.each([
    ['breaks a rule gets it no vote, whoever proposes it', {}, greedyBlock, false],
    ['proves a side block twice gets it no vote where proofs rise', { sideChainOrder: true }, provingTwice, false],
    ['proves a side block twice gets it votes where proofs need not rise', {}, provingTwice, true],
  ])('of a block that %s', async (_, overrides, make, confirmed) => {
    net = new TestNet(overrides)
    for (const person of [0, 2, 3]) await net.add({ person })
    const { test } = net.nodes[0] as TestNode
    const { chain } = test
    const block = await make(test)
    net.handOut = (hash) => (equalBytes(hash, block.header.hash) ? block.bytes : undefined)
    const { header } = block
    const proposal = { sponsor: testPublicKey(1), blockHash: header.hash, viewOffset: 0 }
    const unsigned = { kind: 'proposal', height: 1, validView: -1, header, proposal, prevotes: [] } as const
    const message = signMessage(unsigned, chain.genesis.header.hash, testKey(1))
    for (const { voting } of net.nodes) await voting.receive(message)
    await net.allAt(1, 20_000)
    expect(tips().size).toBe(1)
    expect(tips().has(block.hash)).toBe(confirmed)
    expect(net.nodes.map(viewOfTip)).toEqual(confirmed ? [0, 0, 0] : [1, 1, 1])
  })
})

describe('the time of a proposal', () => {
  it('may not be far ahead of the clocks of the others', async () => {
    net = new TestNet()
    for (let person = 0; person < 4; person++) await net.add({ person, skew: person === 1 ? 6_500 : 0 })
    await net.allAt(1, 30_000)
    // Person 1 is the sponsor of view 0: nobody took its block.
    expect(net.nodes.map(viewOfTip)).toEqual([1, 1, 1, 1])
  })

  it('may be ahead by maxDrift', async () => {
    net = new TestNet()
    for (let person = 0; person < 4; person++) await net.add({ person, skew: person === 1 ? 4_000 : 0 })
    await net.allAt(1, 30_000)
    expect(net.nodes.map(viewOfTip)).toEqual([0, 0, 0, 0])
  })

  it('is the parent time at least, so that clocks that are behind stop nobody', async () => {
    net = new TestNet()
    for (let person = 0; person < 4; person++) await net.add({ person, skew: person === 1 ? 4_900 : -60_000 })
    await net.until(() => net.nodes.slice(1).every((node) => node.height() >= 2), 80_000)
    const { test } = net.nodes[0] as TestNode
    const [first, second] = [1, 2].map((height) => test.reader.headerAt(height)?.header.time as number)
    expect(second).toBeGreaterThanOrEqual(first as number)
  })
})

describe('validators that change', () => {
  const upgrades = [
    {
      height: 2,
      name: 'others',
      parameters: { validators: [0, 1, 2, 5].map((person) => toHex(testPublicKey(person))) },
    },
  ]

  it('may be more, and fewer again: those who leave follow', async () => {
    const keysOf = (persons: readonly number[]) => ({
      validators: persons.map((person) => toHex(testPublicKey(person))),
    })
    const changing = [
      { height: 2, name: 'more', parameters: keysOf([0, 1, 2, 3, 4, 5, 6]) },
      { height: 4, name: 'fewer', parameters: keysOf([5, 6]) },
    ]
    net = await TestNet.four({ upgrades: changing })
    for (const person of [4, 5, 6]) await net.add({ person })
    await net.allAt(3, 40_000)
    expect(net.nodes.map(({ voting }) => signingText(voting.status().signing))).toEqual([
      ...Array<string>(5).fill('not-validator'),
      ...['yes', 'yes'],
    ])
    await net.allAt(5, 30_000)
    expect(tips().size).toBe(1)
    const { test } = net.nodes[0] as TestNode
    const votesAt = (height: number) => {
      const known = test.chain.headers.active(height) as KnownHeader
      return test.reader.confirm(known.header.hash)?.votes.length
    }
    expect([1, 2, 3].every((height) => (votesAt(height) as number) >= (height === 1 ? 3 : 5))).toBe(true)
    expect([votesAt(4), votesAt(5)]).toEqual([2, 2])
  })

  it('vote from the height of the upgrade on', async () => {
    net = await TestNet.four({ upgrades })
    const next = await net.add({ person: 5 })
    expect(next.voting.status().signing).toEqual({ kind: 'not-validator' })
    await net.allAt(1, 12_000)
    expect(net.nodes[3]?.voting.status().signing).toEqual({ kind: 'not-validator' })
    expect(next.voting.status().signing).toEqual({ kind: 'voting' })
    // One of the old ones is away: without the new one there is no quorum.
    ;(net.nodes[0] as TestNode).online = false
    await net.allAt(3, 60_000, net.nodes.slice(1))
    expect(next.signs.saves).toBeGreaterThan(1)
  })
})
