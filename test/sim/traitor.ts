import type { Link, LinkHandler, Protocol, TopicInfo, Transport, GossipResult } from '../../src/network/link.js'
import { blocksExchange } from '../../src/network/wire/blocks-message.js'
import { blockTopic, headersExchange, type HeaderUnit } from '../../src/network/wire/headers-message.js'
import { proposalTopic, votesExchange, voteTopic } from '../../src/network/wire/votes-message.js'
import { auxPowBytes, soloAuxPow } from '../../src/base/primitives/auxpow.js'
import { Block } from '../../src/base/primitives/block.js'
import { equalBytes, mapKey } from '../../src/base/primitives/bytes.js'
import { confirmBytes, proposalHash } from '../../src/base/primitives/confirm.js'
import type { Hash } from '../../src/base/primitives/hash.js'
import { Header } from '../../src/base/primitives/header.js'
import { paramsAt, quorum, type Spec } from '../../src/base/primitives/spec.js'
import { solve } from '../../src/ledger/production/solve.js'
import { signMessage } from '../../src/voting/sign-message.js'
import {
  blockOf,
  encodeMessage,
  parseMessage,
  type ProposalMessage,
  signerOf,
  type UnsignedMessage,
  viewOf,
  type VotingMessage,
} from '../../src/voting/tendermint/message.js'
import type { Chance } from '../support/builders/chance.js'
import type { MemoryLink } from '../support/network/memory-link.js'
import type { MemoryTransport } from '../support/network/memory-transport.js'

/** What a byzantine validator does besides what an honest node does. */
export interface Habits {
  /** Probability that, on duty, it proposes one block to some and another to the rest. */
  readonly twins: number
  /** Probability that it votes for something else as well, each half of the others hearing another vote. */
  readonly doubleVotes: number
  /** Probability that it votes for a proposal in both steps as soon as it hears of it, locked or not. */
  readonly eagerness: number
  /** Probability that it keeps a block or a vote to itself. */
  readonly silence: number
  /** Probability that it tells of a block as confirmed that is not. */
  readonly forgery: number
}

/** What the traitors of one simulation have in common. */
export class Coven {
  /** By number of the node; those of the present lives. */
  readonly members = new Map<number, Traitor>()
  /** The two blocks of one proposal, by the hash of either. */
  readonly pairs = new Map<string, readonly [ProposalMessage, ProposalMessage]>()
}

export interface TraitorOptions {
  readonly spec: Spec
  readonly genesis: Hash
  readonly key: Uint8Array
  readonly publicKey: Uint8Array
  readonly habits: Habits
  readonly coven: Coven
  readonly chance: Chance
}

/** Between a node that follows the rules and its transport: what goes out is what a traitor says. */
export class Traitor implements Transport {
  readonly #transport: MemoryTransport
  readonly #options: TraitorOptions
  /** Blocks that it proposed two of at a time: these it hands out. */
  readonly #twins = new Map<string, Uint8Array>()
  readonly #proposals: ProposalMessage[] = []
  #owner: LinkHandler | undefined

  constructor(transport: MemoryTransport, options: TraitorOptions) {
    this.#transport = transport
    this.#options = options
    options.coven.members.set(transport.node, this)
  }

  get port(): number {
    return this.#transport.port
  }

