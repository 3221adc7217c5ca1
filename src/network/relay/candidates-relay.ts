import type { Chain } from '../../chain/chain.js'
import { mapKey } from '../../primitives/bytes.js'
import type { Hash } from '../../primitives/hash.js'
import { maxCandidates } from '../../production/candidates.js'
import type { Clock } from '../../runtime/env.js'
import { TokenBucket } from '../../runtime/token-bucket.js'
import type { Voting } from '../../voting/voting.js'
import { fetchBlock } from '../fetch/fetch-block.js'
import type { GossipResult } from '../link.js'
import type { Peer } from '../peers/peer-record.js'
import { type Candidate, candidateTopic } from '../wire/votes-message.js'
import type { RelayPeers } from './relay-views.js'
import type { VoteRelay } from './vote-relay.js'

/** Candidates a second that are looked at from one peer, beyond as many for each new height as are held. */
const candidateRate = 1

export interface CandidateRelayOptions {
  readonly chain: Pick<Chain, 'events' | 'sanity'>
  readonly peers: Pick<RelayPeers, 'listen' | 'broadcast'>
  readonly votes: Pick<VoteRelay, 'addSource' | 'fetch'>
  readonly voting: Pick<Voting, 'events' | 'offerCandidate'>
  readonly clock: Clock
}

/** What a peer told of, and its body once somebody asked for it. */
interface AnnouncedCandidate {
  readonly hash: Hash
  readonly peer: Peer
  body: Uint8Array | undefined
  /** The question for it that is under way. */
  asked: Promise<Uint8Array | undefined> | undefined
}

/**
 * Tells of blocks that miners found and hands those that others tell of to the voting. Headers and their work go everywhere;
 * a body takes only the way back from the sponsor that wants to propose it.
 */
export class CandidateRelay {
  readonly #options: CandidateRelayOptions
  /** Those of the open height. */
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

  stop(): void {
    const { chain, voting } = this.#options
    chain.events.off('change', this.#tipMoved)
    voting.events.off('candidate', this.#own)
    this.#tipMoved()
  }

  /**
   * The bytes of a block that a peer told of, from that peer, for who asks this node in turn. Undefined for any other, and
   * where the peer does not hand it out.
   */
  async body(hash: Hash): Promise<Uint8Array | undefined> {
    const heard = this.#candidates.get(mapKey(hash))
    return heard === undefined ? undefined : this.#bodyOf(heard)
  }

  readonly #own = (candidate: Candidate): void => {
    this.#options.peers.broadcast(candidateTopic, candidate)
  }

  readonly #tipMoved = (): void => {
    this.#candidates.clear()
    this.#buckets = new WeakMap()
  }

  #announced(peer: Peer, candidate: Candidate): GossipResult {
    // Whoever tells on what others found is not to blame for how many there are.
    if (!this.#bucketOf(peer).take(1, this.#options.clock.now())) return 'ignore'
    const { hash } = candidate.header
    const heard: AnnouncedCandidate = { hash, peer, body: undefined, asked: undefined }
    if (!this.#options.voting.offerCandidate(candidate, () => this.#find(heard))) return 'ignore'
    this.#candidates.set(mapKey(hash), heard)
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

  /** The body for the sponsor: of others as well, so that whoever is quickest to tell of a candidate cannot keep it back. */
  async #find(heard: AnnouncedCandidate): Promise<Uint8Array | undefined> {
    heard.body ??= await this.#options.votes.fetch(heard.hash)
    return heard.body
  }

  /** The body from whoever told of it; it is fetched once, and again only if that failed. */
  async #bodyOf(heard: AnnouncedCandidate): Promise<Uint8Array | undefined> {
    if (heard.body !== undefined) return heard.body
    const { hash, peer } = heard
    heard.asked ??= fetchBlock(peer, hash, this.#options.chain.sanity).finally(() => (heard.asked = undefined))
    heard.body ??= await heard.asked
    return heard.body
  }
}
