import type { Chain } from '../../chain/chain.js'
import type { KnownHeader } from '../../chain/header-index.js'
import { bodyMatches } from '../../chain/match-body.js'
import { sponsorAt } from '../../consensus/check-confirm.js'
import { RuleError } from '../../errors/rule-error.js'
import { equalBytes, toHex } from '../../primitives/bytes.js'
import { confirmBytes } from '../../primitives/confirm.js'
import type { Hash } from '../../primitives/hash.js'
import type { Header } from '../../primitives/header.js'
import { paramsAt } from '../../primitives/spec.js'
import { isTimely } from '../../production/candidates.js'
import type { ProposalSource, Search } from '../../production/proposal-source.js'
import type { Clock, Log, Timers } from '../../runtime/env.js'
import type { JobQueue } from '../../runtime/job-queue.js'
import type { Evidence } from '../evidence.js'
import type { ProposedBodies } from '../proposed-bodies.js'
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
import type { VoteNetwork } from '../vote-network.js'
import { BodySearch, fetchPause } from './body-search.js'
import type { VoteFilter } from './vote-filter.js'

/** The part of a view for which a sponsor waits for one candidate of a miner: one in so many. */
const candidateShare = 4

/** What the vote on one block needs of the node around it. */
export interface HeightDependencies {
  readonly chain: Chain
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  readonly network: VoteNetwork
  readonly bodies: ProposedBodies
  readonly evidence: Evidence
  readonly proposals: ProposalSource
  /** Absent: this node votes nowhere. */
  readonly signer?: Signer | undefined
  /** Whether the key may sign at the moment. */
  maySign(): boolean
  /** The one queue of everything that reaches a machine. */
  readonly queue: JobQueue
  /** Something under way that the node waits for when it stops. */
  track(work: Promise<void>): void
}

type SignEffect = Extract<Effect, { type: 'sign' }>

/** The vote on the block of one height: a machine, and what it asks for done. */
export class HeightRunner {
  readonly height: number
  readonly machine: TendermintMachine
  readonly parent: KnownHeader
  /** Whether the key of this node is among the validators of the height. */
  readonly votes: boolean
  readonly #parts: HeightDependencies
  readonly #filter: VoteFilter
  readonly #cancels = new Set<() => void>()
  readonly #search: BodySearch
  readonly #restored: RestoredState | undefined
  /** The view that waits for a block of ours. */
  #needed: number | undefined
  /** What this view asked to sign while nothing could be signed. Others may wait for it, so it is made up for. */
  #unsigned: SignEffect[] = []
  #finding = false
  /** Whether there may be something else to propose than when it was begun to look. */
  #lookAgain = false
  /** The block that is about to be proposed again: its body does not make room for others meanwhile. */
  #chosen: Hash | undefined
  #started = false
  #closed = false