  start(owner: LinkHandler): Promise<void> {
    this.#owner = owner
    return this.#transport.start({
      allowsConnection: (side) => owner.allowsConnection(side),
      connected: (link) => owner.connected(link),
      disconnected: (link, reason) => owner.disconnected(link, reason),
      onAddress: (address) => owner.onAddress(address),
      answer: (link, protocol, body) => this.#answer(owner, link, protocol, body),
      allowsGossip: (link, bytes) => owner.allowsGossip(link, bytes),
      onFlood: (link) => owner.onFlood(link),
      onGossip: (link, topic, message) => this.#heard(owner, link, topic, message),
    })
  }

  dial(address: string): Promise<Link> {
    return this.#transport.dial(address)
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  broadcast(topic: TopicInfo, message: Uint8Array): void {
    const { chance, habits } = this.#options
    const isVoting = topic.name === voteTopic.topic.name || topic.name === proposalTopic.topic.name
    if (!isVoting) return this.#transport.broadcast(topic, message)
    const parsed = parseMessage(message)
    if (parsed.kind === 'proof' || !equalBytes(signerOf(parsed), this.#options.publicKey)) {
      return this.#transport.broadcast(topic, message)
    }
    if (parsed.kind === 'proposal' && parsed.validView < 0 && chance.happens(habits.twins)) {
      return void this.#proposeTwice(parsed)
    }
    if (this.#silent()) return
    if (parsed.kind === 'proposal' || !chance.happens(habits.doubleVotes))
      return this.#transport.broadcast(topic, message)
    this.#tellHalves(topic, [message, encodeMessage(this.#otherVote(parsed))])
  }

  async #answer(owner: LinkHandler, link: Link, protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    const { chance, habits } = this.#options
    if (protocol.name === blocksExchange.protocol.name) {
      const twins = blocksExchange.question.decode(body).map((hash) => this.#twins.get(mapKey(hash)))
      if (twins.some((twin) => twin !== undefined)) {
        return blocksExchange.answer.encode(twins.map((twin) => twin ?? new Uint8Array(0)))
      }
      if (this.#silent()) return blocksExchange.answer.encode([])
    }
    if (protocol.name === votesExchange.protocol.name && this.#silent()) return votesExchange.answer.encode([])
    if (protocol.name === headersExchange.protocol.name && chance.happens(habits.forgery)) {
      const proposal = this.#proposals.at(-1)
      if (proposal !== undefined) return headersExchange.answer.encode([this.#forged(proposal)])
    }
    return owner.answer(link, protocol, body)
  }

  async #heard(owner: LinkHandler, link: Link, topic: TopicInfo, message: Uint8Array): Promise<GossipResult> {
    if (topic.name === proposalTopic.topic.name) this.#consider(message)
    const verdict = await owner.onGossip(link, topic, message)
    return verdict === 'accept' && this.#silent() ? 'ignore' : verdict
  }

  #silent(): boolean {
    return this.#options.chance.happens(this.#options.habits.silence)
  }

  /** A proposal of somebody else: an occasion for votes that no honest validator would give, and for a lie. */
  #consider(message: Uint8Array): void {
    const { chance, habits } = this.#options
    const proposal = this.#parsed(message)
    if (proposal?.kind !== 'proposal') return
    this.#proposals.push(proposal)
    if (this.#proposals.length > 8) this.#proposals.shift()
    if (chance.happens(habits.eagerness)) this.#voteFor(proposal)
    if (chance.happens(habits.forgery)) {
      this.#tellSome(blockTopic.topic, blockTopic.message.encode(this.#forged(proposal)))
    }
  }

  #parsed(message: Uint8Array): VotingMessage | undefined {
    try {
      return parseMessage(message)
    } catch {
      return undefined
    }
  }

  /** In both steps; where another traitor proposed two blocks, each of the others hears votes for the one it was shown. */
  #voteFor(message: ProposalMessage): void {
    const { coven, publicKey: signer, spec } = this.#options
    const { height } = message
    if (!paramsAt(spec, height).validators.some((key) => equalBytes(key, signer))) return
    const pair = coven.pairs.get(mapKey(message.header.hash)) ?? [message, message]
    const votes = pair.map(({ header, proposal }) => {
      const view = proposal.viewOffset
      return [
        this.#signed({ kind: 'prevote', height, view, blockHash: header.hash, signer }),
        this.#signed({ kind: 'precommit', height, header, proposal, signer }),
      ]
    })
    for (const link of this.#dupes) {
      for (const vote of votes[shown(link, message)] ?? []) this.#transport.send(link, voteTopic.topic, vote)
    }
  }

  /** A vote of the same place for another block that was heard of, or for none. */
  #otherVote(vote: Exclude<VotingMessage, { kind: 'proposal' | 'proof' }>): VotingMessage {
    const { height, signer } = vote
    const view = viewOf(vote)
    const named = blockOf(vote)
    const rival = this.#proposals.find(
      ({ header, proposal }) =>
        header.height === height &&
        (vote.kind === 'prevote' || proposal.viewOffset === view) &&
        (named === undefined || !equalBytes(header.hash, named)),
    )
    if (vote.kind === 'prevote') {
      const blockHash = named === undefined || this.#options.chance.happens(0.5) ? rival?.header.hash : undefined
      return this.#sign({ kind: 'prevote', height, view, blockHash, signer })
    }
    if (rival === undefined) return this.#sign({ kind: 'precommit-nil', height, view, signer })
    return this.#sign({ kind: 'precommit', height, header: rival.header, proposal: rival.proposal, signer })
  }

  async #proposeTwice(first: ProposalMessage): Promise<void> {
    const { chance, habits } = this.#options
    const bytes = await this.#bodyOf(first.header.hash)
    if (bytes === undefined) return this.#transport.broadcast(proposalTopic.topic, encodeMessage(first))
    const block = Block.fromBytes(bytes)
    // Everything but the free nonce stays, so that the other block is as valid as the first.
    const header = new Header({ ...first.header, nonce: first.header.nonce + 1 })
    const twin = (await solve(new Block(header, soloAuxPow(header.hash, header.time), block.transactions))) as Block
    this.#twins.set(mapKey(first.header.hash), bytes)
    this.#twins.set(mapKey(header.hash), twin.bytes)
    const { sponsor, viewOffset } = first.proposal
    const second = this.#sign({
      kind: 'proposal',
      height: first.height,
      validView: -1,
      header,
      proposal: { sponsor, viewOffset, blockHash: header.hash },
      prevotes: [],
    }) as ProposalMessage
    this.#proposals.push(first, second)
    for (const { hash } of [first.header, header]) this.#options.coven.pairs.set(mapKey(hash), [first, second])
    const both = [first, second].map(encodeMessage)
    for (const link of this.#dupes) {
      this.#transport.send(link, proposalTopic.topic, both[shown(link, first)] as Uint8Array)
    }
    for (const member of this.#options.coven.members.values()) {
      if (member === this || chance.happens(member.#options.habits.eagerness)) member.#voteFor(second)
    }
    if (chance.happens(habits.forgery)) {
      this.#tellSome(blockTopic.topic, blockTopic.message.encode(this.#forged(second)))
    }
  }

  /** What its own node answers to whoever asks for a block. */
  async #bodyOf(hash: Hash): Promise<Uint8Array | undefined> {
    const [link] = this.#transport.links
    if (link === undefined || this.#owner === undefined) return undefined
    try {
      const answer = await this.#owner.answer(link, blocksExchange.protocol, blocksExchange.question.encode([hash]))
      const [bytes] = blocksExchange.answer.decode(answer)
      return bytes?.length === 0 ? undefined : bytes
    } catch {
      return undefined
    }
  }

  /** A block with what looks like a confirm: too few votes, or one vote many times, or votes that nobody signed. */
  #forged({ height, header, proposal }: ProposalMessage): HeaderUnit {
    const { spec, key, publicKey, chance } = this.#options
    const { validators } = paramsAt(spec, height)
    const vote = this.#sign({ kind: 'precommit', height, header, proposal, signer: publicKey })
    const signature = vote.kind === 'precommit' ? vote.signature : key
    const hash = proposalHash(proposal)
    const own = { proposalHash: hash, signer: publicKey, accept: true, signature }
    const voters = chance.shuffled(validators).slice(0, quorum(validators.length))
    const votes = chance.pick([
      [own],
      voters.map(() => own),
      voters.map((signer) => ({ ...own, signer })),
      voters.map((signer) => ({ ...own, signer, signature: chance.bytes(64) })),
    ])
    const auxPow = soloAuxPow(header.hash, header.time)
    return { header, auxPow: auxPowBytes(auxPow), confirm: confirmBytes({ proposal, votes }), size: 500 }
  }

  /** Links to those who are in on nothing. */
  get #dupes(): readonly MemoryLink[] {
    return this.#transport.links.filter(({ far }) => !this.#options.coven.members.has(far.node))
  }

  #sign(message: UnsignedMessage): VotingMessage {
    return signMessage(message, this.#options.genesis, this.#options.key)
  }

  #signed(message: UnsignedMessage): Uint8Array {
    return encodeMessage(this.#sign(message))
  }

  #tellSome(topic: TopicInfo, message: Uint8Array): void {
    for (const link of this.#transport.links) {
      if (this.#options.chance.happens(0.5)) this.#transport.send(link, topic, message)
    }
  }

  #tellHalves(topic: TopicInfo, messages: readonly [Uint8Array, Uint8Array]): void {
    this.#transport.links.forEach((link: MemoryLink) => {
      this.#transport.send(link, topic, messages[this.#options.chance.below(2)] as Uint8Array)
    })
  }
}

/** Which of two blocks the node at the other end of a link is shown. */
function shown(link: MemoryLink, { proposal }: ProposalMessage): number {
  return (link.far.node + proposal.viewOffset) % 2
}
