import { isDeepStrictEqual } from 'node:util'
import { RuleError } from '../../src/base/errors/rule-error.js'
import type { Verifier } from '../../src/base/crypto/verifier.js'
import { equalBytes, toHex } from '../../src/base/primitives/bytes.js'
import { coinDepth } from '../../src/base/primitives/coin-depth.js'
import { genesisBlock } from '../../src/base/primitives/genesis.js'
import { chainInfo } from '../../src/answers/api/results/chain-info.js'
import type { Chain } from '../../src/ledger/chain/chain.js'
import { lateModules } from '../../src/ledger/chain/late-modules.js'
import { ChainReader } from '../../src/ledger/chain/reader.js'
import { hashOf } from '../../src/ledger/state/part-store.js'
import type { StateKeeper } from '../../src/ledger/state/state-keeper.js'
import type { DiskFiles } from '../../src/ledger/storage/disk-files.js'
import type { Database } from '../../src/ledger/storage/database.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import type { Transport } from '../../src/network/link.js'
import { partKind } from '../../src/ledger/state/parts.js'
import { stateSliceExchange } from '../../src/network/wire/state-message.js'
import { Backfill } from '../../src/node/backfill.js'
import { fromPeers, joinWithin } from '../../src/node/join-state.js'
import { comparable, recentRows, rowsOf, wholeRows } from '../support/builders/joined-chain.js'
import { Chance } from '../support/builders/chance.js'
import { addressOf, identityOf, MemoryNetwork } from '../support/network/memory-network.js'
import type { MemoryTransport } from '../support/network/memory-transport.js'
import { Agenda, runWorld } from './clock.js'
import { Disk, type Fault } from './disk.js'
import { type GivenBlock, type JoinGround, joinGroundOf, type JoinPlan, ListedState } from './join-ground.js'
import type { Ground } from './ground.js'
import { Liar, liarsOf, type Lies } from './liar.js'
import { type Beginning, type EvaluationContext, type Running, SimulatedNode } from './node.js'
import { Violation } from './oracle.js'
import { SimulatedFiles, type Touch } from './simulated-files.js'
import { Trace } from './trace.js'

/**
 * Simulates nodes that begin with the state of their peers, some of which lie, while they are killed and cut off and the chain grows. Their
 * rows may never differ from those of a node that verified everything.
 */

/** What a node that joins is at. Writes of parts, of the rows of the state, their move into place, and what is tidied up; rows of the chain, of the history below it, and of its move. */
const phases = ['parts', 'rows', 'adopt', 'tidy', 'chain', 'history', 'moving'] as const
type Phase = (typeof phases)[number]

/** Writes of a phase after which something may happen. */
const reach: Record<Phase, number> = { parts: 60, rows: 5, adopt: 1, tidy: 5, chain: 12, history: 8, moving: 30 }

/** What happens, and for how many milliseconds: a kill at a write, the honest out of reach, or all, or an honest peer that leaves. */
interface Trouble {
  readonly phase: Phase
  readonly nth: number
  readonly what: 'crash-before' | 'crash-after' | 'part' | 'alone' | 'leave'
  readonly lasts: number
  /** Whether connections end where wires part. */
  readonly breaks: boolean
}

export interface JoinScenario {
  readonly seed: number
  readonly plan: JoinPlan
  readonly honest: number
  readonly liars: readonly Lies[]
  readonly troubles: readonly Trouble[]
  /** Milliseconds from one new block to the next. */
  readonly pace: number
}

export interface JoinReport {
  readonly trace: string
  readonly height: number
  /** Whether the node had a state of others; else it verified everything from the first block on. */
  readonly joined: boolean
  /** Kills by what the node was at. */
  readonly kills: Readonly<Record<Phase, number>>
  readonly partings: number
  /** Lies by their names. */
  readonly lies: Readonly<Record<string, number>>
  /** Comparisons of rows before the history was there. */
  readonly early: number
}

/** Hands in faults of its own: a simulation that does not find them would find no others. */
export interface JoinTampering {
  readonly files?: (files: DiskFiles) => DiskFiles
  readonly verifier?: (verifier: Verifier) => Verifier
}

