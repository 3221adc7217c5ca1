/**
 * Ships the rows of a node to shards in another engine, exactly once and in order, beside the writer of the chain, which never waits.
 *
 *   Database.commit -> Outbox, in the same batch    rows of the batch that shards need
 *   Shipper: judgeShards                            may the shards get what follows? The digest of the journal tells
 *     -> fillShards                                 empty ones get all rows first
 *     -> Division                                   the same beside the steps, where shards are to be divided over them
 *     -> gatherStep -> RowEngine.apply              a step of some batches, the same for all shards; then the outbox loses it
 *     -> Sweeper                                    deletes what a shard had before it was divided
 *
 * Imports engine, errors, primitives, runtime, storage; used by api, node, cli.
 * - A shard is at a batch or at a later one, never between: its state tells what became of a step whose answer was lost.
 * - An engine that is down costs nothing but the outbox, which has a bound: beyond it the stream ends, and shards are filled again.
 */
import { UserError } from '../../base/errors/rule-error.js'
import type { Env } from '../../base/runtime/env.js'
import { downOrThrow, EngineDown } from '../engine/engine-down.js'
import type { ShardState, ShardWriter } from '../engine/row-engine.js'
import type { Database } from '../storage/database.js'
import { meta } from '../storage/rows/tables.js'
import { Alarm } from './alarm.js'
import { abortable } from '../../base/runtime/abortable.js'
import { fillShards } from './fill-shards.js'
import { highestEpoch, judgeShards, type Unfit } from './judge-shards.js'
import { databaseOf, placed } from '../engine/placement.js'
import { Division } from './division.js'
import { StandBy } from './stand-by.js'
import { Sweeper } from './sweeper.js'
import type { Member } from './member.js'
import { gatherStep, type ShippedStep, StreamBroken } from './shard-step.js'
import { ShippingFigures } from './shipping-figures.js'
import { Waiter } from './waiter.js'

/** Time that a step under way gets when the node ends: whether it was made, the shards tell at the next start. */
const lastWait = 2000
/** Time until the first attempt after a failure, and the longest. */
const patience = { first: 100, longest: 5000 }
/** @tuning count: batches that shards may wait for those that were filled for a division */
const nearBatches = 100
/** Time until databases that are room for a division, and do not answer, are asked again. */
const roomPause = 30_000
/** Time without a batch after which shards are told that there is none: their readers see that they are served. */
const beat = 10_000

export interface ShipperOptions extends Pick<Env, 'log' | 'random' | 'timers'> {
  readonly database: Database
  readonly engine: ShardWriter
  /** Hash of the genesis block. */
  readonly genesis: Uint8Array
  /** Whether shards with rows of others are filled anew at the start. */
  readonly takeOver?: boolean
  /**
   * Milliseconds without a sign of another node's shipping after which it takes its place, also later and again; undefined: it never does, and
   * ends where it is replaced.
   */
  readonly standBy?: number | undefined
}

/** Causes that end the shipping of this run; each is the code of a line of the log. */
type EndCode = 'ship-behind' | 'ship-replaced' | 'ship-foreign' | 'ship-failed'

/** Shipping has ended until the node is started again. */
class ShippingEnd extends Error {
  readonly code: EndCode

  constructor(code: EndCode, why: string) {
    super(why)
    this.code = code
  }
}

const fillHint = 'fill them from this directory with "didledger ship load", or start with --ship-take-over'

export class Shipper {
  readonly #options: ShipperOptions
  readonly #waiter: Waiter
  readonly #stop = new AbortController()
  readonly #stopListening: () => void
  /** Those that get the steps; undefined: not known, as at the beginning and after a failure. */
  #members: Member[] | undefined
  /** Work on databases over which shards will be divided, beside the steps of these. */
  #division: Division | undefined
  /** Room for a division that did not answer; it is asked again when the alarm rings. */
  #downRoom: EngineDown | undefined
  readonly #roomAlarm: Alarm
  /** Rings once shards have had no step for a while. */
  readonly #beatAlarm: Alarm
  readonly #sweeper: Sweeper
  readonly #standBy: StandBy | undefined
  #mayTakeOver: boolean
  /** Epoch of shards that have followed in this run; 0: none has. */
  #epoch = 0
  /** The last stream of the directory, which a full outbox ends. */
  #stream: Uint8Array | undefined
  #running: Promise<void> = Promise.resolve()
  readonly figures: ShippingFigures

