import type { GroundPlan } from './ground.js'
import type { Costs } from './processor.js'
import { Chance } from '../support/builders/chance.js'
import type { Habits } from './traitor.js'
import { fairWeather } from '../support/network/memory-network.js'

/** What a seed makes of a simulation: who takes part, and what goes wrong. */

export const everySide = -1

export interface Partition {
  /** Milliseconds after the storm began. */
  readonly from: number
  readonly until: number
  /** The side that each node is on; {@link everySide} for one that reaches all. */
  readonly sides: readonly number[]
  /** Whether connections end at once, or stay open and carry nothing. */
  readonly breaks: boolean
}

/** A time in which things go wrong; after it everything is mended. */
export interface Storm {
  /** Milliseconds. */
  readonly length: number
  readonly delay: readonly [number, number]
  readonly loss: number
  /** The same for what validators say to each other: they hear of different votes then, and some lock where others go on. */
  readonly muffled: number
  readonly duplication: number
  readonly partitions: readonly Partition[]
  /** Probability that a node crashes at one write. */
  readonly crashes: number
  /** Probability that a write fails. */
  readonly failures: number
  /** Probability a second that one connection breaks. */
  readonly breaks: number
  /** Probability a second that one node is stopped in order, to be started again. */
  readonly stops: number
}

/** Nodes whose work takes time, with a pool that fills more than one block. */
export interface Strain {
  /** What the work of each node costs. */
  readonly costs: readonly Costs[]
  /** Validators that never start; no more than may be faulty. */
  readonly absent: ReadonlySet<number>
  /** Heights to be confirmed, each within so many views. */
  readonly heights: number
}

export interface Scenario {
  readonly seed: number
  readonly plan: GroundPlan
  /** Validators of any height and followers. */
  readonly nodes: number
  readonly traitors: ReadonlyMap<number, Habits>
  /** Validators whose sign state may be gone after a crash; no more than may be faulty together with the traitors. */
  readonly forgetful: ReadonlySet<number>
  /** Milliseconds that each clock is off. */
  readonly skews: readonly number[]
  /** How fast the timers of each node run. */
  readonly rates: readonly number[]
  readonly storms: readonly Storm[]
  /** Milliseconds of a message when nothing is wrong. */
  readonly calm: readonly [number, number]
  /** Whether validators crash as they send a prevote for no block while they are locked on one. */
  readonly crashWhenLocked: boolean
  /** Transactions that are sent. */
  readonly transactions: number
  readonly strain?: Strain
}

const longestStorm = 30_000

export function scenarioOf(seed: number): Scenario {
  const chance = new Chance(seed).fork('scenario')
  const nodes = chance.pick([4, 4, 4, 5, 5, 6, 7, 7])
  const count = nodes === 4 ? 4 : chance.pick([4, 4, nodes])
  const validators = Array.from({ length: count }, (_, node) => node)
  const plan = planOf(chance, validators, nodes)
  // At every height there may be so many.
  const fewest = Math.min(count, plan.upgrade?.validators.length ?? count)
  const faulty = Math.floor((fewest - 1) / 3)
  const mixed = chance.shuffled(validators)
  const treason = chance.happens(0.4) ? chance.between(Math.min(1, faulty), faulty) : 0
  const traitors = new Map(mixed.slice(0, treason).map((node) => [node, habits(chance)]))
  const forgetful = new Set(chance.happens(0.3) ? mixed.slice(treason, faulty) : [])
  return {
    seed,
    plan,
    nodes,
    traitors,
    forgetful,
    skews: Array.from({ length: nodes }, () => chance.pick([0, 0, chance.between(-2_000, 2_000)])),
    rates: Array.from({ length: nodes }, () => 1 + (chance.fraction() - 0.5) / 50),
    storms: Array.from({ length: chance.pick([1, 1, 2]) }, () => storm(chance, nodes)),
    calm: [1, chance.pick([10, 100, 400])],
    crashWhenLocked: chance.happens(0.5),
    transactions: chance.between(0, 18),
  }
}

/** A storm in which nothing goes wrong. */
export function quiet(length: number): Storm {
  const nothing = { loss: 0, muffled: 0, duplication: 0, partitions: [], crashes: 0, failures: 0, breaks: 0, stops: 0 }
  return { length, delay: fairWeather.delay, ...nothing }
}

/** Some chains change their validators a few blocks from genesis: one joins, one leaves, or both. */
function planOf(chance: Chance, validators: readonly number[], nodes: number): GroundPlan {
  const emptyInterval = chance.pick([1_000, 3_000])
  if (!chance.happens(0.2)) return { validators, emptyInterval }
  const next = validators.length
  const others = chance.pick([
    ...(next < nodes
      ? [
          [...validators, next],
          [...validators.slice(1), next],
        ]
      : []),
    validators.slice(0, -1),
    [...validators].reverse(),
  ])
  return { validators, emptyInterval, upgrade: { height: 4, validators: others } }
}

function habits(chance: Chance): Habits {
  const some = () => chance.pick([0, 0, 0.3, 1])
  return {
    twins: some(),
    doubleVotes: some(),
    eagerness: some(),
    silence: chance.pick([0, 0, 0.2, 1]),
    forgery: chance.pick([0, 0, 0.2]),
  }
}

function storm(chance: Chance, nodes: number): Storm {
  const length = chance.between(5_000, longestStorm)
  // Where nothing else is wrong locks come about most often.
  if (chance.happens(0.25)) return { ...quiet(length), delay: [1, 300], muffled: 0.5, crashes: chance.pick([0, 0.01]) }
  return {
    length,
    delay: [1, chance.pick([20, 200, 1_000, 4_000])],
    loss: chance.pick([0, 0, 0.02, 0.1, 0.3]),
    muffled: chance.pick([0, 0, 0.3]),
    duplication: chance.pick([0, 0.05, 0.3]),
    partitions: chance.happens(0.5) ? partitions(chance, nodes, length) : [],
    crashes: chance.pick([0, 0, 0.01, 0.03, 0.1]),
    failures: chance.pick([0, 0, 0, 0.002]),
    breaks: chance.pick([0, 0, 0.1]),
    stops: chance.pick([0, 0, 0.05]),
  }
}

function partitions(chance: Chance, nodes: number, length: number): Partition[] {
  const list: Partition[] = []
  for (let from = chance.below(length / 2); from < length;) {
    const until = from + chance.between(1_000, length)
    const mixed = chance.shuffled(Array.from({ length: nodes }, (_, node) => node))
    const minority = chance.pick([1, Math.floor(nodes / 2), chance.between(1, nodes - 1)])
    const halves = Array.from({ length: nodes }, (_, node) => (mixed.indexOf(node) < minority ? 0 : 1))
    const scattered = halves.map(() => chance.pick([0, 1, 2, everySide]))
    list.push({ from, until, sides: chance.pick([halves, halves, scattered]), breaks: chance.happens(0.5) })
    from = until + chance.between(0, length / 2)
  }
  return list
}
