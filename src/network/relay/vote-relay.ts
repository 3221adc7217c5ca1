import type { Chain } from '../../ledger/chain/chain.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Env } from '../../base/runtime/env.js'
import { blockOf, parseMessage, type SignedMessage, type VotingMessage } from '../../voting/tendermint/message.js'
import type { VoteNetwork } from '../../voting/vote-network.js'
import type { Voting } from '../../voting/voting.js'
import { askPeers } from '../fetch/ask-peers.js'
import { fetchBlock } from '../fetch/fetch-block.js'
import { Timeouts, TimeoutsClosed } from '../fetch/timeouts.js'
import { LinkError, type GossipResult } from '../link.js'
import type { PeerManager } from '../peers/peer-manager.js'
import type { Peer } from '../peers/peer-record.js'
import { penaltyOf } from '../penalties.js'
import { services } from '../wire/status-message.js'
import { proposalTopic, votesExchange, voteTopic } from '../wire/votes-message.js'

/** Interval (ms) between requests to a peer for missing votes of the open height. */
const pullInterval = 1_000
/** Patience (ms) before another peer is asked for a body as well. */
const fetchPatience = 1_000
/** @tuning ms: fetch of a body for the vote from all peers */
const fetchLimit = 8_000
/** @tuning count: concurrent requests for one body */
const fetchesAtOnce = 3
/** @tuning count: blocks for which the announcing peers are kept; the oldest leaves first */
const maxSources = 64

/** The part of the voting that the relay needs. */
type RelayedVoting = Pick<Voting, 'receive' | 'summary' | 'missing' | 'setBestPeerHeight'>

export interface VoteRelayOptions extends Pick<Env, 'timers' | 'log'> {
  readonly chain: Pick<Chain, 'sanity'>
  readonly peers: Pick<PeerManager, 'all' | 'events' | 'serve' | 'listen' | 'broadcast'>
}

/**
 * Voting over peers: messages are gossiped, missing ones are requested from every peer each second. Bodies are fetched from
 * their first announcers.
 */
