/**
 * Confirms the block after the tip by the votes of the validators; every node counts them, one with a key also votes.
 *
 *   vote of a peer -> receive -> HeightRunner -> VoteFilter.accept -> TendermintMachine.handle -> effects
 *   effects: sign -> Signer -> VoteNetwork.broadcast | request-verdict -> BodySearch -> chain.prepare
 *            request-proposal -> ProposalSource
 *            confirmed -> chain.acceptBlock -> new tip -> #renew: the next HeightRunner
 *   own block, candidate -> offer, offerCandidate -> Candidates -> ProposalSource
 *
 * Imports chain, consensus, crypto, errors, mempool, primitives, production, runtime, storage; used by network, devnet,
 * api, node, library, console, cli, standing.
 * - Nothing signed leaves before the sign state is on disk; no block is voted for before its body is.
 * - One event at a time for all machines, in one queue: effects are carried out before the next event.
 * - A key that may have signed elsewhere stays silent: catch-up guard, reset, conflict alarm.
 *
 * Journey: vote -> confirm
 *    1. network/transport/gossip       bounds the message, has it answered with accept, ignore or reject
 *    2. network/peers/peer-manager     finds the listener of the topic; RuleError -> penalty
 *    3. network/wire/votes-message     topic and codec
 *    4. voting/tendermint/message      bytes -> proposal, prevote or precommit
 *    5. network/relay/vote-relay       passes it on to the vote; remembers the peer as source of the body
 *    6. voting/voting                  receive: open height only, bounded number at a time
 *    7. voting/height/height-runner    receive: filter, then queue
 *    8. voting/height/vote-filter      once each, within the rate of the signer; signature checks by 4
 *    9. crypto/verifier                signatures, unless chain.confirmSignatures has them
 *   10. runtime/job-queue              its turn among all events
 *   11. voting/tendermint/machine      rules of the view -> effects
 *   12. voting/tendermint/votes        counts it; quorum?
 *   13. voting/height/body-search      `request-verdict`: body from disk or peers, trial connect
 *   14. chain/prepared-blocks          keeps the result of the trial connect
 *   15. voting/proposed-bodies         valid body on disk -> verdict to the machine
 *   16. primitives/confirm             `confirmed`: q precommits -> bytes of the confirm
 *   17. chain/chain                    acceptBlock: the prepared rows and the confirm, as one change
 *   18. chain/run-confirms             checkConfirmOf: signatures are cached by 9
 *   19. consensus/check-confirm        a quorum of the validators in force
 *   20. storage/database               batch, synced -> new tip -> voting opens the next height
 *
 * Branch of 11: own vote
 *    a. voting/height/signing-backlog  `sign`: own prevote, then precommit; they wait while signing is not allowed
 *    b. voting/signer                  signs no message that contradicts the sign state
 *    c. voting/tendermint/sign-state   only above all that the key has signed
 *    d. voting/sign-message            signature
 *    e. voting/sign-state-file         synced; then broadcast by a, and back into the machine as in 11
 */
import { EventEmitter } from 'node:events'
import type { Chain, ChainChange } from '../ledger/chain/chain.js'
import { proposerAt } from '../ledger/consensus/check-confirm.js'
import type { Verifier } from '../base/crypto/verifier.js'
import { RuleError } from '../base/errors/rule-error.js'
import type { Mempool } from '../ledger/mempool/mempool.js'
import { prefix, type ProgramHash, programHash, singleKeyCode } from '../base/primitives/address.js'
import { auxPowBytes } from '../base/primitives/auxpow.js'
import type { Block } from '../base/primitives/block.js'
import { equalBytes } from '../base/primitives/bytes.js'
import { defined } from '../base/primitives/defined.js'
import type { Hash } from '../base/primitives/hash.js'
import type { Header } from '../base/primitives/header.js'
import { paramsAt } from '../base/primitives/spec.js'
import { Candidates, type CandidateUnit, type FetchBody } from '../ledger/production/candidates.js'
import type { OwnValidator } from '../ledger/production/mining.js'
import { ProposalSource } from '../ledger/production/proposal-source.js'
import type { Env } from '../base/runtime/env.js'
import { JobQueue } from '../base/runtime/job-queue.js'
import { BlockInterval } from './block-interval.js'
import { CatchUpGuard } from './catch-up-guard.js'
import { type AskConfirms, ConflictAlarm } from './conflict-alarm.js'
import { type Contradiction, Evidence } from './evidence.js'
import { HeightRunner, type HeightDependencies } from './height/height-runner.js'
import { VoteFilter } from './height/vote-filter.js'
import { missingMessages } from './missing-votes.js'
import { OwnVote } from './own-vote.js'
import { ProposedBodies } from './proposed-bodies.js'
import { type ReceivedVotes, receivedVotes } from './received-votes.js'
import type { SignStore } from './sign-state-file.js'
import { type KeyHolder, OwnKey } from './key-holder.js'
import { Signer, type SignReset } from './signer.js'
import { type SigningState, signingText } from './signing-state.js'
import { StatedClocks } from './stated-clocks.js'
import type { Step, VotingMessage } from './tendermint/message.js'
import { encodeSummary } from './tendermint/summary.js'
import type { VoteNetwork } from './vote-network.js'

