import { Chain } from '../../src/ledger/chain/chain.js'
import { checkRecentBlocks } from '../../src/ledger/chain/check-recent-blocks.js'
import { SignatureCache } from '../../src/base/crypto/signature-cache.js'
import type { Verifier } from '../../src/base/crypto/verifier.js'
import type { Transport } from '../../src/network/link.js'
import { type Core, type CoreValidator, openCore } from '../../src/node/core.js'
import { parseAddress, type ProgramHash } from '../../src/base/primitives/address.js'
import { chainProver } from '../../src/node/chain-prover.js'
import { watchInterval } from '../../src/node/standing/chain-watch.js'
import { StepWatch } from '../../src/node/standing/step-watch.js'
import type { StateKeeper } from '../../src/ledger/state/state-keeper.js'
import { defined } from '../../src/base/primitives/defined.js'
import { Mining } from '../../src/ledger/production/mining.js'
import { Resolver } from '../../src/answers/resolver/resolver.js'
import { staleAfterDefault } from '../../src/answers/resolver/resolver-options.js'
import type { Env, Log } from '../../src/base/runtime/env.js'
import { checkJournal } from '../../src/ledger/storage/care/check-journal.js'
import { Database } from '../../src/ledger/storage/database.js'
import type { SignStore } from '../../src/voting/sign-state-file.js'
import { testAddress } from '../support/builders/spec.js'
import { type Agenda, NodeTime } from './clock.js'
import type { Disk } from './disk.js'
import { type Fault, type Life, type Write } from './disk.js'
import { type Ground, validatorKeys } from './ground.js'
import { type Costs, Processor, Workshop } from './processor.js'
import type { Chance } from '../support/builders/chance.js'
import { addressOf, identityOf, type MemoryNetwork } from '../support/network/memory-network.js'
import type { MemoryTransport } from '../support/network/memory-transport.js'
import { simulatedVerifier } from './verifier.js'

/** What runs in a life of a node, once it has opened. */
export interface Running extends Core {
  readonly chain: Chain
  /** Only where the world asks about DIDs. */
  readonly step?: StepWatch
  readonly resolver?: Resolver
}

/** What a life of a node begins with. */
export interface Beginning {
  readonly life: Life
  readonly env: Env
  readonly verifier: Verifier
}

/** What a simulated node is told of its world, and tells it. */
export interface EvaluationContext {
  readonly agenda: Agenda
  readonly network: MemoryNetwork
  readonly ground: Ground
  readonly nodes: number
  readonly chance: Chance
  /** What may come between a node and its transport. */
  wrap(node: SimulatedNode, transport: MemoryTransport): Transport
  disk(): Disk
  verifier(node: SimulatedNode, verifier: Verifier): Verifier
  signStore(node: SimulatedNode, store: SignStore): SignStore
  fault(node: SimulatedNode, write: Write): Fault | undefined
  /** What work costs now; undefined: nothing. */
  costs(node: SimulatedNode): Costs | undefined
  /** Whether nodes are asked about DIDs; absent: no. */
  readonly asksDids?: boolean
  /** Whether a node mines; absent: none does. */
  mines?(node: SimulatedNode): boolean
  /** Hashes of blocks that any node has made. */
  readonly made: Set<string>
  /** What a node does before it opens its chain; absent: nothing. */
  begins?(node: SimulatedNode, beginning: Beginning): Promise<void> | undefined
  /** The state that a node has for peers that join by it; absent: none has one. */
  keeper?(node: SimulatedNode, chain: Chain): StateKeeper | undefined
  opened(node: SimulatedNode, running: Running): void
  /** `opened`: whether it had come so far in this life. */
  died(node: SimulatedNode, why: string, opened: boolean): void
  log(node: SimulatedNode, level: string, message: string, fields: Record<string, unknown>): void
}

export interface NodeTraits {
  readonly skew: number
  readonly rate: number
  /** Whether it has a key to validate with, now or later. */
  readonly validates: boolean
  /** Whether its work takes time. */
  readonly strained: boolean
}

/** One node through all its lives. Its disk is what they have in common. */
export class SimulatedNode {
  readonly number: number
  /** Of its chain. */
  disk: Disk
  readonly key: Uint8Array | undefined
  readonly publicKey: Uint8Array | undefined
  running: Running | undefined
  lives = 0
  /** Milliseconds that its clock is off in its next life. */
  skew: number
  readonly #surroundings: EvaluationContext
  readonly #traits: NodeTraits
  #life: (Life & { alive: boolean }) | undefined
  #transport: MemoryTransport | undefined

  constructor(number: number, traits: NodeTraits, surroundings: EvaluationContext) {
    this.number = number
    this.disk = surroundings.disk()
    const pair = traits.validates ? validatorKeys[number] : undefined
    this.key = pair?.privateKey
    this.publicKey = pair?.publicKey
    this.skew = traits.skew
    this.#traits = traits
    this.#surroundings = surroundings
  }

  get alive(): boolean {
    return this.#life?.alive === true
  }

  start(): void {
    if (this.alive) return
    this.lives++
    const { chance } = this.#surroundings
    const life: Life & { alive: boolean } = {
      alive: true,
      fault: (write) => this.#surroundings.fault(this, write),
      crash: () => this.#end(life, 'crashed'),
      took: () => {
        const normal = chance.happens(0.1) ? chance.between(1, 50) : 1
        return this.#later(life, undefined, normal * (this.#surroundings.costs(this)?.disk ?? 1))
      },
    }
    this.#life = life
    this.#open(life).catch((error: unknown) => this.#fail(life, error))
  }

