import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { ChainChange } from '../../../../src/ledger/chain/chain.js'
import { brokenRule } from '../../../../src/base/errors/broken-rule.js'
import { CandidateRelay } from '../../../../src/network/relay/candidates-relay.js'
import { VoteRelay } from '../../../../src/network/relay/vote-relay.js'
import { serveChain } from '../../../../src/network/serve-chain.js'
import { blocksExchange } from '../../../../src/network/wire/blocks-message.js'
import { type Candidate, candidateTopic } from '../../../../src/network/wire/votes-message.js'
import { auxPowBytes } from '../../../../src/base/primitives/auxpow.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import type { Hash } from '../../../../src/base/primitives/hash.js'
import { Header } from '../../../../src/base/primitives/header.js'
import { Candidates, type FetchBody } from '../../../../src/ledger/production/candidates.js'
import { systemEnv } from '../../../../src/base/runtime/process-env.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'
import { FakePeers } from '../../../support/fakes/fake-peers.js'
import type { SpecOverrides } from '../../../support/builders/spec.js'

const byMiners: SpecOverrides = { ...oneValidator(), producer: 'miners' }

const unitOf = ({ header, auxPow }: Block): Candidate => ({ header, auxPow: auxPowBytes(auxPow) })

/** A node with the relay and the voting's own keeper of candidates. */
async function open(name: string, overrides: SpecOverrides = byMiners) {
  const test = await TestChain.open(overrides)
  const peers = new FakePeers(name)
  const candidates = new Candidates(test.chain, test.clock)
  const own = new Map<string, Uint8Array>()
  const fetches: FetchBody[] = []
  const voting = {
    events: new EventEmitter<{ candidate: [Candidate] }>(),
    offerCandidate(unit: Candidate, fetch: FetchBody): boolean {
      if (!candidates.announce(unit, fetch)) return false
      fetches.push(fetch)
      return true
    },
    candidate: (hash: Hash) => own.get(mapKey(hash)),
  }
  test.chain.events.on('change', (_: ChainChange) => candidates.settle(test.chain.tip))
  const { timers } = systemEnv(test.log)
  const votes = new VoteRelay({ chain: test.chain, peers, timers, log: test.log })
  const relay = new CandidateRelay({ chain: test.chain, peers, voting, votes, clock: test.clock })
  relay.start()
  serveChain(peers, { chain: test.chain, mempool: test.mempool, voting, candidates: relay })
  const offer = (block: Block) => {
    own.set(mapKey(block.header.hash), block.bytes)
    voting.events.emit('candidate', unitOf(block))
  }
  const close = async () => {
    relay.close()
    await test.close()
  }
  return { test, peers, candidates, relay, fetches, offer, close }
}

