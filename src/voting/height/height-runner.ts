/**
 * The vote at one height: carries out the effects of tendermint/machine, and gives it events.
 *
 *   message -> VoteFilter.accept -> HeightRunner.receive -> queue -> machine.handle -> #execute of each effect
 *   sign -> SigningBacklog -> Signer; request-verdict -> BodySearch; request-proposal -> ProposalSource; confirmed -> chain
 *
 * - Ends with the height: timers, searches and late answers of a closed height do nothing.
 * - Effects of one event are carried out before the next event is taken.
 */
import type { KnownHeader } from '../../ledger/chain/header-index.js'
import { bodyMatches } from '../../ledger/chain/match-body.js'
import { proposerAt } from '../../ledger/consensus/check-confirm.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes, toHex } from '../../base/primitives/bytes.js'
import { confirmBytes } from '../../base/primitives/confirm.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { paramsAt } from '../../base/primitives/spec.js'
import { isTimely } from '../../ledger/production/candidates.js'
import type { ProposalSource, Search } from '../../ledger/production/proposal-source.js'
import type { Env } from '../../base/runtime/env.js'
import type { JobQueue } from '../../base/runtime/job-queue.js'
import type { Evidence } from '../evidence.js'
import type { Signer } from '../signer.js'
import { TendermintMachine } from '../tendermint/machine.js'
import {
  type BlockVerdict,
  type Effect,
  type MachineEvent,
  type RestoredState,
  timeoutOf,
} from '../tendermint/machine-events.js'
import {
  encodeMessage,
  type SignedMessage,
  signerOf,
  stepOf,
  viewOf,
  type VotingMessage,
} from '../tendermint/message.js'
import { BodySearch, type BodySearchOptions, fetchPause } from './body-search.js'
import { SigningBacklog } from './signing-backlog.js'
import type { VoteFilter } from './vote-filter.js'

/** Divisor of a view's timer: how long a proposer waits for the body of one candidate. */
const candidateShare = 4

/** Dependencies of the vote on one block. */
export interface HeightDependencies
  extends Pick<BodySearchOptions, 'chain' | 'clock' | 'log' | 'network' | 'bodies' | 'track'>, Pick<Env, 'timers'> {
  readonly evidence: Evidence
  readonly proposals: ProposalSource
  /** Absent: this node does not vote. */
  readonly signer?: Signer
  /** Whether the key may sign now. */
  maySign(): boolean
  /** Whether a block was confirmed after the start of this node. */
  isFresh(block: KnownHeader): boolean
  /** The one queue of all events for machines. */
  readonly queue: JobQueue
}

/** Runs the voting machine of one height and carries out its effects. */
export class HeightRunner {
  readonly height: number
  readonly machine: TendermintMachine
  readonly parent: KnownHeader
  /** Whether the key of this node is among the validators of the height. */
  readonly votes: boolean
  readonly #dependencies: HeightDependencies
  readonly #filter: VoteFilter
  readonly #cancels = new Set<() => void>()
  readonly #search: BodySearch
  readonly #restored: RestoredState | undefined
  /** The view that needs a block to propose. */
  #needed: number | undefined
  readonly #backlog: SigningBacklog
  #finding = false
  /** Whether another block may have become available since the search began. */
  #searchAgain = false
  /** The block about to be proposed again: its body is not dropped for room. */
  #chosen: Hash | undefined
  #started = false
  #closed = false

