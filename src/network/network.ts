import type { Chain } from '../chain/chain.js'
import type { Verifier } from '../crypto/verifier.js'
import type { Mempool } from '../mempool/mempool.js'
import type { Header } from '../primitives/header.js'
import type { Env } from '../runtime/env.js'
import type { Voting } from '../voting/voting.js'
import type { AssumedBlock } from './assumed-block.js'
import type { Transport } from './link.js'
import { PeerManager, type PeerSettings } from './peers/peer-manager.js'
import { BlockRelay } from './relay/blocks-relay.js'
import { CandidateRelay } from './relay/candidates-relay.js'
import { TransactionRelay } from './relay/transactions-relay.js'
import { VoteRelay } from './relay/vote-relay.js'
import { serveChain } from './serve-chain.js'
import { Sync } from './sync/sync.js'

export interface NetworkOptions extends Env {
  readonly transport: Transport
  /** The own 32-byte peer key. */
  readonly publicKey: Uint8Array
  readonly chain: Chain
  readonly mempool: Mempool
  readonly verifier: Verifier
  readonly settings: PeerSettings
  readonly assumeValid?: AssumedBlock | undefined
}

/** All that a node has to do with others: its peers, and what it tells, asks and learns. */
export class Network {
  readonly peers: PeerManager
  readonly sync: Sync
  /** What the voting says to others, and hears. */
  readonly votes: VoteRelay
  readonly #transactions: TransactionRelay
  readonly #options: NetworkOptions
  #voting: Voting | undefined
  #stops: (() => unknown)[] = []

  constructor(options: NetworkOptions) {
    const { assumeValid, ...parts } = options
    this.#options = options
    this.peers = new PeerManager(parts)
    this.votes = new VoteRelay({ ...parts, peers: this.peers })
    this.sync = new Sync({
      ...parts,
      peers: this.peers,
      ...(assumeValid === undefined ? {} : { assumeValid }),
      bodyAtHand: (hash) => this.#voting?.candidate(hash),
      onConflict: (confirm, header) => this.#conflict(confirm, header),
    })
    this.#transactions = new TransactionRelay({ ...parts, peers: this.peers, sync: this.sync })
  }

  /** Begins to listen, to answer, to connect and to learn; a UserError where it cannot listen. */
  async start(voting: Voting | undefined): Promise<void> {
    const { chain, mempool } = this.#options
    const { peers, sync } = this
    this.#voting = voting
    const candidates =
      voting === undefined ? undefined : new CandidateRelay({ ...this.#options, peers, voting, votes: this.votes })
    serveChain(peers, { chain, mempool, voting, candidates })
    const blocks = new BlockRelay({ chain, peers, sync })
    const votes = { start: () => voting && this.votes.start(voting), stop: () => this.votes.stop() }
    const parts = [this.#transactions, blocks, sync, ...(candidates === undefined ? [] : [votes, candidates])]
    // What is heard is settled before anybody can say anything.
    for (const part of parts) part.start()
    this.#stops = parts.map((part) => () => part.stop())
    await peers.start()
  }

  async stop(): Promise<void> {
    await this.peers.stop()
    await Promise.all(this.#stops.map((stop) => stop()))
  }

  /** Transactions that peers handed out since the start. */
  get receivedCount(): number {
    return this.#transactions.receivedCount
  }

  #conflict(confirm: Uint8Array, header: Header): void {
    this.#voting?.conflicting(header, confirm).catch((error: unknown) => {
      this.#options.log.debug({ error: String(error) }, 'a peer shows a confirm of another block that does not hold')
    })
  }
}
