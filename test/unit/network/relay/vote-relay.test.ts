import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { brokenRule } from '../../../../src/base/errors/broken-rule.js'
import type { RuleError } from '../../../../src/base/errors/rule-error.js'
import { VoteRelay } from '../../../../src/network/relay/vote-relay.js'
import { blocksExchange } from '../../../../src/network/wire/blocks-message.js'
import { proposalTopic, votesExchange, voteTopic } from '../../../../src/network/wire/votes-message.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { equalBytes, toHex } from '../../../../src/base/primitives/bytes.js'
import { signMessage } from '../../../../src/voting/sign-message.js'
import {
  encodeMessage,
  parseMessage,
  type SignedMessage,
  type VotingMessage,
} from '../../../../src/voting/tendermint/message.js'
import { craftBlock, solved } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { FakePeers, type FakePeer } from '../../../support/fakes/fake-peers.js'
import { ManualTimers } from '../../../support/fakes/manual-timers.js'
import { testKey, testPublicKey } from '../../../support/builders/spec.js'

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

async function fire(milliseconds: number): Promise<void> {
  timers.fire(milliseconds)
  await settled()
}

let test: TestChain
let peers: FakePeers
let timers: ManualTimers
let link: VoteRelay
let reports: (number | undefined)[]
let received: VotingMessage[]
let refuse: RuleError | undefined

beforeEach(async () => {
  test = await TestChain.open({})
  peers = new FakePeers('here')
  timers = new ManualTimers()
  link = new VoteRelay({ chain: test.chain, peers, timers, log: test.log })
  reports = []
  received = []
  refuse = undefined
  link.start({
    receive: async (message: VotingMessage) => {
      if (refuse !== undefined) throw refuse
      const isNew = !received.some((known) => equalBytes(encodeMessage(known), encodeMessage(message)))
      received.push(message)
      return isNew
    },
    summary: () => Uint8Array.of(7),
    missing: async (summary: Uint8Array) => [summary],
    setBestPeerHeight: (height: number | undefined) => reports.push(height),
  })
})

afterEach(async () => {
  link.close()
  await test.close()
})

/** A prevote for a block, which makes whoever tells it one to ask for the body. */
function prevoteFor(block: Block): SignedMessage {
  const unsigned = { kind: 'prevote', height: 1, view: 0, blockHash: block.header.hash } as const
  return signMessage({ ...unsigned, signer: testPublicKey(2) }, test.chain.genesis.header.hash, testKey(2))
}

function proposalFor({ header }: Block): SignedMessage {
  const proposal = { sponsor: testPublicKey(1), blockHash: header.hash, viewOffset: 0 }
  const unsigned = { kind: 'proposal', height: 1, validView: -1, header, proposal, prevotes: [] } as const
  return signMessage(unsigned, test.chain.genesis.header.hash, testKey(1))
}

function stranger(name: string, answers: Parameters<FakePeers['stranger']>[1] = {}, tipHeight = 0): FakePeer {
  const peer = peers.stranger(name, { votes: () => votesExchange.answer.encode([]), ...answers })
  Object.assign(peer, { status: { tipHeight, services: 1 } })
  peers.events.emit('status', peer)
  return peer
}

const handsOut = (...blocks: readonly (Block | Uint8Array)[]) => ({
  blocks: () => blocksExchange.answer.encode(blocks.map((block) => (block instanceof Block ? block.bytes : block))),
})

describe('votes over peers', () => {
  it('go out by kind, and come in from either subject, told on when they tell something', async () => {
    const peer = stranger('a')
    link.broadcast(proposalFor(craftBlock(test.chain)))
    link.broadcast(prevoteFor(craftBlock(test.chain)))
    expect(peers.told).toEqual(['proposals', 'votes'])
    const vote = prevoteFor(craftBlock(test.chain))
    expect(await peers.hear(peer, voteTopic, vote)).toBe('accept')
    expect(received).toHaveLength(1)
    const other = prevoteFor(craftBlock(test.chain))
    received.push(other)
    expect(await peers.hear(peer, proposalTopic, other)).toBe('ignore')
  })

  it('cost a peer what is wrong with them', async () => {
    const peer = stranger('a')
    refuse = brokenRule('vote-signature')
    expect(await peers.hear(peer, voteTopic, prevoteFor(craftBlock(test.chain)))).toBe('reject')
    expect(peer.penalties).toEqual(['vote-signature'])
  })
})

describe('what a node lacks', () => {
  it('is asked of a peer that joins, and of each of them every second', async () => {
    const told = prevoteFor(craftBlock(test.chain))
    const peer = stranger('a', { votes: () => votesExchange.answer.encode([encodeMessage(told)]) })
    await settled()
    expect(received).toEqual([parseMessage(encodeMessage(told))])
    await fire(1000)
    await fire(1000)
    expect(peer.questions).toEqual(['votes', 'votes', 'votes'])
  })

  it('is not asked for again while an answer is out', async () => {
    const peer = stranger('a')
    peer.other.answer = () => new Promise(() => {})
    await settled()
    const asked = peer.questions.length
    await fire(1000)
    await fire(1000)
    expect(peer.questions.length).toBe(asked + 1)
  })

  it('costs a peer only what is worth it', async () => {
    let answer = [encodeMessage(prevoteFor(craftBlock(test.chain)))]
    const peer = stranger('a', { votes: () => votesExchange.answer.encode(answer) })
    refuse = brokenRule('vote-height')
    await fire(1000)
    expect(peer.penalties).toEqual([])
    refuse = undefined
    // Those before a malformed one count.
    received = []
    answer = [...answer, Uint8Array.of(9), ...answer]
    await fire(1000)
    expect(peer.penalties).toEqual(['vote-malformed'])
    expect(received).toHaveLength(1)
  })

  it('is answered for others', async () => {
    const other = new FakePeers('there')
    other.connect(peers)
    const [here] = other.all()
    expect(await here?.ask(votesExchange, Uint8Array.of(9))).toEqual([Buffer.of(9)])
  })
})

