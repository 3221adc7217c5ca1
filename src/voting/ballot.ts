import type { JobQueue } from '../chain/queue.js'
import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/headers.js'
import type { Clock, Log, Timers } from '../env.js'
import { RuleError } from '../errors.js'
import { blockHashOf } from '../primitives/block.js'
import { equalBytes, mapKey, toHex } from '../primitives/bytes.js'
import { confirmBytes } from '../primitives/confirm.js'
import type { Hash } from '../primitives/hash.js'
import type { Header } from '../primitives/header.js'
import { paramsAt } from '../primitives/spec.js'
import { bodyMatches } from './body-match.js'
import type { Bodies } from './bodies.js'
import { isTimely } from './candidates.js'
import type { Evidence } from './evidence.js'
import type { Gate } from './gate.js'
import { Machine } from './machine.js'
import { type BlockVerdict, type Effect, type MachineEvent, type RestoredState, timeoutOf } from './machine-events.js'
import { encodeMessage, type SignedMessage, signerOf, stepOf, viewOf, type VotingMessage } from './message.js'
import type { OwnBlock } from './own-block.js'
import type { VotingPort } from './port.js'
import type { Signer } from './signer.js'

/** Bodies that are looked for at once; the one wanted first is given up for another. */
const maxSought = 16
/** Verdicts on blocks that are remembered; the oldest goes first. */
const maxVerdicts = 64
/** Milliseconds until a body that nobody handed out is asked for again. */
const fetchPause = 500
/** The part of a view for which a sponsor waits for one candidate of a miner: one in so many. */
const candidateShare = 4

/** What the vote on one block needs of the node around it. */
export interface BallotParts {
  readonly chain: Chain
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  readonly port: VotingPort
  readonly bodies: Bodies
  readonly evidence: Evidence
  readonly ownBlock: OwnBlock
  /** Absent: this node votes nowhere. */
  readonly signer?: Signer | undefined
  /** Why nothing may be signed at the moment. */
  refusal(): string | undefined
  /** The one queue of everything that reaches a machine. */
  readonly queue: JobQueue
  /** Something under way that the node waits for when it stops. */
  track(work: Promise<void>): void
}

type SignEffect = Extract<Effect, { type: 'sign' }>

/** The vote on the block of one height: a machine, and what it asks for done. */
export class Ballot {
  readonly height: number
  readonly machine: Machine
  readonly parent: KnownHeader
  /** Whether the key of this node is among the validators of the height. */
  readonly votes: boolean
  readonly #parts: BallotParts
  readonly #gate: Gate
  readonly #cancels = new Set<() => void>()
  readonly #sought = new Map<string, () => void>()
  readonly #verdicts = new Map<string, BlockVerdict>()
  readonly #restored: RestoredState | undefined
  /** The view that waits for a block of ours. */
  #needed: number | undefined
  /** What this view asked to sign while nothing could be signed. Others may wait for it, so it is made up for. */
  #unsigned: SignEffect[] = []
  #finding = false
  /** Whether there may be something else to propose than when it was begun to look. */
  #lookAgain = false
  #closed = false
  /** Resolves when the ballot is closed: for what waits for somebody else. */
  readonly #end: Promise<undefined>
  #ended!: (value: undefined) => void