/** Milliseconds in which a node has joined and has its history once nothing goes wrong any more. */
const joinLimit = 45 * 60_000
const eventLimit = 2_000_000
const second = 1000

export function joinScenario(seed: number): JoinScenario {
  const chance = new Chance(seed).fork('join')
  const isWork = chance.happens(0.4)
  const interval = coinDepth + chance.between(12, 42)
  // Some come to the next state while a node joins.
  const base = chance.happens(0.12) ? 2 * interval - chance.between(1, 6) : interval + chance.between(0, 25)
  const growth = chance.between(8, 25)
  // More liars than honest peers, who are believed first.
  const collude = chance.happens(0.35)
  const honest = collude ? chance.between(1, 2) : chance.between(2, 4)
  const liars = liarsOf(chance, collude ? 3 : chance.pick([0, 1, 2, 3]), collude)
  const isForked = liars.some(({ list, slice }) => list === 'forked' || slice === 'other')
  const state = base - (base % interval) - coinDepth
  const plan: JoinPlan = {
    ...{ seed, interval, base, growth },
    further: chance.between(3, 8),
    validators: isWork ? [] : validatorsOf(chance, interval + growth),
    writing: { leavesAtOnce: chance.between(1, 6), bytes: chance.pick([500, 1500, 4000]) },
    ...(isWork && chance.happens(0.6) && { branch: Math.max(state + 2, base + growth - branchDepth(chance, growth)) }),
    ...(isForked && { fork: chance.between(2, interval - coinDepth - 2) }),
  }
  const troubles = Array.from({ length: chance.pick([0, 1, 2, 3, 4, 5]) }, () => troubleOf(chance))
  return { seed, plan, honest, liars, troubles, pace: chance.pick([1_500, 4_000]) }
}

/** Peers without liars, one validator, and nothing that goes wrong but for what is changed. */
export function plainJoin(changes: Partial<JoinScenario> = {}): JoinScenario {
  const { plan, ...scenario } = joinScenario(1)
  const { seed, writing } = plan
  // A state with all kinds of rows.
  const interval = coinDepth + 42
  const small = { seed, interval, writing, base: interval, growth: 2, further: 1 }
  const validators = [{ height: 0, count: 1 }]
  return { ...scenario, plan: { ...small, validators }, honest: 2, liars: [], troubles: [], ...changes }
}

/** Others confirm from heights on, below the state, between it and the block that commits to it, or above. */
function validatorsOf(chance: Chance, top: number): JoinPlan['validators'] {
  const changes = chance.pick([0, 1, 1, 2])
  const heights = Array.from({ length: changes }, () => chance.pick([chance.between(2, 40), chance.between(2, top)]))
  const sorted = [...new Set(heights)].sort((a, b) => a - b)
  let count = chance.pick([1, 1, 3])
  return [0, ...sorted].map((height) => {
    const here = count
    count = chance.pick([1, 2, 3, 4].filter((other) => other !== here))
    return { height, count: here }
  })
}

function branchDepth(chance: Chance, growth: number): number {
  return chance.pick([chance.between(1, growth), chance.between(1, growth), chance.between(growth, 120)])
}

function troubleOf(chance: Chance): Trouble {
  const phase = chance.pick([...phases, 'parts', 'parts', 'history', 'moving'] as const)
  const what = chance.pick(['crash-before', 'crash-after', 'crash-after', 'part', 'alone', 'leave'] as const)
  const lasts = chance.pick([chance.between(100, 3_000), chance.between(3_000, 90_000)])
  return { phase, nth: chance.between(1, reach[phase]), what, lasts, breaks: chance.happens(0.5) }
}

/** Simulates a scenario; a broken promise is thrown. */
export async function simulateJoin(
  scenario: JoinScenario,
  print?: (line: string) => void,
  tampering: JoinTampering = {},
): Promise<JoinReport> {
  // Loading takes time of the system, which is not that of the simulation.
  for (const load of Object.values(lateModules)) await load()
  const ground = await joinGroundOf(scenario.plan)
  const world = new JoinWorld(scenario, ground, { print, tampering })
  return runWorld(world)
}

