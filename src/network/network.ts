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

/** The network side of a node: peers, sync, relay of transactions, blocks, candidates and votes. */
export class Network {
  readonly peers: PeerManager
  readonly sync: Sync
  /** Sends and receives the messages of the voting. */
  readonly votes: VoteRelay
  readonly #transactions: TransactionRelay
  readonly #options: NetworkOptions
  #voting: Voting | undefined
  #stops: (() => unknown)[] = []

  constructor(options: NetworkOptions) {
    const { assumeValid, ...dependencies } = options
    this.#options = options
    this.peers = new PeerManager(dependencies)
    this.votes = new VoteRelay({ ...dependencies, peers: this.peers })
    this.sync = new Sync({
      ...dependencies,
      peers: this.peers,
      ...(assumeValid === undefined ? {} : { assumeValid }),
      bodyAtHand: (hash) => this.#voting?.candidate(hash),
      onConflict: (confirm, header) => this.#conflict(confirm, header),
    })
    this.#transactions = new TransactionRelay({ ...dependencies, peers: this.peers, sync: this.sync })
  }

  /** Starts to listen, serve, dial and sync; rejects with a UserError if it cannot listen. */
  async start(voting: Voting | undefined): Promise<void> {
    const { chain, mempool } = this.#options
    const { peers, sync } = this
    this.#voting = voting
    const candidates =
      voting === undefined ? undefined : new CandidateRelay({ ...this.#options, peers, voting, votes: this.votes })
    serveChain(peers, { chain, mempool, voting, candidates })
    const blocks = new BlockRelay({ chain, peers, sync })
    const votes = { start: () => voting && this.votes.start(voting), stop: () => this.votes.stop() }
    const components = [this.#transactions, blocks, sync, ...(candidates === undefined ? [] : [votes, candidates])]
    // Handlers are registered before any peer can connect.
    for (const component of components) component.start()
    this.#stops = components.map((component) => () => component.stop())
    await peers.start()
  }

  async stop(): Promise<void> {
    await this.peers.stop()
    await Promise.all(this.#stops.map((stop) => stop()))
  }

  /** Transactions received from peers since the start. */
  get receivedCount(): number {
    return this.#transactions.receivedCount
  }

  #conflict(confirm: Uint8Array, header: Header): void {
    this.#voting?.conflicting(header, confirm).catch((error: unknown) => {
      this.#options.log.debug({ error: String(error) }, 'a peer shows a confirm of another block that does not hold')
    })
  }
}
