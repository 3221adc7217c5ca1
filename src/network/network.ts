/**
 * Connects the chain, the pool and the vote of a node with those of other nodes.
 *
 *   sockets -> transport -> LinkHandler = peers (PeerManager)    handshake, budgets, penalties; bytes <-> wire
 *     -> exchange: serveChain                                    chain and pool for peers
 *     -> gossip: relay/ (transactions, blocks, candidates, votes) -> mempool, sync, voting
 *     -> sync/ + fetch/                                          headers, bodies -> chain.acceptBlock(s)
 *   new tip, accepted transaction, own vote -> relay/ -> PeerManager.broadcast -> transport
 *
 * Imports chain, consensus, crypto, errors, mempool, primitives, production, proofs, runtime, state, storage, voting; used by node,
 * library, api, console, standing, serving.
 * - Handlers are registered before any peer can connect, and end after the last has left.
 * - A RuleError of a handler is a penalty of the peer, by its code; any other error costs the peer nothing.
 * - No rule of validity is made here. All that a peer can send is bounded.
 */
import type { Chain } from '../ledger/chain/chain.js'
import type { Verifier } from '../base/crypto/verifier.js'
import type { Mempool } from '../ledger/mempool/mempool.js'
import { defined } from '../base/primitives/defined.js'
import type { Header } from '../base/primitives/header.js'
import { ResourceStack } from '../base/runtime/resource-stack.js'
import type { Env } from '../base/runtime/env.js'
import type { Voting } from '../voting/voting.js'
import type { StateKeeper } from '../ledger/state/state-keeper.js'
import type { AssumedBlock } from './assumed-block.js'
import { fetchConfirms } from './fetch/fetch-confirms.js'
import { PeerManager, type PeerManagerOptions } from './peers/peer-manager.js'
import { BlockRelay } from './relay/blocks-relay.js'
import { CandidateRelay } from './relay/candidates-relay.js'
import { TransactionRelay } from './relay/transactions-relay.js'
import { VoteRelay } from './relay/vote-relay.js'
import { serveState } from './join/serve-state.js'
import { serveChain } from './serve-chain.js'
import { Sync } from './sync/sync.js'

export interface NetworkOptions extends Env, Pick<PeerManagerOptions, 'transport' | 'publicKey' | 'settings'> {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly verifier: Verifier
  readonly assumeValid?: AssumedBlock
  /** Keeps a state for peers that join by it; absent: there is none for them. */
  readonly keeper?: StateKeeper
  /** Whether transactions are exchanged with peers; true if absent. */
  readonly hasPool?: boolean
}

/** The network side of a node: peers, sync, relay of transactions, blocks, candidates and votes. */
export class Network {
  readonly peers: PeerManager
  readonly sync: Sync
  /** Sends and receives the messages of the voting. */
  readonly votes: VoteRelay
  readonly #transactions: TransactionRelay
  readonly #options: NetworkOptions
  readonly #components = new ResourceStack()
  #voting: Voting | undefined

  private constructor(options: NetworkOptions, peers: PeerManager) {
    const { assumeValid, ...dependencies } = options
    this.#options = options
    this.peers = peers
    this.votes = new VoteRelay({ ...dependencies, peers })
    this.sync = new Sync({
      ...dependencies,
      peers,
      ...defined({ assumeValid }),
      bodyAtHand: (hash) => this.#voting?.candidate(hash),
      onConflict: (confirm, header) => this.#conflict(confirm, header),
    })
    // A follower has no word of the chain but that of the node that it follows.
    const follows = options.hasPool === false
    peers.showing((isConfigured) => !(follows && isConfigured()) && !this.sync.progress().catchingUp)
    this.#transactions = new TransactionRelay({ ...dependencies, peers, sync: this.sync })
  }

  /** Loads what is stored of peers; nothing is sent or received before {@link start}. */
  static async open(options: NetworkOptions): Promise<Network> {
    return new Network(options, await PeerManager.open(options))
  }

  /** Starts to listen, serve, dial and sync; rejects with a UserError if it cannot listen. */
  async start(voting: Voting | undefined): Promise<void> {
    const { chain, mempool } = this.#options
    const { peers, sync } = this
    this.#voting = voting
    const candidates =
      voting === undefined ? undefined : new CandidateRelay({ ...this.#options, peers, voting, votes: this.votes })
    serveChain(peers, { chain, mempool, voting, candidates })
    serveState(peers, { chain, keeper: this.#options.keeper, behind: () => sync.progress().catchingUp })
    const blocks = new BlockRelay({ chain, peers, sync })
    const votes = { start: () => voting && this.votes.start(voting), close: () => this.votes.close() }
    const transactions = this.#options.hasPool === false ? [] : [this.#transactions]
    const components = [...transactions, blocks, sync, ...(candidates === undefined ? [] : [votes, candidates])]
    // Handlers are registered before any peer can connect.
    for (const component of components) {
      component.start()
      this.#components.defer(() => component.close())
    }
    await peers.start()
  }

  async close(): Promise<void> {
    await this.peers.close()
    await this.#components.close()
  }

  /** Transactions received from peers since the start. */
  get receivedCount(): number {
    return this.#transactions.receivedCount
  }

  #conflict(confirm: Uint8Array, header: Header): void {
    const others = (own: Header) => fetchConfirms(this.peers.all(), own)
    this.#voting?.conflicting(header, confirm, others).catch((error: unknown) => {
      this.#options.log.debug({ error: String(error) }, 'a peer shows a confirm of another block that does not hold')
    })
  }
}