/** Has all the test's gossip arrive. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20))
  // A busy machine may have done nothing else meanwhile.
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('relay of candidates', () => {
  it('takes header and work everywhere, and the body only where it is asked for', async () => {
    const nodes = [await open('miner'), await open('between'), await open('sponsor')]
    const [miner, between, sponsor] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]]
    miner.peers.connect(between.peers)
    between.peers.connect(sponsor.peers)
    const block = craftBlock(miner.test.chain)
    miner.offer(block)
    await settled()
    for (const { candidates } of [between, sponsor]) {
      expect(candidates.announced.map(({ header }) => header.id)).toEqual([block.hash])
    }
    expect(nodes.flatMap(({ peers }) => peers.all().flatMap(({ questions }) => questions))).toEqual([])
    const bytes = await sponsor.fetches[0]?.()
    expect(Buffer.from(bytes as Uint8Array).toString('hex')).toBe(block.toHex())
    // The way back from the miner, and over each connection once.
    await sponsor.fetches[0]?.()
    expect(nodes.flatMap(({ peers }) => peers.all().flatMap(({ questions }) => questions))).toEqual([
      'blocks',
      'blocks',
    ])
    for (const node of nodes) await node.close()
  })

  it('drops what is known, of another tip, or one too many', async () => {
    const node = await open('node')
    const peer = node.peers.stranger('peer')
    const other = node.peers.stranger('other')
    const old = craftBlock(node.test.chain)
    await node.test.mine()
    const hear = (from: typeof peer, block: Block) => node.peers.hear(from, candidateTopic, unitOf(block))
    expect(await hear(peer, old)).toBe('ignore')
    for (let i = 0; i < 7; i++) expect(await hear(peer, craftBlock(node.test.chain))).toBe('accept')
    // Its burst is used up.
    expect(await hear(peer, craftBlock(node.test.chain))).toBe('ignore')
    expect(node.candidates.announced).toHaveLength(7)
    node.test.clock.time += 1000
    expect(await hear(peer, craftBlock(node.test.chain))).toBe('accept')
    // There is no room for more of this height, whoever tells of them.
    expect(await hear(other, craftBlock(node.test.chain))).toBe('ignore')
    await node.test.mine()
    expect(await hear(peer, craftBlock(node.test.chain))).toBe('accept')
    expect([...peer.penalties, ...other.penalties]).toEqual([])
    await node.close()
  })

  it('charges for wrong bits and wrong work, and on a chain whose sponsors make the blocks', async () => {
    const node = await open('node')
    const peer = node.peers.stranger('peer')
    const block = craftBlock(node.test.chain)
    const { header } = block
    const { version, previous, merkleRoot, time, nonce, height } = header
    const wrongBits = new Header({ version, previous, merkleRoot, time, nonce, height, bits: header.bits - 1 })
    const wrongWork = { ...unitOf(block), auxPow: auxPowBytes(craftBlock(node.test.chain).auxPow) }
    expect(await node.peers.hear(peer, candidateTopic, { ...unitOf(block), header: wrongBits })).toBe('reject')
    expect(await node.peers.hear(peer, candidateTopic, wrongWork)).toBe('reject')
    expect(await node.peers.hear(peer, candidateTopic, { ...unitOf(block), auxPow: Uint8Array.of(1) })).toBe('reject')
    expect(peer.penalties).toEqual(['block-bits', 'auxpow-commitment', 'auxpow-malformed'])
    await node.close()
    const sponsored = await open('sponsored', oneValidator())
    const stranger = sponsored.peers.stranger('stranger')
    const unit = unitOf(craftBlock(sponsored.test.chain))
    expect(await sponsored.peers.hear(stranger, candidateTopic, unit)).toBe('reject')
    expect(stranger.penalties).toEqual(['vote-candidate'])
    await sponsored.close()
  })

  it('gets a body that the first to tell of it keeps back from others', async () => {
    const node = await open('node')
    const block = craftBlock(node.test.chain)
    const answers = { blocks: () => blocksExchange.answer.encode([block.bytes]) }
    const thief = node.peers.stranger('thief', { blocks: () => blocksExchange.answer.encode([new Uint8Array(0)]) })
    const peer = node.peers.stranger('peer', answers)
    await node.peers.hear(thief, candidateTopic, unitOf(block))
    expect(await node.fetches[0]?.()).toEqual(block.bytes)
    expect([...thief.penalties, ...peer.penalties]).toEqual([])
    await node.close()
  })

  it('hands no body on that is another one than it should be, and charges who gave it', async () => {
    const [between, sponsor] = [await open('between'), await open('sponsor')]
    between.peers.connect(sponsor.peers)
    const block = craftBlock(between.test.chain)
    const mutated = Uint8Array.from([...block.bytes, 0])
    const hostile = between.peers.stranger('hostile', { blocks: () => blocksExchange.answer.encode([mutated]) })
    await between.peers.hear(hostile, candidateTopic, unitOf(block))
    await settled()
    expect(await sponsor.fetches[0]?.()).toBeUndefined()
    expect(hostile.penalties).toEqual(['block-malformed'])
    expect(sponsor.peers.all().flatMap(({ penalties }) => penalties)).toEqual([])
    await between.close()
    await sponsor.close()
  })

  it('asks again for a body that was withheld, and charges for another one', async () => {
    const node = await open('node')
    const block = craftBlock(node.test.chain)
    const bodies = [new Uint8Array(0), craftBlock(node.test.chain).bytes, block.bytes]
    const peer = node.peers.stranger('peer', {
      blocks: () => blocksExchange.answer.encode([bodies.shift() as Uint8Array]),
    })
    const silent = node.peers.stranger('silent', {
      blocks: () => {
        throw brokenRule('peer-message')
      },
    })
    await node.peers.hear(peer, candidateTopic, unitOf(block))
    const [fetch] = node.fetches as [FetchBody]
    expect(await fetch()).toBeUndefined()
    expect(peer.penalties).toEqual([])
    expect(await fetch()).toBeUndefined()
    expect(peer.penalties).toEqual(['peer-withheld'])
    expect(await node.relay.body(block.header.hash)).toHaveLength(block.bytes.length)
    const next = craftBlock(node.test.chain)
    await node.peers.hear(silent, candidateTopic, unitOf(next))
    expect(await node.relay.body(next.header.hash)).toBeUndefined()
    await node.test.mine()
    expect(await node.relay.body(block.header.hash)).toBeUndefined()
    await node.close()
  })
})