/** @limit count: waiting events of the vote */
const queueLimit = 4096
/** @limit count: messages of peers that are being verified or wait */
const maxReceiving = 1024

export interface VotingOptions extends Env {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly verifier: Verifier
  readonly network: VoteNetwork
  /** 32-byte private key; absent, and without a holder: this node follows without voting. */
  readonly key?: Uint8Array
  /** Store of the sign state; required with a key. */
  readonly signStore?: SignStore
  /** A key elsewhere, with its sign state. */
  readonly holder?: KeyHolder
  /** Address that own blocks pay; absent: that of the key. */
  readonly payTo?: ProgramHash
  readonly resetSignState?: SignReset
}

/** State of the vote on the next block. */
export interface VotingStatus {
  readonly height: number
  readonly view: number
  readonly step: Step
  /** 33-byte key of the proposer of this view. */
  readonly sponsor: Uint8Array
  /** Whether this node votes, and if not, why. */
  readonly signing: SigningState
  /** Text of the conflict alarm, if two confirmed blocks of one height exist: this node votes no more. */
  readonly alarm?: string
  /** Milliseconds until this node begins an empty block; absent once the vote has begun, and where miners make the blocks. */
  readonly emptyBlockIn?: number
}

interface VotingEvents {
  /** A miner's block was submitted to this node: to be announced to peers. */
  candidate: [CandidateUnit]
}

/** Confirmation of blocks by validators, on every node of their chain: votes with a key, counts votes in any case. */
export class Voting {
  readonly events = new EventEmitter<VotingEvents>()
  readonly #options: VotingOptions
  readonly #queue = new JobQueue(queueLimit)
  readonly #candidates: Candidates
  readonly #guard: CatchUpGuard
  readonly #bodies: ProposedBodies
  readonly #evidence: Evidence
  readonly #alarm: ConflictAlarm
  readonly #dependencies: HeightDependencies
  readonly #signer: Signer | undefined
  readonly #payTo: ProgramHash | undefined
  readonly #working = new Set<Promise<void>>()
  readonly #onChange = (change: ChainChange) => this.#moved(change)
  readonly #onAccepted = () => this.#interval?.look()
  #runner: HeightRunner
  #interval: BlockInterval | undefined
  /** Whether an authentic message of a peer for this height was counted. */
  #peerBegan = false
  readonly #own: OwnVote
  readonly #clocks = new StatedClocks()
  #receiving = 0
  #received = 0
  #stopped = false