  constructor(dependencies: HeightDependencies, filter: VoteFilter) {
    const { chain, signer } = dependencies
    this.#dependencies = dependencies
    this.#filter = filter
    this.parent = chain.tip
    this.height = this.parent.header.height + 1
    const { validators } = paramsAt(chain.spec, this.height)
    const own = signer === undefined ? -1 : validators.findIndex((key) => equalBytes(key, signer.publicKey))
    this.votes = own >= 0
    this.#restored = this.votes ? signer?.restored(this.height) : undefined
    const options = { height: this.height, validators, restored: this.#restored }
    this.machine = new TendermintMachine({ ...options, ...(this.votes ? { own } : {}) })
    this.#restored?.messages.forEach((message) => filter.markSeen(message))
    this.#backlog = new SigningBacklog({
      signer,
      maySign: dependencies.maySign,
      send: (message) => {
        filter.markSeen(message)
        this.#broadcast(message)
      },
      handle: (event) => this.#handle(event),
      closed: () => this.#closed,
    })
    this.#search = new BodySearch({
      ...dependencies,
      height: this.height,
      wanted: (hash) => this.machine.wants(hash),
      keep: (header, bytes) => this.keep(header, bytes),
      found: (header, verdict) => this.#reportVerdict(header, verdict),
      after: (milliseconds, callback) => this.#after(milliseconds, callback),
    })
  }

  /** Whether this node signed at this height before a restart. */
  get resumed(): boolean {
    return this.#restored !== undefined
  }

  /** Begins view 0, or the restored one. */
  start(): void {
    this.#started = true
    this.#restored?.messages.forEach((message) => this.#broadcast(message))
    this.#post({ type: 'start' })
  }

  /** Receives a message; resolves once it is counted, to whether it was new. Rejects with a RuleError if it is invalid. */
  async receive(message: VotingMessage): Promise<boolean> {
    if (!(await this.#filter.accept(message))) return false
    this.#warnDoubleKey(message)
    await this.#run({ type: 'message', message })
    return true
  }

  /** Retries a due proposal and the unsigned messages: a block may be available, or signing allowed. */
  retryProposal(): void {
    if (this.#needed !== undefined) this.#propose(this.#needed)
    if (!this.#backlog.empty) this.#dependencies.track(this.#dependencies.queue.run(() => this.#backlog.retry()))
  }

  /**
   * Schedules the own block of a view that begins in `within` ms at the earliest, if this node is its proposer. The block is
   * begun at the last moment at which it can be ready in time.
   */
  anticipate(view: number, within: number): void {
    const { chain, signer, proposals, maySign, track } = this.#dependencies
    if (signer === undefined || !equalBytes(proposerAt(chain.spec, this.height, view), signer.publicKey)) return
    const stop = () => this.#closed || this.machine.view > view || this.#search.busy
    this.#after(Math.max(0, within - proposals.lead(view)), () => {
      const begun = this.machine.view >= view && (view > 0 || this.#started)
      const bound = this.machine.valid !== undefined || this.#search.proposable !== undefined
      if (begun || bound || stop() || this.machine.step !== 'propose' || !maySign()) return
      track(proposals.begin({ view, stop }))
    })
  }

  /** Ends timers and searches, when the height is decided or the node stops. */
  close(): void {
    this.#closed = true
    this.#cancels.forEach((cancel) => cancel())
    this.#cancels.clear()
    this.#search.close()
  }

  #post(event: MachineEvent): void {
    this.#dependencies.track(this.#run(event))
  }

  #run(event: MachineEvent): Promise<void> {
    return this.#dependencies.queue.run(() => this.#handle(event))
  }

  /** Handles an event and all events that follow from it, before the next one of the queue. */
  async #handle(first: MachineEvent): Promise<void> {
    const events = [first]
    for (let event; (event = events.shift()) !== undefined && !this.#closed;) {
      for (const effect of this.machine.handle(event)) {
        const answer = await this.#execute(effect)
        if (answer !== undefined) events.push(answer)
        if (this.#closed) return
      }
    }
  }

  async #execute(effect: Effect): Promise<MachineEvent | undefined> {
    switch (effect.type) {
      case 'request-proposal':
        this.#needed = effect.view
        this.#propose(effect.view)
        return undefined
      case 'sign':
        return this.#backlog.sign(effect)
      case 'timer':
        this.#after(this.#timeout(effect.view), () => this.#post({ ...effect, type: 'timeout' }))
        return undefined
      case 'request-verdict':
        this.#search.seek(effect.hash, effect.header)
        return undefined
      case 'view':
        this.#needed = undefined
        this.#backlog.clear()
        this.#dependencies.log.debug({ height: this.height, view: effect.view }, 'a view of the vote begins')
        this.anticipate(effect.view + 1, this.#timeout(effect.view))
        return undefined
      case 'evidence':
        await this.#recordEvidence(effect.first, effect.second)
        return undefined
      case 'confirmed':
        await this.#connect(effect)
        return undefined
    }
  }

  /** Own signature, not made here, nor before the start -> key used twice or sign state lost: logs an error. */
  #warnDoubleKey(message: VotingMessage): void {
    const { signer, log, isFresh } = this.#dependencies
    if (signer === undefined || message.kind === 'proof' || !equalBytes(signerOf(message), signer.publicKey)) return
    if (!signer.shownElsewhere(this.height, isFresh(this.parent))) return
    const position = { height: this.height, view: viewOf(message), step: stepOf(message) }
    log.error(
      position,
      'another node votes with the key of this one, or its sign state was lost: use a key on one node only',
    )
  }

  #broadcast(message: SignedMessage): void {
    this.#dependencies.network.broadcast(message)
  }

  #timeout(view: number): number {
    const { timing, maxViewTimeout } = this.#dependencies.chain.spec
    return timeoutOf(view, timing, maxViewTimeout)
  }

  #after(milliseconds: number, callback: () => void): () => void {
    const cancel = this.#dependencies.timers.after(milliseconds, () => {
      this.#cancels.delete(cancel)
      callback()
    })
    this.#cancels.add(cancel)
    return () => {
      this.#cancels.delete(cancel)
      cancel()
    }
  }

  #propose(view: number): void {
    this.#searchAgain = this.#finding
    if (this.#finding || this.#closed || !this.#dependencies.maySign()) return
    this.#finding = true
    const patience = this.#timeout(view) / candidateShare
    const stop = () => this.#closed || this.#needed === undefined
    const search = { view, patience, stop, end: this.#search.end, late: () => this.retryProposal() }
    const found = this.#findBlock(search).then((header) => {
      // This node may also be proposer of the next view, and has no other block then.
      const needed = this.#needed
      if (header === undefined || needed === undefined || stop()) return
      this.#needed = undefined
      this.#post({ type: 'template', view: needed, header })
    })
    const done = found.finally(() => {
      this.#finding = false
      // A later view also needs a block, or a new block became available.
      if (this.#needed !== undefined && (this.#needed !== view || this.#searchAgain)) this.#propose(this.#needed)
    })
    this.#dependencies.track(done)
  }

  /**
   * The newest checked block of this height, else an own one. Peers that have checked it too vote at once, so no check is
   * wasted; a check under way ends before a new block could be ready.
   */
  async #findBlock(search: Search): Promise<Header | undefined> {
    await this.#search.idle()
    const checked = this.#search.proposable
    this.#chosen = checked?.hash
    if (checked !== undefined || search.stop()) return checked
    const block = await this.#dependencies.proposals.find(search)
    if (block === undefined || this.#closed) return undefined
    // Checked after its view ended -> kept, so that the next view of this node proposes it.
    await this.keep(block.header, block.bytes)
    this.#search.add(block.header)
    return search.stop() ? undefined : block.header
  }

  /** Puts a body on disk. Bodies that the vote may still need are not dropped for room. */
  async keep(header: Header, bytes: Uint8Array): Promise<void> {
    const chosen = this.#chosen === undefined ? [] : [this.#chosen]
    await this.#dependencies.bodies.put(header, bytes, [...this.machine.needed, ...chosen])
  }

  #reportVerdict(header: Header, verdict: BlockVerdict): void {
    const { chain, clock } = this.#dependencies
    if (this.#closed) return
    this.#post({ type: 'block', hash: header.hash, verdict, timely: isTimely(header, chain, clock) })
  }

  async #recordEvidence(first: SignedMessage, second: SignedMessage): Promise<void> {
    const { evidence, log } = this.#dependencies
    const step = stepOf(first)
    const kind = step === 'propose' ? 'proposal' : step
    const position = { height: this.height, view: viewOf(first), kind, signer: signerOf(first) } as const
    log.warn({ ...position, signer: toHex(position.signer) }, 'a validator contradicts itself')
    await evidence.add({ ...position, first: encodeMessage(first), second: encodeMessage(second) })
  }

  async #connect(effect: Extract<Effect, { type: 'confirmed' }>): Promise<void> {
    const { chain, log } = this.#dependencies
    const { confirm, hash } = effect
    const again = () => void this.#after(fetchPause, () => this.#dependencies.track(this.#connect(effect)))
    const bytes = await this.#search.body(hash)
    if (this.#closed) return
    if (bytes === undefined) return again()
    try {
      await chain.acceptBlock(bytes, confirmBytes(confirm))
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      if (chain.tip !== this.parent) return
      log.error({ height: this.height, code: error.code, reason: error.message }, 'a confirmed block was refused')
      if (error.code === 'busy' || !(await bodyMatches(bytes, chain.sanity))) again()
    }
  }
}
