/**
 * Decides the vote at one height: events in, effects out; the directory is pure, height/ carries the effects out.
 *
 *   start, message, block, timeout, template -> handle -> take    record votes, verdicts, times
 *     -> advance, until nothing changes:
 *        confirm | jump | learn, propose, answerProposal, answerPrevotes, answerPrecommits
 *     -> effects in order: sign, timer, request-verdict, request-proposal, view, evidence; `confirmed` is the last
 *
 * Imports consensus, errors, primitives; used by voting/height, voting, network/relay (messages alone).
 * - Same events, same effects: no clock, randomness, key, log or I/O.
 * - A block is prevoted, locked or confirmed only with the verdict valid, so with its body on disk.
 * - Messages come verified and once each; the caller signs and stores before it returns an own one.
 * - Memory is bounded: of each validator the present view and the highest other one.
 */
import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { quorum } from '../../base/primitives/spec.js'
import type { BlockVerdict, Effect, MachineEvent, MachineOptions, ProvenBlock } from './machine-events.js'
import { confirmOf, type SignedMessage, type Step, type UnsignedMessage, type VotingMessage } from './message.js'
import { missingVotes, summarize, type Summary } from './summary.js'
import { Votes } from './votes.js'

/** Verdict on a block, and whether its time was acceptable when the verdict came. */
interface KnownVerdict {
  readonly verdict: BlockVerdict
  readonly timely: boolean
}

/**
 * The Tendermint algorithm (Buchman, Kwon, Milosevic, arXiv 1807.04938) for one height, where a round is called a view:
 * events in, effects out, nothing else. The numbers in the comments are the lines of its algorithm 1.
 */
export class TendermintMachine {
  readonly height: number
  readonly #validators: readonly Uint8Array[]
  readonly #own: number | undefined
  readonly #votes: Votes
  readonly #quorum: number
  readonly #blocks = new Map<string, KnownVerdict>()
  readonly #wanted = new Set<string>()
  #effects: Effect[] = []
  #started = false
  #decided = false
  /** Steps requested, proposed or timed in the present view. */
  readonly #done = new Set<'ask' | Step>()
  #template: Header | undefined
  /** The block of the highest view with a known quorum of prevotes, with or without its body. */
  #proven: ProvenBlock | undefined
  #lock: ProvenBlock | undefined
  #validBlock: ProvenBlock | undefined
  #presentView: number
  #presentStep: Step

