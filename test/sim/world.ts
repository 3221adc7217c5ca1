import type { Verifier } from '../../src/base/crypto/verifier.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import type { TopicInfo, Transport } from '../../src/network/link.js'
import { proposalTopic, votesExchange, voteTopic } from '../../src/network/wire/votes-message.js'
import { mapKey, toHex } from '../../src/base/primitives/bytes.js'
import { parseConfirm } from '../../src/base/primitives/confirm.js'
import { paramsAt } from '../../src/base/primitives/spec.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import type { SignStore } from '../../src/voting/sign-state-file.js'
import { signingText } from '../../src/voting/signing-state.js'
import { timeoutOf } from '../../src/voting/tendermint/machine-events.js'
import { parseMessage } from '../../src/voting/tendermint/message.js'
import { Agenda, runWorld } from './clock.js'
import { Disk, type Fault, type Write } from './disk.js'
import { type Ground, groundOf } from './ground.js'
import { type Running, SimulatedNode, type EvaluationContext } from './node.js'
import { Oracle, Violation } from './oracle.js'
import type { Costs } from './processor.js'
import { Chance } from '../support/builders/chance.js'
import { identityOf, MemoryNetwork } from '../support/network/memory-network.js'
import type { MemoryTransport } from '../support/network/memory-transport.js'
import type { Scenario, Storm, Strain } from './scenario.js'
import { Trace } from './trace.js'
import { Coven, Traitor } from './traitor.js'
import { Turmoil } from './turmoil.js'
import { Users } from './users.js'

/** What a run came to; a broken promise is thrown. */
export interface Report {
  readonly trace: string
  readonly height: number
  readonly events: number
  readonly crashes: number
  /** Crashes before a node had opened again. */
  readonly crashesOnStart: number
  /** Crashes of a validator that was locked on a block, right before its prevote for none left. */
  readonly crashesWhenLocked: number
  /** Traitors that an honest node holds evidence against. */
  readonly accused: readonly number[]
  readonly mined: number
}

/** Parts that a test replaces, to see that what it breaks is found. */
export interface Tampering {
  readonly signStore?: (node: SimulatedNode, store: SignStore) => SignStore
  readonly verifier?: (verifier: Verifier) => Verifier
  readonly fault?: (node: SimulatedNode, write: Write) => Fault | undefined
  /** Disks say that something is synced and do not see to it. */
  readonly disksLie?: boolean
}

export interface RunOptions {
  readonly tampering?: Tampering
  readonly print?: (line: string) => void
}

export async function simulate(scenario: Scenario, options: RunOptions = {}): Promise<Report> {
  const world = new World(scenario, options)
  return runWorld(world)
}

/**
 * Milliseconds after which a mended network has all its connections again: a node that was about to stop is back after 8 s at
 * most; an attempt that is under way fails after 5 s, and the next one to a place that the owner named follows within 15 s.
 */
const linkLimit = 30_000
/** Milliseconds that connected honest nodes have to come to one height. */
const reunionLimit = 30_000
/** Milliseconds that acknowledged transactions have to be mined once everything is mended. */
const miningLimit = 60_000
/** Events of a run: more of them are a loop without end. */
const eventLimit = 400_000

class World implements EvaluationContext {
  readonly agenda: Agenda
  readonly network: MemoryNetwork
  readonly ground: Ground
  readonly nodes: number
  readonly chance: Chance
  readonly made = new Set<string>()
  readonly #scenario: Scenario
  readonly #options: RunOptions
  readonly #trace: Trace
  readonly #oracle = new Oracle()
  readonly #all: readonly SimulatedNode[]
  readonly #honest: readonly SimulatedNode[]
  readonly #users: Users
  readonly #turmoil: Turmoil
  readonly #coven = new Coven()
  /** Nodes whose tip moved in the present event. */
  readonly #moved = new Set<SimulatedNode>()
  /** For each validator the height at which it precommitted a block last. */
  readonly #locked = new Map<number, number>()
  #broken: Error | undefined
  /** Whether work takes time already. */
  #strained = false
  #crashes = 0
  #crashesOnStart = 0
  #crashesWhenLocked = 0

