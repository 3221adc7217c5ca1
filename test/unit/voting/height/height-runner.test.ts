import { afterEach, describe, expect, it } from 'vitest'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import type { Timers } from '../../../../src/base/runtime/env.js'
import { JobQueue } from '../../../../src/base/runtime/job-queue.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import { equalBytes } from '../../../../src/base/primitives/bytes.js'
import type { Making, ProposalSource, Search } from '../../../../src/ledger/production/proposal-source.js'
import type { Evidence } from '../../../../src/voting/evidence.js'
import { HeightRunner } from '../../../../src/voting/height/height-runner.js'
import type { VoteFilter } from '../../../../src/voting/height/vote-filter.js'
import type { ProposedBodies } from '../../../../src/voting/proposed-bodies.js'
import { parseMessage, type SignedMessage, signerOf } from '../../../../src/voting/tendermint/message.js'
import { encodeSummary } from '../../../../src/voting/tendermint/summary.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { testKey, testPublicKey } from '../../../support/builders/spec.js'
import { MemorySigns, openSigner, TestNet, type TestNode } from '../../../support/network/voting-net.js'

let net: TestNet
afterEach(() => net.close())

/** The timers of the network, and how many of them are set for one node. */
function countedTimers(): { timers: Timers; pending(): number } {
  const pending = new Set<object>()
  const after: Timers['after'] = (milliseconds, callback) => {
    const one = {}
    pending.add(one)
    const cancel = net.timers.after(milliseconds, () => {
      pending.delete(one)
      callback()
    })
    return () => {
      pending.delete(one)
      cancel()
    }
  }
  return { timers: { after }, pending: () => pending.size }
}

describe('a node that stops', () => {
  it('leaves no timer, however far its vote was, and hears nothing more', async () => {
    net = await TestNet.four()
    const heard = ({ test }: TestNode) => [
      test.chain.events.listenerCount('change'),
      test.mempool.events.listenerCount('accepted'),
    ]
    for (const time of [0, 500, 9_000, 2_000, 11_000]) {
      const { timers, pending } = countedTimers()
      const node = await net.add({ person: undefined }, false, { timers })
      const before = heard(node)
      node.voting.start()
      await net.advance(time)
      expect(pending()).toBeGreaterThan(0)
      await node.voting.close()
      node.voting.setBestPeerHeight(99)
      expect([pending(), heard(node)]).toEqual([0, before])
      await net.remove(node)
    }
  })

  it('does not wait for a body that was asked for, nor ask for it again', async () => {
    net = await TestNet.four()
    const { timers, pending } = countedTimers()
    let asked = 0
    const fetch = () => {
      asked++
      return new Promise<undefined>(() => {})
    }
    const node = await net.add({ person: undefined }, true, { timers, network: { broadcast: () => {}, fetch } })
    await net.until(() => net.nodes[0]?.height() === 1, 15_000)
    await net.settle()
    expect([asked, node.height()]).toEqual([1, 0])
    await node.voting.close()
    await net.settle()
    expect(pending()).toBe(0)
    await net.remove(node)
  })

  it('takes no more messages', async () => {
    net = await TestNet.four()
    const [node] = net.nodes as [TestNode]
    const { test, voting } = node
    const signer = await openSigner(testKey(1), new MemorySigns(), test.chain.genesis.header.hash)
    const prevote = { kind: 'prevote', height: 1, view: 3, blockHash: undefined, signer: testPublicKey(1) } as const
    const message = await signer.sign(prevote, { locked: undefined, valid: undefined })
    await voting.close()
    const verified = net.verified
    expect(await voting.receive(message as NonNullable<typeof message>)).toBe(false)
    expect([voting.received, net.verified]).toEqual([0, verified])
  })
})

describe('a confirmed block', () => {
  const busy = new RuleError('busy', 'for the test')
  /** A follower, whose chain refuses a confirmed block for these reasons, one after the other. */
  const refusing = async (...reasons: Error[]) => {
    net = await TestNet.four()
    const node = await net.add({ person: undefined })
    const { chain } = node.test
    const accept = chain.acceptBlock.bind(chain)
    const fatal: unknown[] = []
    chain.events.on('fatal', (failure) => void fatal.push(failure))
    chain.acceptBlock = (...given) => {
      const reason = reasons.shift()
      return reason === undefined ? accept(...given) : Promise.reject(reason)
    }
    await net.until(() => net.nodes[0]?.height() === 1, 15_000)
    await net.advance(2_000)
    return { height: node.height(), fatal, logged: node.test.log.errors.map(({ message }) => message) }
  }
  const refused = 'a confirmed block was refused'

  it('that the chain is too busy to take is handed to it again', async () => {
    expect(await refusing(busy, busy)).toEqual({ height: 1, fatal: [], logged: [refused, refused] })
  })

  it('that cannot be written ends the node', async () => {
    const failure = new Error('no space left on device')
    const { fatal, logged } = await refusing(busy, failure)
    expect([fatal, logged]).toEqual([[failure], [refused, 'the vote cannot go on']])
  })
})