  private constructor(
    options: VotingOptions,
    rows: { bodies: ProposedBodies; evidence: Evidence },
    signer: Signer | undefined,
  ) {
    const { chain, timers, clock, log, network } = options
    this.#options = options
    this.#bodies = rows.bodies
    this.#evidence = rows.evidence
    this.#alarm = new ConflictAlarm(options, rows.evidence)
    this.#signer = signer
    this.#candidates = new Candidates(chain, clock)
    this.#guard = new CatchUpGuard(timers, chain.tip.header.height, () => this.#resume())
    this.#own = new OwnVote({ chain, clock, log, signer, guard: this.#guard, alarm: this.#alarm })
    this.#payTo = options.payTo ?? (signer && programHash(prefix.standard, singleKeyCode(signer.publicKey)))
    const proposals = new ProposalSource({ ...options, candidates: this.#candidates, payTo: this.#payTo })
    this.#dependencies = {
      ...{ chain, timers, clock, log, network, ...rows, proposals, signer, queue: this.#queue },
      maySign: () => this.#own.state(this.#runner).kind === 'voting',
      isFresh: (block) => this.#own.isFresh(block),
      track: (work) => this.#track(work),
    }
    this.#runner = this.#open()
  }

  /** Reads rows and sign state; nothing is sent or signed before {@link start}. */
  static async open(options: VotingOptions): Promise<Voting> {
    const { chain, key, signStore: store, resetSignState: reset, log } = options
    const tip = () => ({ height: chain.tip.header.height, hash: chain.tip.header.hash })
    const rows = {
      bodies: await ProposedBodies.open(chain.database, tip),
      evidence: await Evidence.open(chain.database, tip),
    }
    const genesis = chain.genesis.header.hash
    const own = key === undefined || store === undefined ? undefined : new OwnKey({ key, store, genesis })
    const holder: KeyHolder | undefined = options.holder ?? own
    const signer = holder && (await Signer.open({ holder, genesis, ...defined({ reset }), log }))
    const voting = new Voting(options, rows, signer)
    holder?.onReturn?.(() => voting.#resume())
    return voting
  }

  /** Starts the vote on the block after the tip. */
  start(): void {
    const { chain, mempool } = this.#options
    chain.addIndexer(this.#bodies)
    chain.events.on('change', this.#onChange)
    mempool.events.on('accepted', this.#onAccepted)
    this.#renew()
    // The only validator has no peer whose report would begin its first state.
    this.#resume()
  }

  /** Ends all timers; resolves when no work is under way. */
  async close(): Promise<void> {
    const { chain, mempool } = this.#options
    this.#stopped = true
    chain.events.off('change', this.#onChange)
    mempool.events.off('accepted', this.#onAccepted)
    this.#interval?.close()
    this.#guard.stop()
    this.#runner.close()
    this.#candidates.close()
    await this.#queue.idle()
    await Promise.all(this.#working)
  }

  /** Block producer for mining at this node; undefined if no validator would propose its blocks. */
  get blockProducer(): OwnValidator | undefined {
    const { chain, clock } = this.#options
    if (this.#signer === undefined && chain.spec.producer === 'sponsor') return undefined
    return {
      payTo: this.#payTo,
      time: () => Math.max(Math.floor(clock.now() / 1000), chain.tip.header.time),
      offer: (block) => this.offer(block),
      automatic: this.#signer !== undefined,
    }
  }

  /** Number of new messages counted from peers since the start. */
  get received(): number {
    return this.#received
  }

  /**
   * Receives the message of a peer; resolves once it is counted, to whether it was new. Rejects with a RuleError: `vote-*` for
   * an invalid message, `vote-height` if another height is open, `busy` if too many wait.
   */
  async receive(message: VotingMessage): Promise<boolean> {
    const runner = this.#runner
    if (message.height !== runner.height) {
      throw new RuleError('vote-height', `a message of height ${message.height} while ${runner.height} is open`)
    }
    if (this.#stopped) return false
    if (this.#receiving >= maxReceiving) throw new RuleError('busy', `${maxReceiving} messages wait already`)
    this.#receiving++
    const counted = runner.receive(message).finally(() => this.#receiving--)
    this.#await(counted.then(ignore, ignore))
    if (!(await counted)) return false
    this.#received++
    this.#clocks.note(message, this.#options.clock.now())
    if (runner === this.#runner) {
      this.#peerBegan = true
      this.#interval?.look()
    }
    return true
  }

  /** Encoded summary of the messages kept of the open height; peers answer with the missing ones. */
  summary(): Uint8Array {
    return encodeSummary(this.#runner.machine.summary())
  }

  /**
   * Encoded messages that a peer with this summary lacks, at most 512 KiB; for a decided height the precommits of its confirm.
   * Rejects with `vote-malformed` for bytes that are no summary.
   */
  async missing(summary: Uint8Array): Promise<Uint8Array[]> {
    return missingMessages(summary, this.#runner.machine, this.#options.chain)
  }

  /** Bytes of a block that is voted on, if its body is kept. */
  candidate(hash: Hash): Uint8Array | undefined {
    return this.#bodies.get(hash)
  }

  /**
   * Offers a block made or mined at this node: proposed when this node is proposer of a view of its height, and with producer
   * `miners` announced to peers. Resolves when it is the tip; rejects with the RuleError of a broken rule, or with
   * `template-stale` if its height is not open any more.
   */
  async offer(block: Block): Promise<void> {
    const { chain } = this.#options
    const { header, auxPow } = block
    const mined = chain.spec.producer === 'miners'
    const signing = this.#own.state(this.#runner)
    if (!mined && signing.kind !== 'voting') {
      throw new RuleError('mining-impossible', `this node does not vote: ${signingText(signing)}`)
    }
    const runner = this.#runner
    const stale = () =>
      new RuleError('template-stale', `height ${header.height} is not open for ${block.hash} any more`)
    if (!equalBytes(header.previous, runner.parent.header.hash)) throw stale()
    const { bytes } = block
    await chain.prepare(bytes).catch((error: unknown) => {
      throw error instanceof RuleError && error.code === 'block-stale' ? stale() : error
    })
    await runner.keep(header, bytes)
    if (runner !== this.#runner || this.#stopped) throw stale()
    const decided = this.#candidates.offer(block)
    if (mined) this.events.emit('candidate', { header, auxPow: auxPowBytes(auxPow) })
    this.#interval?.look()
    runner.retryProposal()
    await decided
  }

  /**
   * Holds an announced candidate; its body is fetched when this node is to propose it. Returns false if it is known or not held.
   * Throws a RuleError if its header or work is wrong.
   */
  offerCandidate(unit: CandidateUnit, fetch: FetchBody): boolean {
    if (this.#stopped || !this.#candidates.announce(unit, fetch)) return false
    this.#interval?.look()
    this.#runner.retryProposal()
    return true
  }

  /** Sets the highest tip that any peer reports, on each change; undefined while there is no peer. */
  setBestPeerHeight(height: number | undefined): void {
    if (this.#stopped) return
    this.#guard.setBestPeerHeight(height)
    this.#resume()
  }

  /**
   * Examines a confirmed block that this node does not follow: see {@link ConflictAlarm.examine}. After the alarm the node votes
   * no more, and {@link status} reports it.
   */
  async conflicting(header: Header, confirm: Uint8Array, others?: AskConfirms): Promise<void> {
    await this.#alarm.examine(header, confirm, others)
  }

  status(): VotingStatus {
    const { chain } = this.#options
    const { height, machine } = this.#runner
    const { view, step } = machine
    const { text } = this.#alarm
    const alarm = text === undefined ? {} : { alarm: text }
    const signing = this.#own.state(this.#runner)
    const idle = defined({ emptyBlockIn: this.#interval?.untilEmpty })
    return { height, view, step, sponsor: proposerAt(chain.spec, height, view), signing, ...alarm, ...idle }
  }

  /** The newest height at which the own key signed, or 0: it signs above the tip alone, so the chain had one block less at least. */
  get signedHeight(): number {
    return this.#signer?.signedHeight ?? 0
  }

  /** Votes held for the open height, by validator in their order. */
  votes(): readonly ReceivedVotes[] {
    const { machine } = this.#runner
    return receivedVotes(this.#validators, machine.summary(), this.#signer?.publicKey)
  }

  /** The other validators of the open height, and how many milliseconds the clocks of those that proposed are ahead of the own. */
  otherClocks(): { readonly validators: number; readonly offsets: readonly number[] } {
    const own = this.#signer?.publicKey
    const others = this.#validators.filter((key) => own === undefined || !equalBytes(key, own))
    return { validators: others.length, offsets: this.#clocks.of(others) }
  }

  /** Proofs that validators broke the protocol, of one height or all. */
  evidence(height?: number): readonly Contradiction[] {
    return this.#evidence.list(height)
  }

  /** The keys in force at the open height. */
  get #validators(): readonly Uint8Array[] {
    return paramsAt(this.#options.chain.spec, this.#runner.height).validators
  }

  /** Tries again to vote, after a change that may allow it. */
  #resume(): void {
    const signer = this.#signer
    this.#own.logState(this.#runner)
    if (signer?.missing === true) this.#track(this.#queue.run(() => signer.begin(this.#own.outlook(this.#runner))))
    // A reset sign state needs every report: the state passes it on.
    if (this.#own.state(this.#runner).kind === 'voting') this.#runner.retryProposal()
  }

  #moved({ connected }: ChainChange): void {
    const run = connected.length > 1
    if (run) this.#signer?.overtaken()
    this.#guard.moved(this.#options.chain.tip.header.height, run)
    this.#renew()
    this.#resume()
  }

  /** Opens the height after the tip. */
  #renew(): void {
    const { chain, timers, clock, mempool } = this.#options
    this.#runner.close()
    this.#interval?.close()
    this.#candidates.settle(chain.tip)
    this.#peerBegan = false
    const runner = this.#open()
    this.#runner = runner
    const { minInterval, emptyInterval } = chain.spec.timing
    const mined = chain.spec.producer === 'miners'
    this.#interval = new BlockInterval({
      ...{ timers, clock, minInterval },
      ...(mined ? {} : { emptyInterval }),
      reason: () => this.#peerBegan || runner.resumed || this.#candidates.some || (!mined && mempool.size > 0),
      begin: () => runner.start(),
    })
    runner.anticipate(0, minInterval)
  }

  #open(): HeightRunner {
    const { chain, verifier, clock } = this.#options
    const { hash: previous, height } = chain.tip.header
    const open = { spec: chain.spec, genesis: chain.genesis.header.hash, height: height + 1, previous }
    return new HeightRunner(
      this.#dependencies,
      new VoteFilter({ ...open, verifier, clock, verified: chain.confirmSignatures }),
    )
  }

  /** Logs a failure of background work. Anything but a RuleError is fatal. */
  #track(work: Promise<void>): void {
    this.#await(
      work.catch((error: unknown) => {
        const { chain, log } = this.#options
        const failure = error instanceof Error ? error : new Error(String(error))
        log.error({ reason: failure.message }, 'the vote cannot go on')
        if (!(failure instanceof RuleError)) chain.events.emit('fatal', failure)
      }),
    )
  }

  /** Makes {@link close} wait for work that does not reject. */
  #await(work: Promise<void>): void {
    const ended = work.finally(() => this.#working.delete(ended))
    this.#working.add(ended)
  }
}

function ignore(): void {}