  constructor(scenario: Scenario, options: RunOptions) {
    const chance = new Chance(scenario.seed)
    this.#scenario = scenario
    this.#options = options
    this.chance = chance.fork('nodes')
    this.ground = groundOf(scenario.plan)
    this.nodes = scenario.nodes
    this.agenda = new Agenda((this.ground.spec.time + 60) * 1000, chance.fork('ties'))
    this.#trace = new Trace(() => this.agenda.now(), options.print)
    this.network = new MemoryNetwork({
      time: this.agenda,
      chance: chance.fork('wires'),
      tap: {
        sends: (node, topic, message) => this.#watched(() => this.#sends(node, topic, message)),
        arrived: (from, to, what, bytes) => this.#arrived(from, to, what, bytes),
      },
    })
    const { plan, skews, rates, traitors, strain } = scenario
    const strained = strain !== undefined
    const validates = (number: number) =>
      plan.validators.includes(number) || plan.upgrade?.validators.includes(number) === true
    this.#all = Array.from({ length: scenario.nodes }, (_, number) => {
      const traits = { skew: skews[number] ?? 0, rate: rates[number] ?? 1, validates: validates(number), strained }
      return new SimulatedNode(number, traits, this)
    })
    this.#honest = this.#all.filter(({ number }) => !traitors.has(number) && strain?.absent.has(number) !== true)
    const tell = (line: string) => this.#trace.add(line)
    this.#users = new Users(this.agenda, chance.fork('users'), this.#honest, tell)
    this.#turmoil = new Turmoil({
      scenario,
      agenda: this.agenda,
      chance: chance.fork('turmoil'),
      network: this.network,
      nodes: this.#all,
      tell,
    })
  }

  async run(): Promise<Report> {
    const { storms, transactions, strain } = this.#scenario
    const present = this.#all.filter(({ number }) => strain?.absent.has(number) !== true)
    for (const node of present) this.agenda.after(this.chance.below(2_000), () => node.start())
    this.#users.begin(this.ground.transactions.slice(0, transactions), 20_000)
    for (const storm of storms) await this.#weather(storm)
    if (strain !== undefined) await this.#strain(strain)
    await this.#until('transactions to be mined', miningLimit, () => this.#users.waiting().length === 0)
    this.#examine()
    return {
      trace: this.#trace.finish(),
      height: this.#oracle.height,
      events: this.agenda.count,
      crashes: this.#crashes,
      crashesOnStart: this.#crashesOnStart,
      crashesWhenLocked: this.#crashesWhenLocked,
      accused: this.#accused(),
      mined: this.#users.mined,
    }
  }

  /** Something threw where nobody caught it: that ends a real node. */
  broken(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Error(String(error))
  }

  wrap(node: SimulatedNode, transport: MemoryTransport): Transport {
    const { traitors, seed } = this.#scenario
    const habits = traitors.get(node.number)
    const { key, publicKey } = node
    if (habits === undefined || key === undefined || publicKey === undefined) {
      return transport
    }
    const chance = new Chance(seed).fork(`traitor ${node.number} ${node.lives}`)
    const { spec, genesis } = this.ground
    return new Traitor(transport, { spec, genesis, key, publicKey, habits, coven: this.#coven, chance })
  }

  disk(): Disk {
    return new Disk({ lies: this.#options.tampering?.disksLie === true })
  }

  verifier(_node: SimulatedNode, verifier: Verifier): Verifier {
    return this.#options.tampering?.verifier?.(verifier) ?? verifier
  }

  signStore(node: SimulatedNode, store: SignStore): SignStore {
    return this.#options.tampering?.signStore?.(node, store) ?? store
  }

  fault(node: SimulatedNode, write: Write): Fault | undefined {
    const planted = this.#options.tampering?.fault?.(node, write)
    if (planted !== undefined) return planted
    const { storm } = this.#turmoil
    if (storm === undefined) return undefined
    if (this.chance.happens(storm.failures)) return 'failure'
    return this.chance.happens(storm.crashes) ? this.chance.pick(['crash-before', 'crash-after']) : undefined
  }

  costs(node: SimulatedNode): Costs | undefined {
    return this.#strained ? this.#scenario.strain?.costs[node.number] : undefined
  }

  opened(node: SimulatedNode, { chain }: Running): void {
    this.#trace.add(`n${node.number} opens at height ${chain.tip.header.height}`)
    if (!this.#honest.includes(node)) return
    this.#watched(() => this.#oracle.opened(node.number, chain))
    chain.events.on('change', ({ connected, disconnected }) =>
      this.#watched(() => {
        for (const { header } of disconnected) this.#oracle.disconnected(node.number, header.height)
        for (const { header } of connected) {
          const { height, id } = header
          this.#trace.add(`n${node.number} connects ${height} ${id.slice(0, 8)}`)
          this.#oracle.connected(node.number, height, id)
        }
        this.#moved.add(node)
      }),
    )
  }

  died(node: SimulatedNode, why: string, opened: boolean): void {
    this.#trace.add(`n${node.number} ${why}`)
    if (why === 'crashed') {
      this.#crashes++
      if (!opened) this.#crashesOnStart++
    }
    if (why === 'crashed' && this.#scenario.forgetful.has(node.number) && this.chance.happens(0.5)) {
      this.#trace.add(`n${node.number} has lost its sign state`)
      node.disk.loseSigns()
    }
    if (why.startsWith('failed') && !why.includes('no space left')) {
      this.#broken ??= new Violation(`n${node.number} ${why}`)
    }
    this.agenda.after(this.chance.between(200, 8_000), () => node.start())
  }

  log(node: SimulatedNode, level: string, message: string, fields: Record<string, unknown>): void {
    const text = () => JSON.stringify(fields, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
    this.#options.print?.(`    n${node.number} ${level} ${message} ${text()}`)
  }

  /** Some time of disorder, then everything is mended: the nodes must find together and go on. */
  async #weather(storm: Storm): Promise<void> {
    this.#turmoil.begin(storm)
    await this.#pass(storm.length)
    this.#turmoil.end()
    await this.#require('connections of honest nodes', linkLimit, () => this.#linked())
    if (this.#tend()) await this.#require('connections of those started again', linkLimit, () => this.#linked())
    // From here on views are counted, whatever is still to be caught up with.
    await this.#progress()
    await this.#require('honest nodes to have one height', reunionLimit, () => this.#together())
  }

  /** Fills all pools while that costs nothing; then blocks have to come although work takes its time. */
  async #strain({ heights }: Strain): Promise<void> {
    await this.#require('connections of honest nodes', linkLimit, () => this.#linked())
    const { crowd } = this.ground
    let waiting = 0
    for (const { running } of this.#honest) {
      for (const { bytes } of crowd) {
        waiting++
        void running?.mempool
          .accept(bytes, { local: false })
          .catch(passRuleError)
          .finally(() => waiting--)
      }
    }
    await this.#require('full pools', linkLimit, () => waiting === 0)
    this.#strained = true
    for (let height = 0; height < heights; height++) await this.#progress()
  }

  /** As owners do: a validator that says that it cannot sign is started again, with leave to where its sign state is gone. */
  #tend(): boolean {
    const mute = this.#honest.filter(({ running }) =>
      /sign state/.test(signingText(running?.voting?.status().signing ?? { kind: 'no-key' })),
    )
    mute.forEach((node) => node.stop())
    return mute.length > 0
  }

  /** With messages in time, the next block is confirmed within N + f + 2 views from now on. */
  async #progress(): Promise<void> {
    const { spec } = this.ground
    const height = this.#oracle.height + 1
    const count = paramsAt(spec, height).validators.length
    const views = count + Math.floor((count - 1) / 3) + 2
    const present = Math.max(0, ...this.#statuses().map((status) => (status.height === height ? status.view : 0)))
    let limit = spec.timing.minInterval + spec.timing.emptyInterval
    for (let view = present; view < present + views; view++)
      limit += 3 * timeoutOf(view, spec.timing, spec.maxViewTimeout)
    await this.#require(`a block at height ${height} from view ${present} on`, 1.1 * limit, () => {
      return this.#oracle.height >= height
    })
    const confirmed = this.#viewOf(height)
    if (confirmed !== undefined && confirmed > present + views) {
      throw new Violation(`height ${height} took until view ${confirmed}, from ${present}; ${views} views must do`)
    }
  }

  /** What holds at the end of every run. */
  #examine(): void {
    const lost = this.#users.lost()
    if (lost.length > 0)
      throw new Violation(`lost transactions: ${lost.map(({ transaction }) => transaction.txid).join()}`)
    const hosts = new Set(
      this.#honest.map(({ number }) => identityOf(number)).flatMap(({ host, publicKey }) => [host, toHex(publicKey)]),
    )
    const own = new Set(this.#honest.flatMap(({ publicKey }) => (publicKey === undefined ? [] : [mapKey(publicKey)])))
    for (const { number, running } of this.#honest) {
      const ban = running?.network?.peers.listBans().find(({ subject }) => hosts.has(subject))
      if (ban !== undefined) throw new Violation(`n${number} banned ${ban.subject}: ${ban.reason}`)
      const accused = running?.voting?.evidence().find(({ signer }) => own.has(mapKey(signer)))
      if (accused !== undefined) throw new Violation(`n${number} holds evidence against ${toHex(accused.signer)}`)
    }
  }

  /** Traitors whose key an honest node holds evidence against. */
  #accused(): number[] {
    const signers = new Set(
      this.#honest.flatMap(({ running }) => running?.voting?.evidence().map(({ signer }) => mapKey(signer)) ?? []),
    )
    const guilty = (key: Uint8Array | undefined) => key !== undefined && signers.has(mapKey(key))
    return this.#all.filter(({ publicKey }) => guilty(publicKey)).map(({ number }) => number)
  }

  #statuses(): { height: number; view: number }[] {
    return this.#honest.flatMap(({ running }) => (running?.voting === undefined ? [] : [running.voting.status()]))
  }

  /** The view in which a block was confirmed, as the first node that has it says. */
  #viewOf(height: number): number | undefined {
    for (const { running } of this.#honest) {
      const known = running?.chain.headers.active(height)
      const confirm = known && running?.chain.database.get(tables.confirm.key(known.header.hash))
      if (confirm !== undefined) return parseConfirm(confirm).proposal.viewOffset
    }
    return undefined
  }

  /** All honest nodes are up and know each other. */
  #linked(): boolean {
    const names = this.#honest.map(({ number }) => mapKey(identityOf(number).publicKey))
    return this.#honest.every(({ number, running }) => {
      if (running?.network === undefined) return false
      const known = new Set(running.network.peers.all().map(({ link }) => mapKey(link.publicKey)))
      return names.every((name, i) => this.#honest[i]?.number === number || known.has(name))
    })
  }

  /** They also are no further apart than the block that is on its way. */
  #together(): boolean {
    const heights = this.#honest.map(({ running }) => running?.chain.tip.header.height ?? 0)
    return this.#linked() && Math.max(...heights) - Math.min(...heights) <= 1
  }

  #arrived(from: number, to: number, what: string, bytes: Uint8Array): void {
    this.#trace.add(`${what} n${from} > n${to}, ${bytes.length} bytes`)
    if (what === proposalTopic.topic.name) this.#oracle.said(parseMessage(bytes))
    if (what !== `! ${votesExchange.protocol.name}`) return
    for (const message of votesExchange.answer.decode(bytes)) this.#oracle.said(parseMessage(message))
  }

  /** An honest validator may contradict itself in no message; in some worlds it crashes at the worst of moments. */
  #sends(number: number, topic: TopicInfo, bytes: Uint8Array): void {
    const node = this.#honest.find((one) => one.number === number)
    const isVoting = topic.name === voteTopic.topic.name || topic.name === proposalTopic.topic.name
    if (node?.publicKey === undefined || !isVoting) return
    this.#oracle.told(number, bytes, node.publicKey, node.disk)
    const message = parseMessage(bytes)
    if (message.kind === 'precommit') this.#locked.set(number, message.height)
    const abandons = message.kind === 'prevote' && message.blockHash === undefined
    if (!abandons || this.#locked.get(number) !== message.height) return
    if (!this.#scenario.crashWhenLocked || this.#turmoil.storm === undefined) return
    this.#crashesWhenLocked++
    node.crash()
  }

  #watched(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.#broken ??= error as Error
    }
  }

  async #pass(milliseconds: number): Promise<void> {
    await this.#until('nothing', milliseconds, () => false)
  }

  async #require(what: string, milliseconds: number, holds: () => boolean): Promise<void> {
    if (await this.#until(what, milliseconds, holds)) return
    const states = this.#all.map(({ number, running, alive }) => {
      const status = running?.voting?.status()
      const voting =
        status && `height ${status.height} view ${status.view} ${status.step} ${signingText(status.signing)}`
      return `n${number} ${alive ? `tip ${running?.chain.tip.header.height} ${voting}` : 'down'}`
    })
    throw new Violation(`waited ${milliseconds} ms for ${what}; ${states.join('; ')}`)
  }

  async #until(what: string, milliseconds: number, holds: () => boolean): Promise<boolean> {
    const limit = this.agenda.now() + milliseconds
    while (!holds()) {
      if (!(await this.agenda.step(limit))) return holds()
      if (this.#broken !== undefined) throw this.#broken
      for (const node of this.#moved) {
        if (node.running !== undefined) await this.#oracle.compareState(node.number, node.running.chain)
      }
      this.#moved.clear()
      if (this.agenda.count > eventLimit) throw new Violation(`${eventLimit} events, waiting for ${what}`)
    }
    return true
  }
}

function passRuleError(error: unknown): void {
  if (!(error instanceof RuleError)) throw error
}