/** Places on the disk of the node that joins. */
const directory = {
  database: '/chain',
  joining: '/chain.joining',
  joiningRows: '/chain.rows',
  joiningPeers: '/chain.peers',
  parts: '/chain.parts',
  history: '/chain.history',
}

class JoinWorld implements EvaluationContext {
  readonly agenda: Agenda
  readonly network: MemoryNetwork
  readonly ground: Ground
  readonly nodes: number
  readonly chance: Chance
  readonly made = new Set<string>()
  readonly #scenario: JoinScenario
  readonly #join: JoinGround
  readonly #tampering: JoinTampering
  readonly #trace: Trace
  readonly #honest: readonly SimulatedNode[]
  readonly #liars: readonly SimulatedNode[]
  readonly #joiner: SimulatedNode
  readonly #files = new SimulatedFiles()
  readonly #troubles: Set<Trouble>
  readonly #touches = Object.fromEntries(phases.map((phase) => [phase, 0])) as Record<Phase, number>
  readonly #kills = Object.fromEntries(phases.map((phase) => [phase, 0])) as Record<Phase, number>
  readonly #lies: Record<string, number> = {}
  readonly #refetched = new Refetched()
  /** The transport of a life before it has a chain. */
  #joining: MemoryTransport | undefined
  #beginning: (Beginning & { readonly files: DiskFiles }) | undefined
  /** Milliseconds that the node is down after a kill. */
  #down = second
  #sides: readonly number[] | undefined
  #partings = 0
  /** All blocks that come, how many have come, and how many have to for now. */
  readonly #blocks: readonly GivenBlock[]
  #given = 0
  #wanted: number
  #early = 0
  #comparedAt = ''
  #examinedAt = ''
  #hasJoined = false
  #broken: Error | undefined