describe('tips of peers', () => {
  it('are told as the highest of all, and that there is none', () => {
    const high = stranger('a', {}, 7)
    const low = stranger('b', {}, 3)
    peers.events.emit('status', low)
    expect(reports.at(-1)).toBe(7)
    peers.leave(high)
    expect(reports.at(-1)).toBe(3)
    peers.leave(low)
    expect(reports.at(-1)).toBeUndefined()
  })

  it('is not believed of a peer that hands out no blocks, which nobody can hold to its word', () => {
    const liar = stranger('a')
    Object.assign(liar, { status: { tipHeight: 4_000_000_000, services: 0 } })
    peers.events.emit('status', liar)
    expect(reports.at(-1)).toBe(0)
  })
})

describe('a body', () => {
  it('comes from the peer that spoke of it', async () => {
    const block = craftBlock(test.chain)
    const silent = stranger('a', handsOut(block))
    const source = stranger('b', handsOut(block))
    await peers.hear(source, voteTopic, prevoteFor(block))
    expect(await link.fetch(block.header.hash)).toEqual(Buffer.from(block.bytes))
    expect(source.questions).toContain('blocks')
    expect(silent.questions).not.toContain('blocks')
  })

  it('comes from the next one when a peer has it not', async () => {
    const block = craftBlock(test.chain)
    stranger('a', handsOut(new Uint8Array(0)))
    stranger('b')
    stranger('c', handsOut(block))
    expect(await link.fetch(block.header.hash)).toEqual(Buffer.from(block.bytes))
    expect(peers.all().flatMap((peer) => peer.penalties)).toEqual([])
  })

  it('that is another one, or mutated, or without work costs points, and is looked for elsewhere', async () => {
    const block = craftBlock(test.chain)
    const { header, transactions } = block
    const other = stranger('a', handsOut(craftBlock(test.chain)))
    const mutated = stranger('b', handsOut(new Block(header, block.auxPow, [...transactions, ...transactions])))
    const lazy = stranger('c', handsOut(new Block(header, solved(header, false), transactions)))
    stranger('d', handsOut(block))
    expect(await link.fetch(header.hash)).toEqual(Buffer.from(block.bytes))
    expect([other, mutated, lazy].map(({ penalties }) => penalties)).toEqual([
      ['peer-withheld'],
      ['block-duplicate-transaction'],
      ['auxpow-work'],
    ])
  })

  it('that names other validators for the next height than the own spec costs nobody anything: it is the one', async () => {
    const upgrades = [{ height: 2, name: 'other', parameters: { validators: [toHex(testPublicKey(1))] } }]
    const upgraded = await TestChain.open({ upgrades })
    const block = craftBlock(upgraded.chain)
    const peer = stranger('a', handsOut(block))
    expect(await link.fetch(block.header.hash)).toEqual(Buffer.from(block.bytes))
    expect(peer.penalties).toEqual([])
    await upgraded.close()
  })

  it('is asked of more when a peer is slow, and given up after a while', async () => {
    const block = craftBlock(test.chain)
    const slow = stranger('a')
    slow.other.answer = () => new Promise(() => {})
    stranger('b', handsOut(block))
    const fetching = link.fetch(block.header.hash)
    await settled()
    // Both the healing and the patience run for a second.
    await fire(1000)
    expect(await fetching).toEqual(Buffer.from(block.bytes))
    peers.leave(peers.all()[1] as FakePeer)
    const missing = craftBlock(test.chain)
    const lost = link.fetch(missing.header.hash)
    await fire(8000)
    expect(await lost).toBeUndefined()
    // The slow one still is being asked.
    expect(await link.fetch(missing.header.hash)).toBeUndefined()
  })

  it('is not asked first of who keeps another one back, though it spoke of both', async () => {
    const [first, second] = [craftBlock(test.chain), craftBlock(test.chain)]
    const staller = stranger('a')
    staller.other.answer = () => new Promise(() => {})
    stranger('b', handsOut(second))
    for (const block of [first, second]) await peers.hear(staller, voteTopic, prevoteFor(block))
    const lost = link.fetch(first.header.hash)
    expect(await link.fetch(second.header.hash)).toEqual(Buffer.from(second.bytes))
    await fire(8000)
    expect(await lost).toBeUndefined()
  })

  it('is nowhere without peers', async () => {
    expect(await link.fetch(new Uint8Array(32))).toBeUndefined()
    expect(timers.pending).toEqual([1000])
  })
})