  constructor(parts: BallotParts, gate: Gate) {
    const { chain, signer } = parts
    this.#parts = parts
    this.#gate = gate
    this.#end = new Promise((resolve) => (this.#ended = resolve))
    this.parent = chain.tip
    this.height = this.parent.header.height + 1
    const { validators } = paramsAt(chain.spec, this.height)
    const own = signer === undefined ? -1 : validators.findIndex((key) => equalBytes(key, signer.publicKey))
    this.votes = own >= 0
    this.#restored = this.votes ? signer?.restored(this.height) : undefined
    const options = { height: this.height, validators, restored: this.#restored }
    this.machine = new Machine({ ...options, ...(this.votes ? { own } : {}) })
    this.#restored?.messages.forEach((message) => gate.know(message))
  }

  /** Whether this node has signed at this height before a restart. */
  get resumed(): boolean {
    return this.#restored !== undefined
  }

  /** View 0 begins. */
  start(): void {
    this.#restored?.messages.forEach((message) => this.#broadcast(message))
    this.#post({ type: 'start' })
  }

  /** Whether an authentic message told anything; resolves once it is counted. Rejects with a RuleError. */
  async receive(message: VotingMessage): Promise<boolean> {
    if (!(await this.#gate.admit(message))) return false
    this.#lookAtOwn(message)
    await this.#run({ type: 'message', message })
    return true
  }

  /** There may be a block to propose now, or what was in the way of signing is gone. */
  supply(): void {
    if (this.#needed !== undefined) this.#propose(this.#needed)
    if (this.#unsigned.length > 0) this.#parts.track(this.#parts.queue.run(() => this.#makeUp()))
  }

  /** Ends timers and searches: the height is decided, or the node stops. */
  close(): void {
    this.#closed = true
    this.#ended(undefined)
    this.#cancels.forEach((cancel) => cancel())
    this.#cancels.clear()
    ;[...this.#sought.values()].forEach((giveUp) => giveUp())
  }

  #post(event: MachineEvent): void {
    this.#parts.track(this.#run(event))
  }

  #run(event: MachineEvent): Promise<void> {
    return this.#parts.queue.run(() => this.#handle(event))
  }

  /** In the order in which it was due, and before anything newer is signed. */
  async #makeUp(): Promise<void> {
    while (this.#parts.refusal() === undefined && !this.#closed) {
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
        await this.#makeUp()
        return undefined
      case 'timer':
        this.#after(this.#timeout(effect.view), () => this.#post({ ...effect, type: 'timeout' }))
        return undefined
      case 'want':
        this.#seek(effect.hash, effect.header)
        return undefined
      case 'view':
        this.#needed = undefined
        this.#unsigned = []
        this.#parts.log.debug({ height: this.height, view: effect.view }, 'a view of the vote begins')
        return undefined
      case 'evidence':
        await this.#testify(effect.first, effect.second)
        return undefined
      case 'confirmed':
        await this.#connect(effect)
        return undefined
    }
  }

  async #sign(effect: SignEffect): Promise<MachineEvent | undefined> {
    const { message, state } = effect
    const { signer, refusal } = this.#parts
    if (signer === undefined) return undefined
    if (refusal() !== undefined) {
      this.#unsigned.push(effect)
      return undefined
    }
    const signed = await signer.sign(message, state)
    if (signed === undefined) return undefined
    this.#gate.know(signed)
    this.#broadcast(signed)
    return { type: 'message', message: signed }
  }

  /** What the own key signed and this node does not know of tells that two nodes have it, or that this one forgot. */
  #lookAtOwn(message: VotingMessage): void {
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
    this.#parts.port.broadcast(message.kind === 'proposal' ? 'proposal' : 'vote', encodeMessage(message))
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
    if (this.#finding || this.#closed || this.#parts.refusal() !== undefined) return
    this.#finding = true
    const patience = this.#timeout(view) / candidateShare
    const stop = () => this.#closed || this.#needed === undefined
    const search = { patience, stop, end: this.#end, late: () => this.supply() }
    const found = this.#parts.ownBlock.find(search).then(async (block) => {
      if (block === undefined || stop()) return
      await this.keep(block.header, block.bytes)
      this.#verdict(block.header.hash, 'valid')
      if (this.#needed === view) this.#needed = undefined
      this.#post({ type: 'template', view, header: block.header })
    })
    const done = found.finally(() => {
      this.#finding = false
      // Another view came meanwhile that needs one as well, or a block that was not there yet.
      if (this.#needed !== undefined && (this.#needed !== view || this.#lookAgain)) this.#propose(this.#needed)
    })
    this.#parts.track(done)
  }

  /** Sees to it that the machine hears what is to be said of a block, as soon as its body is in hand. */
  #seek(hash: Hash, header: Header): void {
    const id = mapKey(hash)
    const verdict = this.#verdicts.get(id)
    // Nothing is signed for a block whose body went to make room for others: it is looked for again.
    const atHand = verdict === 'invalid' || this.#parts.bodies.has(hash)
    if (verdict !== undefined && atHand) return this.#tell(header, verdict)
    if (this.#sought.has(id)) return
    if (this.#sought.size >= maxSought) this.#sought.values().next().value?.()
    let wanted = true
    let wake = () => {}
    this.#sought.set(id, () => {
      wanted = false
      this.#sought.delete(id)
      wake()
    })
    const pause = () =>
      new Promise<void>((resolve) => {
        const cancel = this.#after(fetchPause, resolve)
        wake = () => {
          cancel()
          resolve()
        }
      })
    this.#parts.track(
      (async () => {
        while (wanted) {
          const found = await this.#judge(hash)
          if (wanted && found !== undefined) {
            this.#sought.delete(id)
            this.#verdict(hash, found)
            return this.#tell(header, found)
          }
          if (wanted) await pause()
        }
      })(),
    )
  }

  /** Looks for a body and judges the block; undefined when that has to be tried again. A valid one is on disk then. */
  async #judge(hash: Hash): Promise<BlockVerdict | undefined> {
    const { chain, log } = this.#parts
    const bytes = await this.#body(hash)
    if (bytes === undefined) return undefined
    try {
      const { header } = await chain.prepare(bytes)
      if (this.#closed) return undefined
      await this.keep(header, bytes)
      return 'valid'
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      // Nothing is said of a block by a body that is not the one its hash stands for, nor by a full queue.
      if (this.#closed || error.code === 'busy' || !(await bodyMatches(bytes, chain.sanity))) return undefined
      log.warn(
        { height: this.height, code: error.code, reason: error.message },
        'a block that is voted on is not valid',
      )
      return 'invalid'
    }
  }

  /** From the disk, or from whoever hands it out; undefined when nobody does, or it is too late. */
  async #body(hash: Hash): Promise<Uint8Array | undefined> {
    const { bodies, port } = this.#parts
    const bytes = bodies.get(hash) ?? (await Promise.race([port.fetch(hash), this.#end]))
    return bytes === undefined || this.#closed || !equalBytes(blockHashOf(bytes), hash) ? undefined : bytes
  }

  /** Puts a body on disk. Those that the vote may come back to are not the ones that make room. */
  async keep(header: Header, bytes: Uint8Array): Promise<void> {
    await this.#parts.bodies.put(header, bytes, this.machine.needed)
  }

  #verdict(hash: Hash, verdict: BlockVerdict): void {
    this.#verdicts.set(mapKey(hash), verdict)
    if (this.#verdicts.size > maxVerdicts) this.#verdicts.delete(this.#verdicts.keys().next().value as string)
  }

  #tell(header: Header, verdict: BlockVerdict): void {
    const { chain, clock } = this.#parts
    if (this.#closed) return
    this.#post({ type: 'block', hash: header.hash, verdict, timely: isTimely(header, chain, clock) })
  }

  async #testify(first: SignedMessage, second: SignedMessage): Promise<void> {
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
    const bytes = await this.#body(hash)
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