  constructor(
    scenario: JoinScenario,
    ground: JoinGround,
    { print, tampering }: { readonly print?: ((line: string) => void) | undefined; readonly tampering: JoinTampering },
  ) {
    const { seed, honest, liars, troubles } = scenario
    const chance = new Chance(seed)
    this.#scenario = scenario
    this.#join = ground
    this.#blocks = [...ground.growth, ...ground.further]
    this.#wanted = ground.growth.length
    this.#tampering = tampering
    this.chance = chance.fork('nodes')
    const { spec } = ground
    this.ground = { spec, genesis: genesisBlock(spec).header.hash, transactions: [], crowd: [] }
    this.nodes = honest + liars.length + 1
    this.agenda = new Agenda(ground.start, chance.fork('ties'))
    this.#trace = new Trace(() => this.agenda.now(), print)
    this.network = new MemoryNetwork({
      time: this.agenda,
      chance: chance.fork('wires'),
      tap: { arrived: (from, to, what, bytes) => this.#arrived(from, to, what, bytes) },
    })
    this.network.weather.passes = (from, to) => this.#sides === undefined || this.#sides[from] === this.#sides[to]
    this.#troubles = new Set(troubles)
    const node = (number: number) =>
      new SimulatedNode(number, { skew: 0, rate: 1, validates: false, strained: false }, this)
    const all = Array.from({ length: this.nodes }, (_, number) => node(number))
    this.#honest = all.slice(0, honest)
    this.#liars = all.slice(honest, -1)
    this.#joiner = all.at(-1) as SimulatedNode
    for (const { disk } of [...this.#honest, ...this.#liars]) disk.fill(ground.rows)
  }

  async run(): Promise<JoinReport> {
    for (const node of [...this.#honest, ...this.#liars]) this.agenda.after(this.chance.below(500), () => node.start())
    this.agenda.after(this.chance.below(3_000), () => this.#joiner.start())
    this.#grow()
    const isWhole = () =>
      this.#isAtTip() && this.#joiner.running?.chain.joinedHeight === 0 && !this.#files.has(directory.history)
    await this.#require('a node that joined and has its history', isWhole)
    await this.#compareAll('with its history')
    if (this.chance.happens(0.5)) this.#joiner.crash()
    this.#wanted = this.#blocks.length
    await this.#require('further blocks', isWhole)
    await this.#compareAll('with further blocks')
    return {
      ...{ trace: this.#trace.finish(), height: this.#blocks.at(-1)?.height ?? 0 },
      ...{
        joined: this.#hasJoined,
        kills: this.#kills,
        partings: this.#partings,
        lies: this.#lies,
        early: this.#early,
      },
    }
  }

  broken(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Error(String(error))
  }

  wrap(node: SimulatedNode, transport: MemoryTransport): Transport {
    const lies = this.#scenario.liars[this.#liars.indexOf(node)]
    if (lies === undefined) return transport
    const told = (lie: string) => {
      this.#lies[lie] = (this.#lies[lie] ?? 0) + 1
      this.#trace.add(`n${node.number} lies: ${lie}`)
    }
    const { agenda } = this
    const { forked, states } = this.#join
    const chance = this.chance.fork(`liar ${node.number}`)
    const pick = new Chance(this.#scenario.seed).fork('part').below(2 ** 31)
    return new Liar({ transport, lies, agenda, chance, states, pick, forked, told })
  }

  disk(): Disk {
    return new Disk()
  }

  verifier(node: SimulatedNode, verifier: Verifier): Verifier {
    return node === this.#joiner ? (this.#tampering.verifier?.(verifier) ?? verifier) : verifier
  }

  signStore<Kept>(_node: SimulatedNode, store: Kept): Kept {
    return store
  }

  /** Of rows of the chain. */
  fault(node: SimulatedNode): Fault | undefined {
    if (node !== this.#joiner) return undefined
    const { joinedHeight = 0, verifiedHeight = 0 } = this.#joiner.running?.chain ?? {}
    return this.#touched(joinedHeight > 0 && verifiedHeight === joinedHeight ? 'moving' : 'chain')
  }

  costs(): undefined {
    return undefined
  }

  begins(node: SimulatedNode, beginning: Beginning): Promise<void> | undefined {
    return node === this.#joiner ? this.#begin(beginning) : undefined
  }

  async #begin(beginning: Beginning): Promise<void> {
    const { life, env, verifier } = beginning
    this.#refetched.begin()
    const real = this.#files.within(life, (touch) => this.#touchedPath(touch))
    const files = this.#tampering.files?.(real) ?? real
    this.#beginning = { ...beginning, files }
    const peering = async () => {
      const transport = (this.#joining = this.network.plug(this.#joiner.number))
      const peers = [...this.#honest, ...this.#liars].map(({ number }) => addressOf(number))
      const { publicKey } = identityOf(this.#joiner.number)
      return { transport, publicKey, settings: { peers, outbound: 8, inbound: 32 } }
    }
    await joinWithin({ directory, files, peering }, fromPeers, { spec: this.ground.spec, env }, verifier)
    this.#joiner.disk = this.#files.database(directory.database)
  }

  keeper(node: SimulatedNode, chain: Chain): StateKeeper | undefined {
    if (node === this.#joiner) return undefined
    const { states } = this.#join
    const kept = {
      get latest() {
        const state = states.findLast((one) => one.isOf(chain))
        return state && { state, committing: state.committing }
      },
      drop: () => Promise.resolve(),
    }
    return kept as unknown as StateKeeper
  }

  opened(node: SimulatedNode, { chain, network }: Running): void {
    this.#trace.add(`n${node.number} opens at height ${chain.tip.header.height}, state ${chain.joinedHeight}`)
    if (node !== this.#joiner || this.#beginning === undefined || network === undefined) return
    this.#hasJoined ||= chain.joinedHeight > 0
    const { env, verifier, files } = this.#beginning
    const { bytes: bytesAtOnce } = this.#scenario.plan.writing
    new Backfill({ ...env, chain, directory: directory.history, verifier, network, files, bytesAtOnce }).start()
  }

  died(node: SimulatedNode, why: string): void {
    this.#trace.add(`n${node.number} ${why}`)
    if (why.startsWith('failed')) this.broken(new Violation(`n${node.number} ${why}`))
    if (node !== this.#joiner) return
    this.#joining?.die()
    this.#files.losePower(this.chance)
    this.agenda.after(this.#down, () => node.start())
  }

  log(node: SimulatedNode, level: string, message: string, fields: Record<string, unknown>): void {
    this.#trace.add(`    n${node.number} ${level} ${message} ${JSON.stringify(fields, bigint)}`)
    const isPunished = message === 'a peer is banned' || message.startsWith('a peer breaks rules;')
    const isLiar = this.#liars.some(({ number }) => fields['peer'] === identityOf(number).name)
    if (isPunished && !isLiar) this.broken(new Violation(`n${node.number} punishes ${JSON.stringify(fields)}`))
    if (message.startsWith('no peer has a state')) this.#refetched.removed(directory.parts)
    if (level === 'error' && node === this.#joiner) {
      this.broken(new Violation(`n${node.number} has an error: ${message} ${JSON.stringify(fields)}`))
    }
  }

  #touchedPath({ path, what }: Touch): Fault | undefined {
    if (what === 'remove') {
      if (path !== directory.parts || this.#files.has(directory.database)) this.#refetched.removed(path)
      return this.#touched('tidy')
    }
    if (path.startsWith(directory.parts)) return this.#touched('parts')
    if (path === directory.joining) return this.#touched('rows')
    if (path === directory.history) return this.#touched('history')
    return path === directory.database ? this.#touched('adopt') : undefined
  }

  /** Counts a write, and has happen what was planned for it. */
  #touched(phase: Phase): Fault | undefined {
    const count = ++this.#touches[phase]
    const trouble = [...this.#troubles].find((one) => one.phase === phase && one.nth <= count)
    if (trouble === undefined) return undefined
    this.#troubles.delete(trouble)
    const { what, lasts } = trouble
    this.#trace.add(`${what} for ${lasts} ms at write ${count} of ${phase}`)
    if (what === 'crash-before' || what === 'crash-after') {
      this.#kills[phase]++
      this.#down = lasts
      return what
    }
    this.agenda.after(0, () => (what === 'leave' ? this.#leave(lasts) : this.#part(trouble)))
    return undefined
  }

  #leave(lasts: number): void {
    const node = this.chance.pick(this.#honest)
    node.crash()
    this.agenda.after(lasts, () => node.start())
  }

  /** The node that joins keeps the liars, or loses all. */
  #part({ what, lasts, breaks }: Trouble): void {
    const sides = Array.from({ length: this.nodes }, (_, number) =>
      number === this.#joiner.number || (what === 'part' && number >= this.#honest.length) ? 1 : 0,
    )
    this.#sides = sides
    this.#partings++
    this.agenda.after(lasts, () => {
      if (this.#sides === sides) this.#sides = undefined
    })
    if (!breaks) return
    for (let number = 0; number < this.nodes; number++) {
      for (const link of [...this.network.links(number)]) if (sides[link.far.node] !== sides[number]) link.cut()
    }
  }

  /** One block after another comes to some honest node. */
  #grow(): void {
    this.agenda.after(this.#scenario.pace, () => {
      if (this.#given < this.#wanted) this.#given++
      if (!this.#isAtTip()) void this.#give(this.chance.pick(this.#honest))
      this.#grow()
    })
  }

  async #give({ running }: SimulatedNode): Promise<void> {
    if (running === undefined) return
    const { chain } = running
    for (const { hash, bytes, confirm } of this.#blocks.slice(0, this.#given)) {
      const status = chain.headers.get(hash)?.status
      if (status === 'active' || status === 'side') continue
      await chain.acceptBlock(bytes, confirm).catch((error: unknown) => {
        if (!(error instanceof RuleError)) this.broken(error)
      })
    }
  }

  /** All honest nodes and the one that joins have all blocks. */
  #isAtTip(): boolean {
    const last = this.#blocks[this.#given - 1]
    return [...this.#honest, this.#joiner].every(
      ({ running }) =>
        last !== undefined && running !== undefined && equalBytes(running.chain.tip.header.hash, last.hash),
    )
  }

  async #require(what: string, holds: () => boolean): Promise<void> {
    const limit = this.agenda.now() + joinLimit
    const isDone = () => this.#given === this.#wanted && holds()
    while (!isDone()) {
      const goesOn = await this.agenda.step(limit)
      if (this.#broken !== undefined) throw this.#broken
      if (!goesOn) throw new Violation(`waited ${joinLimit} ms for ${what}: ${this.#states()}`)
      this.#examine()
      await this.#compareEarly()
      if (this.agenda.count > eventLimit) throw new Violation(`${eventLimit} events, waiting for ${what}`)
    }
  }

  /** What the node says of its own chain holds at any moment. */
  #examine(): void {
    const { chain } = this.#joiner.running ?? {}
    if (chain === undefined) return
    const { joinedHeight, verifiedHeight, prunedHeight, tip } = chain
    const now = `${joinedHeight} ${verifiedHeight} ${prunedHeight} ${tip.header.height}`
    if (now === this.#examinedAt) return
    this.#examinedAt = now
    const { height, joined, pruned, verified } = chainInfo(new ChainReader(chain)) as Record<string, number | undefined>
    const said = `getchaininfo says ${JSON.stringify({ height, joined, pruned, verified })}`
    if (joined !== pruned) throw new Violation(`${said}: what it took is what it lacks`)
    if (joined === undefined) return this.#requireBodies(chain, said)
    if (verified === undefined || verified > joined) throw new Violation(said)
    const history = this.#files.database(directory.history)
    if (verified > 0 && !history.keeps(tables.active.key(verified))) throw new Violation(`${said}: it is not on disk`)
  }

  #requireBodies({ database, headers, tip, spec }: Chain, said: string): void {
    for (let height = 1; height <= tip.header.height; height++) {
      const { header, transactionCount } = headers.activeAt(height)
      const isThere =
        database.get(tables.transaction.key(height, transactionCount - 1)) !== undefined &&
        database.get(tables.undo.key(height)) !== undefined &&
        (!spec.hasValidators || database.get(tables.confirm.key(header.hash)) !== undefined)
      if (!isThere) throw new Violation(`${said}: block ${height} is not there`)
    }
  }

  /** Compares what a state gives, while the history is missing and both nodes have one tip. */
  async #compareEarly(): Promise<void> {
    const [first] = this.#honest
    const [joined, whole] = [this.#joiner.running?.chain, first?.running?.chain]
    if (joined === undefined || whole === undefined || joined.joinedHeight === 0) return
    const { joinedHeight, verifiedHeight, tip } = joined
    const now = `${joinedHeight} ${verifiedHeight > 0} ${verifiedHeight === joinedHeight} ${this.#joiner.lives}`
    if (now === this.#comparedAt || tip.header.id !== whole.tip.header.id) return
    this.#comparedAt = now
    this.#early++
    const rows = async (database: Database) => {
      const all = await comparable(database, joinedHeight)
      const headers = all['headers'] as { readonly status: string }[]
      return { ...all, headers: headers.filter(({ status }) => status === 'active') }
    }
    const when = `at height ${tip.header.height}`
    requireEqual(when, await rows(joined.database), await rows(whole.database))
    // Of transactions below the state it has some.
    const mine = await rowsOf(joined.database, tables.transaction)
    const right = await rowsOf(whole.database, tables.transaction)
    const some = new Map([...right].filter(([key]) => mine.has(key)))
    requireEqual(when, { transaction: mine }, { transaction: some })
  }

  /** Compares all rows that follow from the chain. */
  async #compareAll(when: string): Promise<void> {
    const joined = this.#joiner.running?.chain.database as Database
    const whole = this.#honest[0]?.running?.chain.database as Database
    this.#trace.add(`rows are compared ${when}`)
    requireEqual(when, await wholeRows(joined), await wholeRows(whole))
    requireEqual(when, ...(await recentRows(joined, whole)))
    const left = [directory.joining, directory.joiningPeers, directory.history].find((path) => this.#files.has(path))
    if (left !== undefined) throw new Violation(`${left} is left ${when}`)
    await this.#requireParts(when)
  }

  /** The parts that the node has for its peers are those of all others, but for proofs of work: bits of them that nothing binds may differ. */
  async #requireParts(when: string): Promise<void> {
    const { chain } = this.#joiner.running as Running
    const mine = await ListedState.of(chain, this.#scenario.plan.writing)
    const right = this.#join.states.findLast((one) => one.isOf(chain)) as ListedState
    const compared = (state: ListedState) =>
      state.list(0, state.total).filter(({ kind }) => chain.spec.hasValidators || kind !== partKind.headers)
    requireEqual(`of its state ${when}`, { ...compared(mine) }, { ...compared(right) })
  }

  #arrived(from: number, to: number, what: string, bytes: Uint8Array): void {
    this.#trace.add(`${what} n${from} > n${to}, ${bytes.length} bytes`)
    const isHonest = (node: number) => node < this.#honest.length
    if (what === `? ${stateSliceExchange.protocol.name}` && from === this.#joiner.number && isHonest(to)) {
      const { block, index } = stateSliceExchange.question.decode(bytes)
      const state = this.#join.states.find(({ committing }) => equalBytes(committing.header.hash, block))
      const part = state?.list(index, 1)[0]
      if (part !== undefined) this.#refetched.asked(toHex(part.hash))
    }
    if (what === `! ${stateSliceExchange.protocol.name}` && to === this.#joiner.number) {
      this.#refetched.came(toHex(hashOf(bytes)))
    }
    if (this.#refetched.again > this.nodes - 1) {
      this.broken(new Violation(`${this.#refetched.again} parts are fetched again after a kill`))
    }
  }

  #states(): string {
    const all = [...this.#honest, this.#joiner].map(({ number, alive, running }) => {
      const { tip, joinedHeight, verifiedHeight } = running?.chain ?? {}
      const progress = JSON.stringify(running?.network?.sync.progress())
      return `n${number} ${alive ? '' : 'down '}${tip?.header.height} state ${joinedHeight} verified ${verifiedHeight} ${progress}`
    })
    return `${this.#given} of ${this.#wanted} blocks; ${all.join('; ')}`
  }
}

/** Parts that a node had in an earlier life and asks for again in this one. */
class Refetched {
  /** Lives in which each part came, by the hex of its hash. */
  readonly #came = new Map<string, number>()
  readonly #asked = new Set<string>()
  #life = 0

  get again(): number {
    return this.#asked.size
  }

  begin(): void {
    this.#life++
    this.#asked.clear()
  }

  asked(part: string): void {
    if ((this.#came.get(part) ?? this.#life) < this.#life) this.#asked.add(part)
  }

  came(part: string): void {
    if (!this.#came.has(part)) this.#came.set(part, this.#life)
  }

  /** A part that is given up, or all of them once nothing needs them, may be fetched again. */
  removed(path: string): void {
    if (path === directory.parts) this.#came.clear()
    else this.#came.delete(path.slice(directory.parts.length + 1))
  }
}

function requireEqual(when: string, joined: Record<string, unknown>, whole: Record<string, unknown>): void {
  for (const [name, rows] of Object.entries(whole)) {
    if (isDeepStrictEqual(joined[name], rows)) continue
    throw new Violation(`rows of ${name} differ ${when}: ${firstDifference(joined[name], rows)}`)
  }
}

function firstDifference(joined: unknown, whole: unknown): string {
  const entries = (rows: unknown) => new Map(rows instanceof Map ? rows : Object.entries(rows as object))
  const [mine, right] = [entries(joined), entries(whole)]
  const keys = [...new Set([...mine.keys(), ...right.keys()])]
  const differing = keys.filter((key) => !isDeepStrictEqual(mine.get(key), right.get(key)))
  const [key] = differing
  const text = (value: unknown) => JSON.stringify(value, bigint)
  return `${differing.length} of ${right.size}, ${String(key)}: ${text(mine.get(key))}, right is ${text(right.get(key))}`
}

function bigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value
}