  /** The process is killed, or the power goes. */
  crash(): void {
    if (this.#life !== undefined) this.#end(this.#life, 'crashed')
  }

  /** Stops in order; the world is told when it is done. */
  stop(): void {
    const { running } = this
    const life = this.#life
    if (running === undefined || life === undefined) return
    this.running = undefined
    const close = async () => {
      await running.close()
      await running.chain.close()
      await running.chain.database.close()
    }
    close().then(
      () => this.#end(life, 'stopped'),
      (error: unknown) => this.#fail(life, error),
    )
  }

  /** As a node opens: the checks of the start first, then the chain and what is around it. */
  async #open(life: Life & { alive: boolean }): Promise<void> {
    const { agenda, ground, chance, nodes } = this.#surroundings
    const { spec } = ground
    const { rate } = this.#traits
    const time = new NodeTime(agenda, () => life.alive, this.skew, rate)
    const random = chance.fork(`node ${this.number} ${this.lives}`)
    const env = { clock: time, timers: time, random, log: this.#log(life) }
    const verify = <T>(value: T) =>
      chance.happens(0.1) ? this.#later(life, value, chance.between(1, 20)) : Promise.resolve(value)
    const costs = () => this.#surroundings.costs(this)
    const workshop = new Workshop(new Processor(agenda, () => life.alive), this.#surroundings.made, costs)
    const verifier = workshop.verifier(this.#surroundings.verifier(this, simulatedVerifier(verify)))
    // Where work costs something a check stands for a transaction, so that none is spared.
    const signatures = new SignatureCache(this.#traits.strained ? 0 : undefined)
    const before = this.#surroundings.begins?.(this, { life, env, verifier })
    if (before !== undefined) await before
    const transport = this.#plug()
    const database = await Database.over(await this.disk.open(life))
    database.failure.catch((error: unknown) => this.#fail(life, error))
    const span = await checkJournal(database)
    const chain = await Chain.open({ ...env, spec, database, verifier, signatures })
    await checkRecentBlocks(chain, span)
    if (this.#traits.strained) workshop.equip(chain)
    chain.events.once('fatal', (error) => this.#fail(life, error))
    const others = Array.from({ length: nodes }, (_, other) => other).filter((other) => other !== this.number)
    const settings = { peers: others.map(addressOf), outbound: 8, inbound: 32 }
    const keeper = this.#surroundings.keeper?.(this, chain)
    const payTo = parseAddress(testAddress(20)) as ProgramHash
    const core = await openCore({
      ...{ chain, verifier, signatures, env, payTo },
      peering: { transport, publicKey: identityOf(this.number).publicKey, settings, ...defined({ keeper }) },
      validator: this.#validator(life),
    })
    if (!life.alive) return
    const running = { ...core, chain, ...(this.#surroundings.asksDids ? asked(chain, core, env) : {}) }
    this.#surroundings.opened(this, running)
    await core.start()
    if (!life.alive) return
    this.running = running
    if (this.#surroundings.mines?.(this) === true) new Mining({ ...env, chain, mempool: core.mempool }).start(payTo)
  }

  #plug(): Transport {
    this.#transport = this.#surroundings.network.plug(this.number)
    return this.#surroundings.wrap(this, this.#transport)
  }

  /** A key that lost its memory, or never signed, is let vote as the owner of a node would. */
  #validator(life: Life): CoreValidator | undefined {
    if (this.key === undefined) return undefined
    const signStore = this.#surroundings.signStore(this, this.disk.signStore(life))
    const { signs } = this.disk
    if (signs === 'kept' || this.lives === 1) return { key: this.key, signStore }
    return { key: this.key, signStore, resetSignState: signs === 'lost' ? 'next' : 'now' }
  }

  #fail(life: Life & { alive: boolean }, error: unknown): void {
    this.#end(life, `failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  }

  #end(life: Life & { alive: boolean }, why: string): void {
    if (!life.alive) return
    const opened = this.running !== undefined
    life.alive = false
    this.running = undefined
    this.#transport?.die()
    if (why === 'crashed') this.disk.losePower(this.#surroundings.chance)
    else this.disk.settle()
    this.#surroundings.died(this, why, opened)
  }

  /** A value some time later, unless the life ends before. */
  #later<T>(life: Life, value: T, milliseconds: number): Promise<T> {
    return new Promise((resolve) => {
      this.#surroundings.agenda.after(milliseconds, () => {
        if (life.alive) resolve(value)
      })
    })
  }

  #log(life: Life): Log {
    const tell = (level: string) => (fields: Record<string, unknown>, message: string) => {
      if (life.alive) this.#surroundings.log(this, level, message, fields)
    }
    return { debug: tell('debug'), info: tell('info'), warn: tell('warn'), error: tell('error') }
  }
}

/** What answers about DIDs, as startNode puts it together. */
function asked(chain: Chain, { network }: Core, { clock, timers }: Pick<Env, 'clock' | 'timers'>) {
  const policy = { staleAfter: staleAfterDefault * 1000, always: false }
  const step = new StepWatch({ chain, clock, sync: network?.sync, expectsPeers: true, policy, steady: clock })
  const standing = () => step.standing()
  const tip = () => chain.tip.header
  const resolver = new Resolver({ database: chain.database, prover: chainProver(chain), clock, tip, standing })
  const look = () => {
    step.look()
    timers.after(watchInterval, look)
  }
  timers.after(watchInterval, look)
  return { step, resolver }
}