  constructor({ height, validators, own, restored }: MachineOptions) {
    this.height = height
    this.#validators = validators
    this.#own = own
    this.#votes = new Votes(validators)
    this.#quorum = quorum(validators.length)
    this.#presentView = restored?.view ?? 0
    this.#presentStep = restored?.step ?? 'propose'
    this.#lock = restored?.locked
    this.#validBlock = this.#proven = restored?.valid
    this.#votes.enter(this.#presentView)
    for (const message of restored?.messages ?? []) this.#votes.record(message)
    if (this.#votes.proposal(this.#presentView) !== undefined && this.#isProposer) this.#done.add('propose')
  }

  /** The present view; before the start the one that will begin. */
  get view(): number {
    return this.#presentView
  }

  get step(): Step {
    return this.#presentStep
  }

  get locked(): ProvenBlock | undefined {
    return this.#lock
  }

  get valid(): ProvenBlock | undefined {
    return this.#validBlock
  }

  /** The 33-byte key of the proposer of the present view. */
  get proposer(): Uint8Array {
    return this.#validators[(this.height + this.view) % this.#validators.length] as Uint8Array
  }

  /** Handles one event and returns its effects in order; none after a block was confirmed. */
  handle(event: MachineEvent): readonly Effect[] {
    if (this.#decided) return []
    this.#effects = []
    this.#take(event)
    while (!this.#decided && this.#advance());
    return this.#effects
  }

  /** Blocks that may still be proposed, locked or confirmed without a new request for their bodies. */
  get needed(): Hash[] {
    const [lock, validBlock, proven] = [this.#lock, this.#validBlock, this.#proven]
    const blocks = [lock, validBlock, proven, this.#votes.proposal(this.view)]
    return blocks.flatMap((block) => (block === undefined ? [] : [block.header.hash]))
  }

  /** Whether the present view waits for a verdict on a block. */
  wants(hash: Hash): boolean {
    return this.#wanted.has(mapKey(hash))
  }

  /** Summary of the kept messages, by which peers find what is missing. */
  summary(): Summary {
    return summarize(this.#votes, {
      height: this.height,
      view: this.view,
      step: this.step,
      validView: this.#proven?.view ?? -1,
    })
  }

  /** Kept messages that a peer with that summary lacks and can use. */
  missing(summary: Summary): VotingMessage[] {
    if (summary.height !== this.height) return []
    const proven = this.#proven
    const proof: VotingMessage[] =
      proven !== undefined && proven.view > summary.validView ? [{ kind: 'proof', height: this.height, ...proven }] : []
    return [...proof, ...missingVotes(this.#votes, summary)]
  }

  get #isProposer(): boolean {
    return this.#own !== undefined && (this.height + this.view) % this.#validators.length === this.#own
  }

  #take(event: MachineEvent): void {
    switch (event.type) {
      case 'start':
        return this.#start()
      case 'message':
        return this.#receive(event.message)
      case 'block':
        this.#blocks.set(mapKey(event.hash), { verdict: event.verdict, timely: event.timely })
        this.#wanted.delete(mapKey(event.hash))
        return
      case 'template':
        if (event.view !== this.view || !this.#isProposer) return
        this.#template = event.header
        this.#blocks.set(mapKey(event.header.hash), { verdict: 'valid', timely: true })
        return
      case 'timeout':
        return this.#expire(event.step, event.view)
    }
  }

  #start(): void {
    if (this.#started) return
    this.#started = true
    this.#effects.push({ type: 'view', view: this.view })
    if (this.step === 'propose') this.#effects.push({ type: 'timer', step: 'propose', view: this.view })
  }

  #receive(message: VotingMessage): void {
    if (message.kind === 'proof' || (message.kind === 'proposal' && message.validView >= 0)) {
      const { header, prevotes } = message
      this.#prove({ header, view: message.kind === 'proof' ? message.view : message.validView, prevotes })
      prevotes.forEach((prevote) => this.#record(prevote))
    }
    if (message.kind !== 'proof') this.#record(message)
  }

  #record(message: SignedMessage): void {
    const recorded = this.#votes.record(message)
    if (typeof recorded === 'object') this.#effects.push({ type: 'evidence', first: recorded.first, second: message })
  }

  #prove(block: ProvenBlock): void {
    if (block.view > (this.#proven?.view ?? -1)) this.#proven = block
  }

  /** Lines 57 to 67. */
  #expire(step: Step, view: number): void {
    if (!this.#started || view !== this.view) return
    if (step === 'precommit') this.#enter(view + 1)
    else if (step === this.step && step === 'propose') this.#prevote(undefined)
    else if (step === this.step) this.#precommitNil()
  }

  /** Tries every rule once; returns whether the state changed, so that others may apply now. */
  #advance(): boolean {
    if (this.#confirm()) return false
    if (this.#jump()) return true
    const before = this.#progress
    this.#learn()
    if (this.#started) {
      this.#propose()
      this.#answerProposal()
      this.#answerPrevotes()
      this.#answerPrecommits()
    }
    return this.#progress !== before
  }

  get #progress(): string {
    return `${this.view} ${this.step} ${this.valid?.view}`
  }

  /** Lines 11 to 21. */
  #enter(view: number): void {
    this.#started = true
    this.#presentView = view
    this.#presentStep = 'propose'
    this.#done.clear()
    this.#template = undefined
    this.#votes.enter(view)
    // A time may have become acceptable, and a body may have been dropped: verdicts are requested anew.
    this.#blocks.clear()
    this.#wanted.clear()
    this.#effects.push({ type: 'view', view }, { type: 'timer', step: 'propose', view })
  }

  /** Lines 14 to 19: the proposer proposes its valid block, else requests one. */
  #propose(): void {
    if (!this.#isProposer || this.step !== 'propose' || this.#done.has('propose')) return
    const { valid, view, height } = this
    // Another process with this key has proposed in this view, and its proposal got a quorum.
    if (valid !== undefined && valid.view >= view) return
    const header = valid?.header ?? this.#template
    if (header === undefined) {
      if (!this.#done.has('ask')) this.#effects.push({ type: 'request-proposal', view })
      this.#done.add('ask')
      return
    }
    this.#done.add('propose')
    const proposal = { sponsor: this.proposer, blockHash: header.hash, viewOffset: view }
    const validView = valid?.view ?? -1
    const prevotes = valid?.prevotes ?? []
    this.#sign(() => ({ kind: 'proposal', height, validView, header, proposal, prevotes }))
  }

  /** Lines 22 to 33. The quorum behind a validView came with the proposal. */
  #answerProposal(): void {
    const message = this.#votes.proposal(this.view)
    if (this.step !== 'propose' || message === undefined) return
    const { header, validView } = message
    const known = this.#look(header)
    if (known === undefined) return
    const free = this.#lock === undefined || this.#lock.view <= validView || isBlock(this.#lock, header.hash)
    const acceptable = known.verdict === 'valid' && (known.timely || validView >= 0)
    this.#prevote(free && acceptable ? header.hash : undefined)
  }

  /** Lines 34 to 46. */
  #answerPrevotes(): void {
    if (this.step !== 'prevote') return
    const { view, valid } = this
    const message = this.#votes.proposal(view)
    const ready = valid?.view === view && message !== undefined && isBlock(valid, message.header.hash)
    // After a restart the body may be missing: it has to be on disk again before the precommit.
    if (ready && this.#look(message.header)?.verdict === 'valid') {
      const { height, header, proposal } = message
      this.#lock = valid
      this.#presentStep = 'precommit'
      return this.#sign((signer) => ({ kind: 'precommit', height, header, proposal, signer }))
    }
    const prevotes = this.#votes.prevotes(view)
    if (prevotes.filter(({ blockHash }) => blockHash === undefined).length >= this.#quorum) return this.#precommitNil()
    if (prevotes.length >= this.#quorum || this.#isBehind) this.#time('prevote')
  }

  /** Line 47. A quorum of precommits for none ends the view: no block can be confirmed in it any more. */
  #answerPrecommits(): void {
    const precommits = this.#votes.precommits(this.view)
    const behind = this.step === 'precommit' && this.#isBehind
    if (precommits.length >= this.#quorum || behind) this.#time('precommit')
    if (precommits.filter(({ kind }) => kind === 'precommit-nil').length >= this.#quorum) this.#enter(this.view + 1)
  }

  /**
   * Whether a validator left the present view, so that its votes here may never come: lost in a crash, or dropped for those
   * of a higher view. Then the timers run without a quorum, so that this node can follow.
   */
  get #isBehind(): boolean {
    return this.#votes.reachedBy(1) > this.view
  }

  /** Lines 42 and 43, for a quorum of prevotes of any view: the valid block of the latest view is the best to propose. */
  #learn(): void {
    const { view } = this
    const message = this.#votes.proposal(view)
    if (message !== undefined) {
      const { header } = message
      const prevotes = this.#votes.prevotes(view).filter(({ blockHash }) => same(blockHash, header.hash))
      if (prevotes.length >= this.#quorum) this.#prove({ header, view, prevotes })
    }
    const proven = this.#proven
    if (proven === undefined || proven.view <= (this.valid?.view ?? -1)) return
    if (this.#look(proven.header)?.verdict === 'valid') this.#validBlock = proven
  }

  /** Lines 49 to 54, of any view that is kept. */
  #confirm(): boolean {
    for (const view of this.#votes.views()) {
      const precommits = this.#votes.precommits(view).filter((message) => message.kind === 'precommit')
      for (const { header } of precommits) {
        const votes = precommits.filter((message) => same(header.hash, message.header.hash))
        if (votes.length < this.#quorum) continue
        if (this.#look(header)?.verdict !== 'valid') break
        this.#decided = true
        this.#effects.push({ type: 'confirmed', confirm: confirmOf(votes), hash: header.hash })
        return true
      }
    }
    return false
  }

  /** Lines 55 and 56. A validator beyond a view counts for it, since only its highest other view is kept. */
  #jump(): boolean {
    const view = this.#votes.reachedBy(this.#validators.length - this.#quorum + 1)
    if (view <= this.view) return false
    this.#enter(view)
    return true
  }

  /** The verdict on a block; requests it if unknown. */
  #look(header: Header): KnownVerdict | undefined {
    const key = mapKey(header.hash)
    const known = this.#blocks.get(key)
    if (known === undefined && !this.#wanted.has(key)) {
      this.#wanted.add(key)
      this.#effects.push({ type: 'request-verdict', hash: header.hash, header })
    }
    return known
  }

  #prevote(blockHash: Hash | undefined): void {
    const { height, view } = this
    this.#presentStep = 'prevote'
    this.#sign((signer) => ({ kind: 'prevote', height, view, blockHash, signer }))
  }

  #precommitNil(): void {
    const { height, view } = this
    this.#presentStep = 'precommit'
    this.#sign((signer) => ({ kind: 'precommit-nil', height, view, signer }))
  }

  #sign(message: (signer: Uint8Array) => UnsignedMessage): void {
    const signer = this.#own === undefined ? undefined : this.#validators[this.#own]
    if (signer === undefined) return
    this.#effects.push({
      type: 'sign',
      message: message(signer),
      state: { locked: this.#lock, valid: this.#validBlock },
    })
  }

  #time(step: 'prevote' | 'precommit'): void {
    if (this.#done.has(step)) return
    this.#done.add(step)
    this.#effects.push({ type: 'timer', step, view: this.view })
  }
}

function same(a: Hash | undefined, b: Hash): boolean {
  return a !== undefined && equalBytes(a, b)
}

function isBlock(block: ProvenBlock | undefined, hash: Hash): boolean {
  return same(block?.header.hash, hash)
}