  constructor(parts: HeightDependencies, gate: VoteFilter) {
    const { chain, signer } = parts
    this.#parts = parts
    this.#filter = gate
    this.parent = chain.tip
    this.height = this.parent.header.height + 1
    const { validators } = paramsAt(chain.spec, this.height)
    const own = signer === undefined ? -1 : validators.findIndex((key) => equalBytes(key, signer.publicKey))
    this.votes = own >= 0
    this.#restored = this.votes ? signer?.restored(this.height) : undefined
    const options = { height: this.height, validators, restored: this.#restored }
    this.machine = new TendermintMachine({ ...options, ...(this.votes ? { own } : {}) })
    this.#restored?.messages.forEach((message) => gate.markSeen(message))
    this.#search = new BodySearch({
      ...parts,
      height: this.height,
      wanted: (hash) => this.machine.wants(hash),
      keep: (header, bytes) => this.keep(header, bytes),
      found: (header, verdict) => this.#reportVerdict(header, verdict),
      after: (milliseconds, callback) => this.#after(milliseconds, callback),
    })
  }

  /** Whether this node has signed at this height before a restart. */
  get resumed(): boolean {
    return this.#restored !== undefined
  }

  /** View 0 begins. */
  start(): void {
    this.#started = true
    this.#restored?.messages.forEach((message) => this.#broadcast(message))
    this.#post({ type: 'start' })
  }

  /** Whether an authentic message told anything; resolves once it is counted. Rejects with a RuleError. */
  async receive(message: VotingMessage): Promise<boolean> {
    if (!(await this.#filter.accept(message))) return false
    this.#warnDoubleKey(message)
    await this.#run({ type: 'message', message })
    return true
  }

  /** There may be a block to propose now, or what was in the way of signing is gone. */
  retryProposal(): void {
    if (this.#needed !== undefined) this.#propose(this.#needed)
    if (this.#unsigned.length > 0) this.#parts.track(this.#parts.queue.run(() => this.#signBacklog()))
  }

  /**
   * Begins with the own block of a view that comes in so many milliseconds at the earliest, if it is this node's to propose
   * there: the last moment at which the block can be ready in time.
   */
  anticipate(view: number, within: number): void {
    const { chain, signer, proposals, maySign, track } = this.#parts
    if (!this.votes || signer === undefined) return
    if (!equalBytes(sponsorAt(chain.spec, this.height, view), signer.publicKey)) return
    const stop = () => this.#closed || this.machine.view > view || this.#search.busy
    this.#after(Math.max(0, within - proposals.lead(view)), () => {
      const begun = this.machine.view >= view && (view > 0 || this.#started)
      const bound = this.machine.valid !== undefined || this.#search.proposable !== undefined
      if (begun || bound || stop() || this.machine.step !== 'propose' || !maySign()) return
      track(proposals.begin({ view, stop }))
    })
  }

  /** Ends timers and searches: the height is decided, or the node stops. */
  close(): void {
    this.#closed = true
    this.#cancels.forEach((cancel) => cancel())
    this.#cancels.clear()
    this.#search.close()
  }

  #post(event: MachineEvent): void {
    this.#parts.track(this.#run(event))
  }

  #run(event: MachineEvent): Promise<void> {
    return this.#parts.queue.run(() => this.#handle(event))
  }

  /** In the order in which it was due, and before anything newer is signed. */
  async #signBacklog(): Promise<void> {
    while (this.#parts.maySign() && !this.#closed) {
      const effect = this.#unsigned.shift()
      if (effect === undefined) return
      const signed = await this.#sign(effect)
      if (signed !== undefined) await this.#handle(signed)
    }
  }

  /** One event and everything that follows from it at once, before the next event comes. */
  async #handle(first: MachineEvent): Promise<void> {
    const events = [first]
    for (let event; (event = events.shift()) !== undefined && !this.#closed;) {
      for (const effect of this.machine.handle(event)) {
        const answer = await this.#do(effect)
        if (answer !== undefined) events.push(answer)
        if (this.#closed) return
      }
    }
  }

  async #do(effect: Effect): Promise<MachineEvent | undefined> {
    switch (effect.type) {
      case 'need-block':
        this.#needed = effect.view
        this.#propose(effect.view)
        return undefined
      case 'sign':
        if (this.#unsigned.length === 0) return this.#sign(effect)
        this.#unsigned.push(effect)
        await this.#signBacklog()
        return undefined
      case 'timer':
        this.#after(this.#timeout(effect.view), () => this.#post({ ...effect, type: 'timeout' }))
        return undefined
      case 'want':
        this.#search.seek(effect.hash, effect.header)
        return undefined
      case 'view':
        this.#needed = undefined
        this.#unsigned = []
        this.#parts.log.debug({ height: this.height, view: effect.view }, 'a view of the vote begins')
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

  async #sign(effect: SignEffect): Promise<MachineEvent | undefined> {
    const { message, state } = effect
    const { signer, maySign } = this.#parts
    if (signer === undefined) return undefined
    if (!maySign()) {
      this.#unsigned.push(effect)
      return undefined
    }
    const signed = await signer.sign(message, state)
    if (signed === undefined) return undefined
    this.#filter.markSeen(signed)
    this.#broadcast(signed)
    return { type: 'message', message: signed }
  }

  /** What the own key signed and this node does not know of tells that two nodes have it, or that this one forgot. */
  #warnDoubleKey(message: VotingMessage): void {
    const { signer, log } = this.#parts
    if (signer === undefined || signer.past(this.height) || message.kind === 'proof') return
    if (!equalBytes(signerOf(message), signer.publicKey)) return
    const place = { height: this.height, view: viewOf(message), step: stepOf(message) }
    log.error(
      place,
      'another node votes with the key of this one, or its sign state was lost: use a key on one node only',
    )
  }

  #broadcast(message: SignedMessage): void {
    this.#parts.network.broadcast(message.kind === 'proposal' ? 'proposal' : 'vote', encodeMessage(message))
  }

  #timeout(view: number): number {
    const { timing, maxViewTimeout } = this.#parts.chain.spec
    return timeoutOf(view, timing, maxViewTimeout)
  }

  #after(milliseconds: number, callback: () => void): () => void {
    const cancel = this.#parts.timers.after(milliseconds, () => {
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
    this.#lookAgain = this.#finding
    if (this.#finding || this.#closed || !this.#parts.maySign()) return
    this.#finding = true
    const patience = this.#timeout(view) / candidateShare
    const stop = () => this.#closed || this.#needed === undefined
    const search = { view, patience, stop, end: this.#search.end, late: () => this.retryProposal() }
    const found = this.#findBody(search).then((header) => {
      // The next view may be this node's as well, and has no other block then.
      const needed = this.#needed
      if (header === undefined || needed === undefined || stop()) return
      this.#needed = undefined
      this.#post({ type: 'template', view: needed, header })
    })
    const done = found.finally(() => {
      this.#finding = false
      // Another view came meanwhile that needs one as well, or a block that was not there yet.
      if (this.#needed !== undefined && (this.#needed !== view || this.#lookAgain)) this.#propose(this.#needed)
    })
    this.#parts.track(done)
  }

  /**
   * The newest block of this height that this node has checked, else an own one. What others have checked as well gets
   * their votes at once, and no check is thrown away; one that is being checked is ready before a new one could be.
   */
  async #findBody(search: Search): Promise<Header | undefined> {
    await this.#search.idle()
    const checked = this.#search.proposable
    this.#chosen = checked?.hash
    if (checked !== undefined || search.stop()) return checked
    const block = await this.#parts.proposals.find(search)
    if (block === undefined || this.#closed) return undefined
    // Checked after its view ended -> kept, so that the next view of this node proposes it.
    await this.keep(block.header, block.bytes)
    this.#search.add(block.header)
    return search.stop() ? undefined : block.header
  }

  /** Puts a body on disk. Those that the vote may come back to are not the ones that make room. */
  async keep(header: Header, bytes: Uint8Array): Promise<void> {
    const chosen = this.#chosen === undefined ? [] : [this.#chosen]
    await this.#parts.bodies.put(header, bytes, [...this.machine.needed, ...chosen])
  }

  #reportVerdict(header: Header, verdict: BlockVerdict): void {
    const { chain, clock } = this.#parts
    if (this.#closed) return
    this.#post({ type: 'block', hash: header.hash, verdict, timely: isTimely(header, chain, clock) })
  }

  async #recordEvidence(first: SignedMessage, second: SignedMessage): Promise<void> {
    const { evidence, log } = this.#parts
    const step = stepOf(first)
    const kind = step === 'propose' ? 'proposal' : step
    const place = { height: this.height, view: viewOf(first), kind, signer: signerOf(first) } as const
    log.warn({ ...place, signer: toHex(place.signer) }, 'a validator contradicts itself')
    await evidence.add({ ...place, first: encodeMessage(first), second: encodeMessage(second) })
  }

  async #connect(effect: Extract<Effect, { type: 'confirmed' }>): Promise<void> {
    const { chain, log } = this.#parts
    const { confirm, hash } = effect
    const again = () => void this.#after(fetchPause, () => this.#parts.track(this.#connect(effect)))
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
