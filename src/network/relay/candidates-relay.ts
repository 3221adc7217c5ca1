import type { Chain } from '../../ledger/chain/chain.js'
import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { maxCandidates } from '../../ledger/production/candidates.js'
import type { Clock } from '../../base/runtime/env.js'
import { TokenBucket } from '../../base/runtime/token-bucket.js'
import type { Voting } from '../../voting/voting.js'
import { type BlockAnswer, fetchBlock } from '../fetch/fetch-block.js'
import type { GossipResult } from '../link.js'
import type { Peer } from '../peers/peer-record.js'
import { type Candidate, candidateTopic } from '../wire/votes-message.js'
import type { RelayPeers } from './relay-views.js'
import type { VoteRelay } from './vote-relay.js'

/** @limit count/s: candidates of one peer that are examined, beyond {@link maxCandidates} for each height */
const candidateRate = 1

export interface CandidateRelayOptions {
  readonly chain: Pick<Chain, 'events' | 'sanity'>
  readonly peers: Pick<RelayPeers, 'listen' | 'broadcast'>
  readonly votes: Pick<VoteRelay, 'addSource' | 'fetch'>
  readonly voting: Pick<Voting, 'events' | 'offerCandidate'>
  readonly clock: Clock
}

/** An announced candidate, and its body once requested. */
interface AnnouncedCandidate {
  readonly hash: Hash
  readonly peer: Peer
  body: Uint8Array | undefined
  /** The open request for the body. */
  asked: Promise<BlockAnswer> | undefined
}

/**
 * Announces mined blocks and passes announced candidates to voting. Headers and their work go to all peers; a body goes only
 * along the way to the proposer that requests it.
 */
export class CandidateRelay {
  readonly #options: CandidateRelayOptions
  /** Candidates of the open height. */
  readonly #candidates = new Map<string, AnnouncedCandidate>()
  #buckets = new WeakMap<Peer, TokenBucket>()

  constructor(options: CandidateRelayOptions) {
    this.#options = options
  }

  start(): void {
    const { chain, peers, voting } = this.#options
    chain.events.on('change', this.#tipMoved)
    voting.events.on('candidate', this.#own)
    peers.listen(candidateTopic, async (peer, candidate) => this.#announced(peer, candidate))
  }

  close(): void {
    const { chain, voting } = this.#options
    chain.events.off('change', this.#tipMoved)
    voting.events.off('candidate', this.#own)
    this.#tipMoved()
  }

  /**
   * The bytes of an announced candidate, fetched from its announcer, for a peer that requests them from this node. Undefined
   * for any other block, and when the announcer does not deliver it.
   */
  async body(hash: Hash): Promise<Uint8Array | undefined> {
    const announced = this.#candidates.get(mapKey(hash))
    return announced === undefined ? undefined : this.#bodyOf(announced)
  }

  readonly #own = (candidate: Candidate): void => {
    this.#options.peers.broadcast(candidateTopic, candidate)
  }

  readonly #tipMoved = (): void => {
    this.#candidates.clear()
    this.#buckets = new WeakMap()
  }

  #announced(peer: Peer, candidate: Candidate): GossipResult {
    // A relaying peer is not penalised for how many candidates others found.
    if (!this.#bucketOf(peer).take(1, this.#options.clock.now())) return 'ignore'
    const { hash } = candidate.header
    const announced: AnnouncedCandidate = { hash, peer, body: undefined, asked: undefined }
    if (!this.#options.voting.offerCandidate(candidate, () => this.#find(announced))) return 'ignore'
    this.#candidates.set(mapKey(hash), announced)
    this.#options.votes.addSource(peer, hash)
    return 'accept'
  }

  #bucketOf(peer: Peer): TokenBucket {
    let bucket = this.#buckets.get(peer)
    if (bucket === undefined) {
      bucket = new TokenBucket(candidateRate, maxCandidates, this.#options.clock.now())
      this.#buckets.set(peer, bucket)
    }
    return bucket
  }

  /** The body for the proposer: from other peers as well, so that a fast announcer cannot withhold it. */
  async #find(announced: AnnouncedCandidate): Promise<Uint8Array | undefined> {
    announced.body ??= await this.#options.votes.fetch(announced.hash)
    return announced.body
  }

  /** The body from the announcer; fetched once, and again only after a failure. */
  async #bodyOf(announced: AnnouncedCandidate): Promise<Uint8Array | undefined> {
    if (announced.body !== undefined) return announced.body
    const { hash, peer } = announced
    announced.asked ??= fetchBlock(peer, { hash }, this.#options.chain.sanity).finally(
      () => (announced.asked = undefined),
    )
    const answer = await announced.asked
    if (answer.kind === 'block') announced.body ??= answer.bytes
    return announced.body
  }
}
