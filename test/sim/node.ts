import { type Core, openCore } from '../../src/core.js'
import type { Log } from '../../src/env.js'
import type { Transport } from '../../src/network/link.js'
import { parseAddress, type ProgramHash } from '../../src/primitives/address.js'
import { Database } from '../../src/storage/database.js'
import { publicKeyOf } from '../../src/crypto/keys.js'
import { testAddress } from '../support/spec.js'
import { type Agenda, NodeTime } from './clock.js'
import { Disk, type Fault, type Life, type Write } from './disk.js'
import { type Ground, validatorKey } from './ground.js'
import type { Chance } from './random.js'
import { addressOf, publicKeyOfNode, type SimulatedTransport, type Wires } from './transport.js'
import { simulatedVerifier } from './verifier.js'

/** What a simulated node is told of its world, and tells it. */
export interface Surroundings {
  readonly agenda: Agenda
  readonly wires: Wires
  readonly ground: Ground
  readonly nodes: number
  readonly chance: Chance
  /** What may come between a node and its wires. */
  wrap(node: SimulatedNode, transport: SimulatedTransport): Transport
  fault(node: SimulatedNode, write: Write): Fault | undefined
  opened(node: SimulatedNode, core: Core): void
  died(node: SimulatedNode, why: string): void
  log(node: SimulatedNode, level: string, message: string, fields: Record<string, unknown>): void
}

export interface NodeTraits {
  readonly skew: number
  readonly rate: number
  /** Whether it has a key to validate with, now or later. */
  readonly validates: boolean
}

/** One node through all its lives. Its disk is what they have in common. */
export class SimulatedNode {
  readonly number: number
  readonly disk = new Disk()
  readonly key: Uint8Array | undefined
  readonly publicKey: Uint8Array | undefined
  core: Core | undefined
  lives = 0
  readonly #surroundings: Surroundings
  readonly #traits: NodeTraits
  #life: (Life & { alive: boolean }) | undefined
  #transport: SimulatedTransport | undefined

  constructor(number: number, traits: NodeTraits, surroundings: Surroundings) {
    this.number = number
    this.key = traits.validates ? validatorKey(number) : undefined
    this.publicKey = this.key && publicKeyOf(this.key)
    this.#traits = traits
    this.#surroundings = surroundings
  }

  get alive(): boolean {
    return this.#life?.alive === true
  }

  start(): void {
    if (this.alive) return
    this.lives++
    const { agenda, wires, ground, chance, nodes } = this.#surroundings
    const life: Life & { alive: boolean } = {
      alive: true,
      fault: (write) => this.#surroundings.fault(this, write),
      crash: () => this.#end(life, 'crashed'),
      took: () => this.#later(life, undefined, chance.happens(0.1) ? chance.between(1, 50) : 1),
    }
    this.#life = life
    this.#transport = wires.plug(this.number)
    const time = new NodeTime(agenda, () => life.alive, this.#traits.skew, this.#traits.rate)
    const others = Array.from({ length: nodes }, (_, other) => other).filter((other) => other !== this.number)
    const open = async () => {
      const core = await openCore({
        spec: ground.spec,
        database: await Database.over(await this.disk.open(life)),
        verifier: simulatedVerifier((value) =>
          chance.happens(0.1) ? this.#later(life, value, chance.between(1, 20)) : Promise.resolve(value),
        ),
        clock: time,
        env: { clock: time, timers: time, random: chance.fork(`node ${this.number} ${this.lives}`), log: this.#log(life) },
        transport: this.#surroundings.wrap(this, this.#transport as SimulatedTransport),
        publicKey: publicKeyOfNode(this.number),
        peers: { peers: others.map(addressOf), outbound: 8, inbound: 32 },
        payTo: parseAddress(testAddress(20)) as ProgramHash,
        signStore: this.disk.signStore(life),
        ...(this.key === undefined ? {} : { validatorKey: this.key }),
      })
      if (!life.alive) return
      this.core = core
      core.failure.catch((error: unknown) => this.#end(life, `failed: ${String(error)}`))
      this.#surroundings.opened(this, core)
    }
    open().catch((error: unknown) => this.#end(life, `failed: ${error instanceof Error ? error.stack : String(error)}`))
  }

  /** The process is killed, or the power goes. */
  crash(): void {
    if (this.#life !== undefined) this.#end(this.#life, 'crashed')
  }

  /** Stops in order; the world is told when it is done. */
  stop(): void {
    const { core } = this
    const life = this.#life
    if (core === undefined || life === undefined || !life.alive) return
    this.core = undefined
    core.close().then(
      () => this.#end(life, 'stopped'),
      (error: unknown) => this.#end(life, `failed: ${String(error)}`),
    )
  }

  #end(life: Life & { alive: boolean }, why: string): void {
    if (!life.alive) return
    life.alive = false
    this.core = undefined
    this.#transport?.die()
    if (why === 'crashed') this.disk.losePower(this.#surroundings.chance)
    else this.disk.settle()
    this.#surroundings.died(this, why)
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