  constructor(options: ShipperOptions) {
    this.#options = options
    this.#mayTakeOver = options.takeOver ?? false
    this.figures = new ShippingFigures(options.database.outbox, options.engine.shards)
    this.#waiter = new Waiter(options.timers)
    const wake = () => this.#waiter.wake()
    this.#roomAlarm = new Alarm(options.timers, roomPause, wake)
    this.#beatAlarm = new Alarm(options.timers, beat, wake)
    this.#beatAlarm.ring()
    this.#sweeper = new Sweeper(options.engine)
    this.#standBy = options.standBy === undefined ? undefined : new StandBy(options.standBy)
    this.#stopListening = options.database.outbox.onMoved(wake)
  }

  start(): void {
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#stopListening()
    for (const alarm of [this.#roomAlarm, this.#beatAlarm]) alarm.stop()
    this.#waiter.wake()
    const late = new Waiter(this.#options.timers)
    await Promise.race([this.#running, late.wait(lastWait)])
    late.wake()
  }

  async #run(): Promise<void> {
    let pause = patience.first
    while (!this.#stop.signal.aborted) {
      try {
        const isDone = await this.#round()
        if (pause > patience.first) this.#options.log.info({}, 'shards answer again')
        pause = patience.first
        if (isDone) await this.#waiter.wait(beat)
      } catch (error) {
        if (this.#stop.signal.aborted) break
        this.#members = undefined
        this.#standBy?.forget()
        const end = endOf(error)
        if (end !== undefined && !this.#mayRecover(end)) {
          this.figures.ended(end.code)
          this.#options.log.error({ code: end.code }, `shipping to shards has ended: ${end.message}`)
          this.#stop.abort()
          break
        }
        this.figures.failed()
        if (pause === patience.first) this.#options.log.warn({ error: String(error) }, 'shards do not answer')
        await this.#waiter.wait(pause)
        pause = Math.min(2 * pause, patience.longest)
      }
    }
    await this.#division?.ended
  }

  /** Makes one step; returns true where nothing is left to do. */
  async #round(): Promise<boolean> {
    const { database } = this.#options
    // A directory that has just begun, or that takes a state, has nothing to fill shards with.
    if (meta.tip.get(database) === undefined) return true
    this.#requireStream()
    this.#takeDivision()
    const members = (this.#members ??= await this.#follow())
    if (members === undefined) return true
    const sequences = members.map(({ state }) => state.sequence)
    const least = Math.min(...sequences)
    // Shards that were ahead at the beginning wait for the others.
    const ahead = sequences.filter((sequence) => sequence > least)
    const { state: from, place } = members.find(({ state }) => state.sequence === least) as Member
    this.#requireStream()
    const step = await gatherStep(database.outbox, from, place.shards, Math.min(...ahead))
    if (step === undefined && ahead.length > 0) throw new StreamBroken('batches that some shards lack are gone')
    if (step === undefined) return this.#rest(members)
    await this.#apply(step, members)
    // The database may be closed by now.
    if (this.#stop.signal.aborted) return true
    const done = Math.min(...members.map(({ state }) => state.sequence))
    const isDeleted = done === step.to.sequence && this.#division === undefined
    if (isDeleted) await database.outbox.delete({ sequence: done, total: step.total })
    await this.#sweeper.sweep(members)
    return false
  }

  /** With nothing to ship: divides shards for whose parts there are databases, deletes what they had of others, or tells them that there is nothing. */
  async #rest(members: readonly Member[]): Promise<boolean> {
    if (members.some(({ state, place }) => state.shards !== place.shards)) {
      await this.#repeat(members)
      return false
    }
    const isSwept = !(await this.#sweeper.sweep(members))
    if (this.#beatAlarm.isRinging) await this.#repeat(members)
    return isSwept
  }

  /** Looks at the shards again once room for their parts may be ready. Throws what kept it from that. */
  #takeDivision(): void {
    if (this.#roomAlarm.isRinging) this.#members = undefined
    if (this.#division?.isOver !== true) return
    const { error } = this.#division
    this.#division = undefined
    this.#members = undefined
    if (error !== undefined) throw error
  }

  /** Ends the shipping where shards that followed can no longer get what they lack, also while they do not answer. */
  #requireStream(): void {
    this.#ownStream()
    if (this.#options.database.outbox.position === undefined && this.#epoch > 0) {
      throw new ShippingEnd('ship-behind', `the outbox became full, and shards lack what it had; ${fillHint}`)
    }
  }

  /** The stream of the directory, also after a full outbox ended it; undefined: none in this run. */
  #ownStream(): Uint8Array | undefined {
    this.#stream = this.#options.database.outbox.position?.stream ?? this.#stream
    return this.#stream
  }

  /** The shards that may get what follows; those that are empty are filled. Undefined: another node ships to them, and this one stands by. */
  async #follow(): Promise<Member[] | undefined> {
    const { database, genesis, random } = this.#options
    for (;;) {
      const states = await this.#statesNow()
      const judgement = await judgeShards({ genesis, outbox: database.outbox, stream: this.#ownStream() }, states)
      if (judgement.kind === 'follow') return this.#divide(judgement.states)
      const epoch = highestEpoch(states) + 1
      const all = [...states.keys()]
      if (judgement.kind === 'fill') {
        const { empty, divided } = judgement
        const filled = () => this.#fill({ shards: empty, epoch: judgement.epoch })
        if (divided === undefined) await filled()
        else {
          this.#beside(filled)
          return this.#membersOf(divided)
        }
      } else if (judgement.kind !== 'empty' && !this.#mayReplace(judgement, states)) {
        if (this.#standBy === undefined || !judgement.mayReplace) throw this.#endOf(judgement, epoch - 1)
        if (!this.figures.isStandingBy) this.#options.log.info({ why: judgement.why }, 'standing by for shards')
        this.figures.standsBy(true)
        return undefined
      } else if (this.#downRoom !== undefined) throw this.#downRoom
      else await this.#fill({ shards: all, epoch, stream: random.bytes(16) })
    }
  }

  /** The states of all databases; without room for a division that does not answer, those of the shards alone. */
  async #statesNow(): Promise<(ShardState | undefined)[]> {
    const { engine, log } = this.#options
    const asked = Array.from({ length: engine.shards }, (_, shard) => engine.state(shard).catch(downOrThrow))
    const told = await abortable(this.#stop.signal, Promise.all(asked))
    const down = told.find((state) => state instanceof EngineDown)
    const states = told.map((state) => (state instanceof EngineDown ? undefined : state))
    const shards = placed(states)
    if (down !== undefined && (shards === undefined || shards.length === engine.shards)) throw down
    if (down !== undefined && this.#downRoom === undefined) {
      log.warn({ error: String(down) }, 'shards are not divided yet')
    }
    this.#downRoom = down
    if (down !== undefined) this.#roomAlarm.set()
    else this.#roomAlarm.stop()
    return down === undefined || shards === undefined ? states : [...shards]
  }

  /** The shards that get the next steps, of those that all follow: not their parts yet, as long as room for these is far behind. */
  #divide(states: readonly ShardState[]): Member[] {
    const members = this.#membersOf(states)
    const shards = placed(states)
    if (shards === undefined || shards.length === states.length) return members
    const near = Math.min(...shards.map(({ sequence }) => sequence)) - nearBatches
    const late = members.filter(({ state }) => state.sequence < near)
    if (late.length === 0) return members
    this.#beside(() => this.#catchUp(late))
    return this.#membersOf(shards)
  }

  /** Gives room for a division the steps of before. */
  async #catchUp(room: readonly Member[]): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const { state, place } = room.reduce((a, b) => (a.state.sequence <= b.state.sequence ? a : b))
      const others = room.map(({ state: { sequence } }) => sequence).filter((sequence) => sequence > state.sequence)
      const step = await gatherStep(this.#options.database.outbox, state, place.shards, Math.min(...others))
      if (step === undefined) return
      await this.#apply(step, room)
    }
  }

  #beside(work: () => Promise<void>): void {
    this.#division ??= new Division(work(), () => this.#waiter.wake())
  }

  /** Shards that follow, as they will be after the next step. */
  #membersOf(states: readonly ShardState[]): Member[] {
    const shards = states.length
    this.#mayTakeOver = false
    this.figures.standsBy(false)
    this.#epoch = highestEpoch(states)
    const databases = this.#options.engine.shards
    return states.map((state, number) => {
      const database = databaseOf(number, shards, databases)
      this.figures.moved(database, state)
      return { database, place: { number, shards }, state }
    })
  }

  /** A node that stands by waits also until it has the blocks that the shards have: no reader goes back. */
  #mayReplace({ mayReplace }: Unfit, states: readonly (ShardState | undefined)[]): boolean {
    const isBehind = (state: ShardState | undefined) =>
      state !== undefined && state.height > (meta.tip.get(this.#options.database)?.height ?? 0)
    const takesPlace = this.#standBy?.areLeft(states) === true && !states.some(isBehind)
    return mayReplace && (this.#mayTakeOver || takesPlace)
  }

  /** Whether a node that stands by may fill the shards again later, after an end for any other. */
  #mayRecover({ code }: ShippingEnd): boolean {
    if (this.#standBy === undefined || (code !== 'ship-behind' && code !== 'ship-replaced')) return false
    this.#epoch = 0
    return true
  }

  /** The end of shards that cannot get what follows; each filling has a higher epoch than the one before. */
  #endOf({ kind, why, mayReplace }: Unfit, epoch: number): ShippingEnd {
    if (kind === 'behind' || (mayReplace && epoch < this.#epoch)) {
      return new ShippingEnd('ship-behind', `the shards lost rows that they had: ${why}; ${fillHint}`)
    }
    if (this.#epoch > 0 && mayReplace)
      return new ShippingEnd('ship-replaced', `the shards were filled by another node: ${why}`)
    return new ShippingEnd(
      'ship-foreign',
      `the shards cannot get the rows of this node: ${why}${mayReplace ? `; ${fillHint}` : ''}`,
    )
  }

  async #fill(how: { shards: readonly number[]; epoch: number; stream?: Uint8Array }): Promise<void> {
    const { database, engine, genesis, log } = this.#options
    log.info({ shards: how.shards }, 'shards are being filled')
    const { signal } = this.#stop
    await fillShards({ database, engine, genesis, stream: undefined, signal, ...how })
    log.info({ shards: how.shards }, 'shards are filled')
  }

  /** Applies a step to the shards that are where it begins. */
  async #apply({ to, changes }: Pick<ShippedStep, 'to' | 'changes'>, members: readonly Member[]): Promise<void> {
    const { engine } = this.#options
    const least = Math.min(...members.map(({ state }) => state.sequence))
    const began = performance.now()
    const results = await Promise.allSettled(
      members.map(async (member) => {
        const { database, place, state: from } = member
        if (from.sequence !== least) return
        const { puts = [], dels = [] } = changes[place.number] ?? {}
        const step = { epoch: from.epoch, from, to: { ...to, ...place }, puts, dels }
        const result = await engine.apply(database, step)
        if (result === 'elsewhere') throw new EngineDown(database, 'it is not where it was')
        member.state = { ...from, ...step.to }
        this.figures.moved(database, to)
      }),
    )
    this.#beatAlarm.set()
    this.figures.applied((performance.now() - began) / 1000)
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /** A step without rows: it tells shards that they have all there is, and divides those that are not yet. */
  #repeat(members: readonly Member[]): Promise<void> {
    const { stream, sequence, digest, height, hash, time } = (members[0] as Member).state
    return this.#apply({ to: { stream, sequence, digest, height, hash, time }, changes: [] }, members)
  }
}

/** The end that an error is; undefined: to try again may help. */
function endOf(error: unknown): ShippingEnd | undefined {
  if (error instanceof ShippingEnd) return error
  if (error instanceof StreamBroken) return new ShippingEnd('ship-behind', `${error.message}; ${fillHint}`)
  if (error instanceof EngineDown || error instanceof UserError) return undefined
  return new ShippingEnd('ship-failed', error instanceof Error ? error.message : String(error))
}