describe('what a key signed before a restart', () => {
  it('is no other node with that key when it comes back from peers', async () => {
    net = await TestNet.four()
    const [first, , ...others] = net.nodes as [TestNode, TestNode, TestNode, TestNode]
    for (const other of others) await net.remove(other)
    await net.advance(12_000)
    expect(first.signs.saves).toBeGreaterThan(1)
    await net.remove(first)
    const { plan, store, signs } = first
    const again = await net.add({ ...plan, store, signs })
    const nothing = encodeSummary({ height: 1, view: 0, step: 'propose', validView: -1, views: [] })
    const kept = (await (net.nodes[0] as TestNode).voting.missing(nothing)).map(parseMessage)
    const own = kept.filter((one) => one.kind !== 'proof' && equalBytes(signerOf(one), testPublicKey(0)))
    expect(own.length).toBeGreaterThan(0)
    for (const message of own) expect(await again.voting.receive(message)).toBe(false)
    expect(again.test.log.errors).toEqual([])
    expect(again.voting.status().signing).toEqual({ kind: 'voting' })
  })

  it('is not sent again where it is no validator any more', async () => {
    net = await TestNet.four()
    const [node] = net.nodes as [TestNode]
    const signs = new MemorySigns()
    const genesis = node.test.chain.genesis.header.hash
    const signer = await openSigner(testKey(9), signs, genesis)
    const prevote = { kind: 'prevote', height: 1, view: 0, blockHash: undefined, signer: testPublicKey(9) } as const
    await signer.sign(prevote, { locked: undefined, valid: undefined })
    const other = await net.add({ person: 9, signs })
    await net.advance(3_000)
    expect(other.voting.status().signing).toEqual({ kind: 'not-validator' })
    expect(net.nodes.flatMap(({ refused }) => refused)).toEqual([])
  })
})

/** The vote of person 1, who proposes in view 0 of height 1, with a source of blocks that does what the test says. */
async function proposer(find: ProposalSource['find']) {
  net = new TestNet()
  const { test } = await net.add({ person: undefined }, false)
  const { chain, clock, log } = test
  const genesis = chain.genesis.header.hash
  const begun: Making[] = []
  const searches: Search[] = []
  const failures: unknown[] = []
  const broadcast: SignedMessage[] = []
  const may = { sign: true }
  const track = (work: Promise<void>) => void work.catch((error: unknown) => failures.push(error))
  const proposals = {
    lead: () => 200,
    begin: async (making: Making) => void begun.push(making),
    find: (search: Search) => {
      searches.push(search)
      return find(search)
    },
  } as unknown as ProposalSource
  const runner = new HeightRunner(
    {
      ...{ chain, clock, log, proposals, timers: net.timers, queue: new JobQueue(100), track },
      network: { broadcast: (message) => void broadcast.push(message as SignedMessage), fetch: async () => undefined },
      bodies: { put: async () => {}, has: () => true } as unknown as ProposedBodies,
      evidence: {} as Evidence,
      signer: await openSigner(testKey(1), new MemorySigns(), genesis),
      maySign: () => may.sign,
      isFresh: () => false,
    },
    { accept: async () => true, markSeen: () => {} } as unknown as VoteFilter,
  )
  return { test, runner, may, begun, searches, failures, broadcast }
}

describe('the block of a proposer', () => {
  const never = () => new Promise<undefined>(() => {})

  it('is begun before its view, in time for what making it takes', async () => {
    const { runner, begun } = await proposer(never)
    runner.anticipate(0, 1_000)
    await net.advance(799)
    expect(begun).toEqual([])
    await net.advance(1)
    expect(begun).toMatchObject([{ view: 0 }])
    runner.close()
  })

  it('is not begun in the view of another, nor in one that has begun, nor by a key that may not sign', async () => {
    const { runner, begun, may } = await proposer(never)
    runner.anticipate(1, 1_000)
    await net.advance(2_000)
    runner.anticipate(0, 1_000)
    may.sign = false
    await net.advance(2_000)
    may.sign = true
    runner.anticipate(0, 1_000)
    runner.start()
    await net.advance(1_000)
    expect(begun).toEqual([])
    runner.close()
  })

  it('is given up once its view is over', async () => {
    const { test, runner, begun } = await proposer(never)
    runner.anticipate(0, 200)
    await net.advance(0)
    runner.start()
    await net.settle()
    expect([runner.machine.view, begun.map(({ stop }) => stop())]).toEqual([0, [false]])
    // More than a third of the validators are in the next view.
    for (const person of [0, 2]) {
      const signer = await openSigner(testKey(person), new MemorySigns(), test.chain.genesis.header.hash)
      const prevote = {
        kind: 'prevote',
        height: 1,
        view: 1,
        blockHash: undefined,
        signer: testPublicKey(person),
      } as const
      await runner.receive((await signer.sign(prevote, { locked: undefined, valid: undefined })) as SignedMessage)
    }
    expect([runner.machine.view, begun.map(({ stop }) => stop())]).toEqual([1, [true]])
    runner.close()
  })

  it('is given up once the height is decided', async () => {
    const { runner, begun } = await proposer(never)
    runner.anticipate(0, 200)
    await net.advance(0)
    expect(begun.map(({ stop }) => stop())).toEqual([false])
    runner.close()
    expect(begun.map(({ stop }) => stop())).toEqual([true])
  })

  it('is looked for once, also where there is none', async () => {
    const { runner, searches, failures, broadcast } = await proposer(async () => undefined)
    runner.start()
    await net.advance(100)
    expect([searches.length, failures, broadcast]).toEqual([1, [], []])
    runner.close()
  })

  it('is proposed once, and no other is looked for', async () => {
    const ready: Block[] = []
    const { test, runner, searches, failures, broadcast } = await proposer(async () => ready[0])
    ready.push(craftBlock(test.chain))
    runner.start()
    await net.advance(100)
    expect([searches.length, failures]).toEqual([1, []])
    expect(broadcast.filter(({ kind }) => kind === 'proposal')).toHaveLength(1)
    runner.close()
  })
})
