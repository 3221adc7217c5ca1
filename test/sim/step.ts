import { RuleError } from '../../src/base/errors/rule-error.js'
import { tipPatience } from '../../src/node/standing/pace.js'
import { txType } from '../../src/base/primitives/payload.js'
import { quorum } from '../../src/base/primitives/spec.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import { Chance } from '../support/builders/chance.js'
import { fairWeather, MemoryNetwork } from '../support/network/memory-network.js'
import { Agenda, runWorld } from './clock.js'
import { Disk } from './disk.js'
import { type Ground, groundOf, ownerOf } from './ground.js'
import { type Running, SimulatedNode, type EvaluationContext } from './node.js'
import { Violation } from './oracle.js'
import { Trace } from './trace.js'
import { Users } from './users.js'

/**
 * Simulates networks whose nodes join, stop, come back, are cut off, and have wrong clocks, and asks all of them about DIDs the
 * whole time. A node that is behind may never say that a DID does not exist, nor give an old state without its age.
 */

/** What a node does, or what becomes of it, at a time in milliseconds. */
type Act =
  | { readonly at: number; readonly kind: 'start' | 'stop' | 'crash'; readonly node: number; readonly skew?: number }
  | { readonly at: number; readonly kind: 'part'; readonly sides: readonly number[]; readonly breaks: boolean }
  | { readonly at: number; readonly kind: 'join' }

export interface StepScenario {
  readonly seed: number
  /** Whether validators make the blocks, or miners. */
  readonly votes: boolean
  readonly makers: number
  readonly nodes: number
  readonly acts: readonly Act[]
  readonly length: number
}

export interface StepReport {
  readonly trace: string
  readonly height: number
  /** Answers that were looked at, by what they said. */
  readonly answers: Readonly<Record<'state' | 'aged' | 'absent' | 'refused', number>>
  /** Looks at nodes that were behind by more than the pace of the chain. */
  readonly behind: number
}

const minute = 60_000
/** Milliseconds that honest makers of blocks are off. */
const tolerance = 4_000
/** Milliseconds until everybody is in step once all is mended, and for which it has to stay so. */
const mendLimit = 4 * minute
const calm = minute
const eventLimit = 2_000_000

export function stepScenario(seed: number): StepScenario {
  const chance = new Chance(seed).fork('step')
  const votes = chance.happens(0.5)
  const makers = votes ? 4 : 2
  const nodes = makers + 3
  const length = chance.between(4 * minute, 6 * minute)
  const followers = [makers, makers + 1, makers + 2]
  const lives = followers.flatMap((node) => livesOf(chance, node, length))
  const starts = Array.from(
    { length: makers },
    (_, node) => ({ at: chance.below(2_000), kind: 'start', node }) as const,
  )
  return {
    seed,
    votes,
    makers,
    nodes,
    length,
    acts: [...starts, ...lives, ...partitions(chance, makers, nodes, length)],
  }
}

/** A follower joins early or late, stops or crashes now and then, and comes back with the clock that it has then. */
function livesOf(chance: Chance, node: number, length: number): Act[] {
  const acts: Act[] = []
  let at = chance.pick([chance.below(2_000), chance.between(minute, length / 2)])
  acts.push({ at, kind: 'start', node, skew: skewOf(chance, at) })
  while (chance.happens(0.7)) {
    at += chance.between(10_000, 3 * minute)
    if (at > length) break
    acts.push({ at, kind: chance.pick(['stop', 'crash']), node })
    const off = chance.between(1_000, 4 * minute)
    at += off
    acts.push({ at, kind: 'start', node, skew: skewOf(chance, off) })
  }
  return acts
}

/** Often right; late by a day, or by just as long as the node was off; early. */
function skewOf(chance: Chance, off: number): number {
  return chance.pick([
    0,
    0,
    0,
    chance.between(-1_000, 1_000),
    -86_400_000,
    -off,
    86_400_000,
    chance.between(minute, 10 * minute),
  ])
}

/** Followers are cut off, each alone or from the makers together, or a minority of the makers with them. */
function partitions(chance: Chance, makers: number, nodes: number, length: number): Act[] {
  const acts: Act[] = []
  for (let at = chance.between(minute, 3 * minute); at < length;) {
    const alone = chance.happens(0.5)
    const taken = makers === 4 && chance.happens(0.3) ? chance.below(makers) : -1
    const sides = Array.from({ length: nodes }, (_, node) => {
      if (node === taken) return 1
      if (node < makers || chance.happens(0.3)) return 0
      return alone ? node : 1
    })
    const until = at + chance.between(5_000, 4 * minute)
    acts.push({ at, kind: 'part', sides, breaks: chance.happens(0.5) }, { at: until, kind: 'join' })
    at = until + chance.between(5_000, 2 * minute)
  }
  return acts
}

/** Simulates a scenario; a broken promise is thrown. */
export async function simulateStep(scenario: StepScenario, print?: (line: string) => void): Promise<StepReport> {
  const world = new StepWorld(scenario, print)
  return runWorld(world)
}