export class VoteRelay implements VoteNetwork {
  readonly #options: VoteRelayOptions
  readonly #sources = new Map<string, Set<Peer>>()
  readonly #pulling = new Set<Peer>()
  readonly #timeouts: Timeouts
  /** Bodies requested from each peer. */
  readonly #asked = new Map<Peer, Set<string>>()
  #voting: RelayedVoting | undefined
  #cancel = () => {}
  readonly #reported = () => this.#report()
  readonly #joined = (peer: Peer) => {
    this.#report()
    void this.#pullMissingVotes(peer)
  }

  constructor(options: VoteRelayOptions) {
    this.#options = options
    this.#timeouts = new Timeouts(options.timers)
  }

  /** Receives and serves messages for a voting instance with this port; call before peers connect. */
  start(voting: RelayedVoting): void {
    const { peers } = this.#options
    this.#voting = voting
    peers.listen(proposalTopic, (peer, message) => this.#onMessage(peer, message))
    peers.listen(voteTopic, (peer, message) => this.#onMessage(peer, message))
    peers.serve(votesExchange, (_, summary) => voting.missing(summary))
    peers.events.on('joined', this.#joined)
    peers.events.on('left', this.#reported)
    peers.events.on('status', this.#reported)
    this.#beat()
  }

  close(): void {
    const { peers } = this.#options
    this.#cancel()
    this.#timeouts.close()
    peers.events.off('joined', this.#joined)
    peers.events.off('left', this.#reported)
    peers.events.off('status', this.#reported)
    this.#voting = undefined
  }

  broadcast(message: SignedMessage): void {
    this.#options.peers.broadcast(message.kind === 'proposal' ? proposalTopic : voteTopic, message)
  }

  /** Hedged requests to one peer after another; wrong bytes are penalised. Undefined if no peer delivers it in time. */
  async fetch(hash: Hash): Promise<Uint8Array | undefined> {
    const sources = this.#sources.get(mapKey(hash)) ?? new Set()
    const able = this.#options.peers.all().filter((peer) => !this.#asks(peer, hash))
    // Busy peers last: a peer that withholds one body must not delay the next one.
    const load = (peer: Peer) => this.#asked.get(peer)?.size ?? 0
    const rank = (peer: Peer) => 2 * load(peer) + (sources.has(peer) ? 0 : 1)
    const order = able.sort((a, b) => rank(a) - rank(b))
    const policy = {
      parallel: fetchesAtOnce,
      limit: fetchLimit,
      next: () => order.shift(),
      patience: () => fetchPatience,
    }
    try {
      return await askPeers((peer) => this.#ask(peer, hash), policy, this.#timeouts)
    } catch (error) {
      if (error instanceof TimeoutsClosed) return undefined
      throw error
    }
  }

  async #onMessage(peer: Peer, message: VotingMessage): Promise<GossipResult> {
    if (!((await this.#voting?.receive(message)) ?? false)) return 'ignore'
    this.#remember(peer, message)
    return 'accept'
  }

  /** Notes the peer that was the first to deliver a message, and as source of its block. */
  #remember(peer: Peer, message: VotingMessage): void {
    peer.delivered('vote')
    const hash = blockOf(message)
    if (hash !== undefined) this.addSource(peer, hash)
  }

  /** Notes a peer as source of a block: it is asked for the body first. */
  addSource(peer: Peer, hash: Hash): void {
    const id = mapKey(hash)
    const sources = this.#sources.get(id) ?? new Set()
    this.#sources.set(id, sources.add(peer))
    if (this.#sources.size > maxSources) this.#sources.delete(this.#sources.keys().next().value as string)
  }

  #beat(): void {
    this.#cancel = this.#options.timers.after(pullInterval, () => {
      this.#beat()
      for (const peer of this.#options.peers.all()) void this.#pullMissingVotes(peer)
    })
  }

  /** Requests missing votes of the open height from a peer; one open request per peer. */
  async #pullMissingVotes(peer: Peer): Promise<void> {
    const voting = this.#voting
    if (voting === undefined || this.#pulling.has(peer)) return
    this.#pulling.add(peer)
    try {
      for (const bytes of await peer.ask(votesExchange, voting.summary())) {
        // Decoded one by one: the messages before a malformed one count.
        const message = parseMessage(bytes)
        if (await voting.receive(message)) this.#remember(peer, message)
      }
    } catch (error) {
      if (error instanceof RuleError && penaltyOf(error.code) > 0 && error.code !== 'peer-message') {
        peer.penalise(error.code, error.message)
      } else if (!(error instanceof RuleError || error instanceof LinkError)) {
        this.#options.log.error({ peer: peer.name, error: String(error) }, 'votes of a peer could not be taken')
      }
    } finally {
      this.#pulling.delete(peer)
    }
  }

  #report(): void {
    // A peer that serves no blocks never has to prove its height → its claim does not count.
    const heights = this.#options.peers
      .all()
      .map(({ status }) =>
        (status.services & (services.wholeChain | services.recentBlocks)) === 0 ? 0 : status.tipHeight,
      )
    this.#voting?.setBestPeerHeight(heights.length === 0 ? undefined : Math.max(...heights))
  }

  async #ask(peer: Peer, hash: Hash): Promise<Uint8Array | undefined> {
    const { chain, log } = this.#options
    const asked = this.#asked.get(peer) ?? new Set()
    this.#asked.set(peer, asked.add(mapKey(hash)))
    try {
      const answer = await fetchBlock(peer, { hash }, chain.sanity)
      return answer.kind === 'block' ? answer.bytes : undefined
    } catch (error) {
      log.error({ peer: peer.name, error: String(error) }, 'no body was fetched')
      return undefined
    } finally {
      asked.delete(mapKey(hash))
      if (asked.size === 0) this.#asked.delete(peer)
    }
  }

  #asks(peer: Peer, hash: Hash): boolean {
    return this.#asked.get(peer)?.has(mapKey(hash)) === true
  }
}