class StepWorld implements EvaluationContext {
  readonly agenda: Agenda
  readonly network: MemoryNetwork
  readonly ground: Ground
  readonly nodes: number
  readonly chance: Chance
  readonly made = new Set<string>()
  readonly asksDids = true
  readonly #scenario: StepScenario
  readonly #trace: Trace
  readonly #all: readonly SimulatedNode[]
  readonly #users: Users
  readonly #pace: number
  readonly #creations: readonly { readonly transaction: Transaction; readonly did: string }[]
  /** When the first node connected a block at each height, and created each DID. */
  readonly #connectedAt: number[] = [0]
  readonly #createdAt = new Map<string, number>()
  readonly #answers = { state: 0, aged: 0, absent: 0, refused: 0 }
  /** Nodes in step, while everything is mended. */
  readonly #settled = new Set<number>()
  #mended = false
  #behind = 0
  #sides: readonly number[] | undefined
  #broken: Error | undefined

  constructor(scenario: StepScenario, print?: (line: string) => void) {
    const { seed, votes, makers, nodes } = scenario
    const chance = new Chance(seed)
    const validators = votes ? Array.from({ length: makers }, (_, node) => node) : []
    this.#scenario = scenario
    this.chance = chance.fork('nodes')
    this.ground = groundOf({ validators, emptyInterval: 10_000, ...(votes ? {} : { spacing: 5 }) })
    this.nodes = nodes
    this.#pace = tipPatience(this.ground.spec)
    this.agenda = new Agenda((this.ground.spec.time + 3600) * 1000, chance.fork('ties'))
    this.#trace = new Trace(() => this.agenda.now(), print)
    this.network = new MemoryNetwork({ time: this.agenda, chance: chance.fork('wires') })
    this.network.weather.passes = (from, to) => this.#sides === undefined || this.#sides[from] === this.#sides[to]
    this.#all = Array.from({ length: nodes }, (_, number) => {
      const skew = number < makers ? chance.between(-500, 500) : 0
      return new SimulatedNode(number, { skew, rate: 1, validates: votes && number < makers, strained: false }, this)
    })
    this.#users = new Users(this.agenda, chance.fork('users'), this.#all.slice(0, makers), (line) =>
      this.#trace.add(line),
    )
    const created = this.ground.transactions.filter(({ transaction }) => transaction.type === txType.did)
    this.#creations = created.map(({ transaction }, index) => ({ transaction, did: ownerOf(index) }))
  }

  async run(): Promise<StepReport> {
    const { acts, length } = this.#scenario
    for (const act of acts) this.agenda.after(act.at, () => this.#act(act))
    this.#users.begin(this.ground.transactions, length)
    await this.#pass(length)
    this.#mend()
    // One that was cut off for less than the pace is in step until it learns what it missed.
    const newest = () => this.#connectedAt.length - 1
    const inStep = () =>
      this.#all.every(({ running }) => {
        const standing = running?.step?.standing()
        return standing?.inStep === true && standing.height >= newest() - 1
      })
    if (!(await this.#until(mendLimit, inStep))) throw new Violation(`not all are in step again: ${this.#states()}`)
    this.#mended = true
    await this.#pass(calm)
    return {
      ...{ trace: this.#trace.finish(), height: this.#connectedAt.length - 1 },
      ...{ answers: this.#answers, behind: this.#behind },
    }
  }

  broken(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Error(String(error))
  }

  wrap<Wrapped>(_node: SimulatedNode, transport: Wrapped): Wrapped {
    return transport
  }

  disk(): Disk {
    return new Disk({ lies: false })
  }

  verifier<Kept>(_node: SimulatedNode, verifier: Kept): Kept {
    return verifier
  }

  signStore<Kept>(_node: SimulatedNode, store: Kept): Kept {
    return store
  }

  fault(): undefined {
    return undefined
  }

  costs(): undefined {
    return undefined
  }

  mines({ number }: SimulatedNode): boolean {
    const { votes, makers } = this.#scenario
    return !votes && number < makers
  }

  opened(node: SimulatedNode, { chain }: Running): void {
    this.#trace.add(`n${node.number} opens at height ${chain.tip.header.height}, ${node.skew} ms off`)
    chain.events.on('change', ({ connected }) => {
      for (const { header } of connected) this.#connectedAt[header.height] ??= this.agenda.now()
      this.#note(chain)
    })
  }

  died(node: SimulatedNode, why: string): void {
    this.#trace.add(`n${node.number} ${why}`)
    if (why.startsWith('failed')) this.broken(new Violation(`n${node.number} ${why}`))
  }

  log(node: SimulatedNode, level: string, message: string): void {
    this.#trace.add(`    n${node.number} ${level} ${message}`)
  }

  #act(act: Act): void {
    if (act.kind === 'part') this.#part(act.sides, act.breaks)
    else if (act.kind === 'join') this.#sides = undefined
    else {
      const node = this.#all[act.node] as SimulatedNode
      if (act.kind === 'start') {
        node.skew = this.#skewFor(act.node, act.skew ?? node.skew)
        node.start()
      } else if (act.kind === 'stop') node.stop()
      else node.crash()
    }
  }

  /**
   * A late clock is seen by blocks, not by nodes that are as far behind: a node that meets only such ones cannot know it, and is left
   * out. So is one that starts alone: when wires are whole again, it may meet such a node before the makers.
   */
  #skewFor(node: number, skew: number): number {
    const sides = this.#sides
    if (sides === undefined || skew > -tolerance) return skew
    const { makers, votes } = this.#scenario
    const present = sides.filter((side, other) => other < makers && other !== node && side === sides[node]).length
    return present < (votes ? quorum(makers) : makers) ? 0 : skew
  }

  #part(sides: readonly number[], breaks: boolean): void {
    // For the reason that #skewFor has, one with a late clock stays with the makers.
    const taken = sides.map((side, node) => ((this.#all[node]?.skew ?? 0) < -tolerance ? 0 : side))
    this.#trace.add(`parted ${taken.join()}`)
    this.#sides = taken
    if (!breaks) return
    for (const { number } of this.#all) {
      for (const link of [...this.network.links(number)]) if (taken[link.far.node] !== taken[number]) link.cut()
    }
  }

  /** All wires are whole, and every node runs with the right clock. */
  #mend(): void {
    this.#trace.add('mended')
    this.#sides = undefined
    this.network.weather.delay = fairWeather.delay
    for (const node of this.#all) {
      if (Math.abs(node.skew) > tolerance) {
        node.crash()
        node.skew = 0
      }
      node.start()
    }
  }

  async #pass(milliseconds: number): Promise<void> {
    await this.#until(milliseconds, () => false)
  }

  async #until(milliseconds: number, holds: () => boolean): Promise<boolean> {
    const limit = this.agenda.now() + milliseconds
    let asked = this.agenda.now()
    while (!holds()) {
      if (!(await this.agenda.step(limit))) return holds()
      if (this.#broken !== undefined) throw this.#broken
      for (const node of this.#all) this.#examine(node)
      if (this.agenda.now() - asked >= 2_000) {
        asked = this.agenda.now()
        for (const node of this.#all) await this.#ask(node)
      }
      if (this.agenda.count > eventLimit) throw new Violation(`${eventLimit} events`)
    }
    return true
  }

  /** Since when the block after a height is there, in milliseconds; 0: it is not. */
  #missedFor(height: number): number {
    const at = this.#connectedAt[height + 1]
    return at === undefined ? 0 : this.agenda.now() - at
  }

  #isBehind(height: number): boolean {
    return this.#missedFor(height) > this.#pace + tolerance
  }

  /** At every step: a node in step is not behind, and one that is mended does not flap. */
  #examine({ number, running, skew }: SimulatedNode): void {
    const standing = running?.step?.standing()
    if (standing === undefined) return
    const { height, inStep } = standing
    if (this.#isBehind(height)) {
      this.#behind++
      if (inStep) throw new Violation(`n${number} is in step at height ${height}, ${skew} ms off: ${this.#states()}`)
    }
    if (!this.#mended) return
    if (inStep) this.#settled.add(number)
    else if (this.#settled.has(number))
      throw new Violation(
        `n${number} fell out of step again: ${JSON.stringify([standing, running?.network?.sync.beyond, this.agenda.now(), skew])}`,
      )
  }

  async #ask({ number, running }: SimulatedNode): Promise<void> {
    if (running?.resolver === undefined || running.step === undefined) return
    const did = this.chance.pick(this.#creations).did
    const { inStep, height, age } = running.step.standing()
    try {
      const { status, context, outOfStep } = await running.resolver.resolve(did, { context: true })
      const what = status === 3 ? 'absent' : outOfStep === undefined ? 'state' : 'aged'
      this.#answers[what]++
      const isOld = this.#missedFor(this.#createdHeight(did) - 1) > this.#pace + tolerance
      if (status === 3 && (!inStep || isOld)) throw new Violation(`n${number} denies ${did} at height ${height}`)
      if (outOfStep === undefined && this.#isBehind(context?.height ?? height)) {
        throw new Violation(`n${number} gives a state of height ${context?.height} without its age`)
      }
      if (outOfStep !== undefined && (outOfStep.height !== height || outOfStep.age !== age)) {
        throw new Violation(`n${number} gives the age ${outOfStep.age} at height ${outOfStep.height}`)
      }
    } catch (error) {
      if (!(error instanceof RuleError) || error.code !== 'resolver-behind') throw error
      if (inStep) throw new Violation(`n${number} refuses though it is in step: ${error.message}`)
      this.#answers.refused++
    }
  }

  /** Height at which a DID was created first; infinite of one that was not. */
  #createdHeight(did: string): number {
    return this.#createdAt.get(did) ?? Infinity
  }

  /** Notes the DIDs that a chain has by now. */
  #note(chain: Running['chain']): void {
    for (const { transaction, did } of this.#creations) {
      const row = this.#createdAt.has(did) ? undefined : chain.database.get(tables.location.key(transaction.hash))
      if (row !== undefined) this.#createdAt.set(did, tables.location.decode(row).height)
    }
  }

  #states(): string {
    return this.#all
      .map(({ number, running, skew }) => `n${number} ${skew} ${JSON.stringify(running?.step?.standing() ?? 'down')}`)
      .join('; ')
  }
}
