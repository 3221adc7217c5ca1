import { randomBytes } from 'node:crypto'
import { EngineDown } from '../../../src/ledger/engine/engine-down.js'
import { Shipper, type ShipperOptions } from '../../../src/ledger/shipping/shipper.js'
import type { ShardState, ShardWriter } from '../../../src/ledger/engine/row-engine.js'
import type { Timers } from '../../../src/base/runtime/env.js'
import { type EngineMoment, MemoryEngine } from '../fakes/memory-engine.js'
import { expectSameRows, hasAll } from '../assert/shard-rows.js'
import { memoryStore, type QuietLog, quietLog, type Store, TestChain, withoutValidators } from './chain.js'
import type { SpecOverrides } from './spec.js'
import { Crowd, random } from './random-chain.js'

/** Bytes of blocks of a batch, so that most reorganisations are several. */
const reorganisationBytes = 2000

const binary = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

/** All rows of a shard, in order of keys. */
type RowsOf = Parameters<typeof expectSameRows>[1]

/** Retries come at once. */
const hasty: Timers = {
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, Math.min(milliseconds, 5))
    return () => clearTimeout(timer)
  },
}

/** How a node begins to ship. */
type ShippingStart = Pick<ShipperOptions, 'takeOver' | 'standBy'>

/** A chain whose rows are shipped, people who change it, and a miner who makes it reorganise. */
export class ShippedChain<Engine extends ShardWriter = MemoryEngine> {
  engine: Engine
  readonly log: QuietLog = quietLog()
  chain!: TestChain
  shipper!: Shipper
  #store: Store = memoryStore()
  readonly #roll: (sides: number) => number
  readonly #crowd: Crowd
  #rival!: TestChain
  #spec: SpecOverrides = withoutValidators
  backlog = 2 ** 30

  private constructor(engine: Engine, seed: number) {
    this.engine = engine
    this.#roll = random(seed)
    this.#crowd = new Crowd(this.#roll)
  }

  static open(shards: number, seed: number, spec?: SpecOverrides): Promise<ShippedChain> {
    return ShippedChain.over(new MemoryEngine(shards), seed, { spec })
  }

  /** A node of its own with shards that another one may have filled. */
  static async over<Engine extends ShardWriter>(
    engine: Engine,
    seed: number,
    { spec = withoutValidators, ...options }: ShippingStart & { spec?: SpecOverrides | undefined } = {},
  ): Promise<ShippedChain<Engine>> {
    const made = new ShippedChain<Engine>(engine, seed)
    made.#spec = spec
    made.#rival = await TestChain.open(spec)
    await made.start(options)
    return made
  }

  /** Starts the node, over the rows that there are. */
  async start({ ships = true, ...options }: ShippingStart & { ships?: boolean } = {}): Promise<void> {
    const terms = ships ? { ships: { backlog: this.backlog } } : {}
    this.chain = await TestChain.open(this.#spec, { store: this.#store, reorganisationBytes, ...terms })
    if (ships) this.shipper = this.newShipper(options)
  }

  newShipper(options: ShippingStart = {}, { database, chain } = this.chain, timers = hasty): Shipper {
    const genesis = chain.genesis.header.hash
    const env = { log: this.log, timers, random: { bytes: (length: number) => randomBytes(length) } }
    const shipper = new Shipper({ database, engine: this.engine, genesis, ...options, ...env })
    shipper.start()
    return shipper
  }

  /** Ends the node, at any moment of a step. */
  async stop(): Promise<void> {
    await this.shipper.close()
    await this.chain.close()
  }

  async close(): Promise<void> {
    await this.stop()
    await this.#rival.close()
  }

  /** Expects that the shards have the rows of the node, when they have all batches. */
  async expectSame(rowsOf: RowsOf = (shard) => this.#memory.rows(shard)): Promise<void> {
    await this.shipped()
    await expectSameRows(this.chain.database, rowsOf, this.engine.shards)
  }

  /** Copies all rows as they are now, as a copy of the directory has them; the node runs on. */
  async copy(): Promise<Store> {
    const copy = memoryStore()
    await copy.open()
    for await (const [key, value] of this.#store.iterator(binary)) await copy.put(key, value, binary)
    await copy.close()
    return copy
  }

  /** Starts over the rows of a copy, after {@link stop}. */
  restore(copy: Store): void {
    this.#store = copy
  }

  /** Mines a block of what people did, or several of another branch, up to `deepest` blocks below the tip; 0: never. */
  async advance(deepest = 4): Promise<void> {
    for (let i = this.#roll(4); i > 0; i--) await this.#crowd.act(this.chain)
    if (deepest === 0 || this.#roll(8) > 0) await this.chain.mine()
    else await this.reorganise(1 + this.#roll(deepest))
    this.#crowd.look(this.chain)
  }

  /** Mines another branch from so many blocks below the tip. */
  async reorganise(depth: number): Promise<void> {
    const from = Math.max(this.chain.reader.height - depth, 0)
    for (let height = 1; height <= from; height++) {
      const { header } = this.chain.activeHeader(height)
      if (this.#rival.chain.headers.get(header.hash)?.status === 'active') continue
      await this.#rival.accept(await this.chain.reader.block(this.chain.activeHeader(height)))
    }
    this.#rival.clock.time = this.chain.clock.time += 1000
    const blocks = await this.#rival.mine(this.chain.reader.height - from + 1)
    for (const block of blocks) await this.chain.accept(block)
  }

  /** Resolves when all shards have all batches. */
  async shipped(): Promise<void> {
    for (;;) {
      const { end } = this.shipper.figures
      if (end !== undefined) throw new Error(`shipping ended: ${end} ${JSON.stringify(this.log.errors)}`)
      const states = await this.states()
      const isDone = (state: ShardState | undefined) =>
        hasAll(this.chain.database, state) && state?.swept === states.length
      if (states.every(isDone)) return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  /** Resolves with the code with which shipping ends. */
  async ended(shipper = this.shipper): Promise<string> {
    while (shipper.figures.end === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    return shipper.figures.end
  }

  /** States of all shards, past all faults. */
  async states() {
    const { engine } = this
    const at = engine instanceof MemoryEngine ? engine.at : undefined
    if (engine instanceof MemoryEngine) engine.at = () => {}
    try {
      const shards = Array.from({ length: engine.shards }, (_, shard) => shard)
      return await Promise.all(shards.map((shard) => engine.state(shard).catch(() => undefined)))
    } finally {
      if (engine instanceof MemoryEngine && at !== undefined) engine.at = at
    }
  }

  /** Makes about one of so many calls fail at a moment, before or after it had its effect. */
  fail(
    sides: number,
    moments: readonly EngineMoment[] = [
      'state',
      'apply',
      'applied',
      'put',
      'ready',
      'finish',
      'finished',
      'sweep',
      'swept',
    ],
  ): void {
    this.#memory.at = async (moment, shard) => {
      await new Promise((resolve) => setImmediate(resolve))
      if (moments.includes(moment) && this.#roll(sides) === 0) throw new EngineDown(shard, `down at ${moment}`)
    }
  }

  get #memory(): MemoryEngine {
    if (this.engine instanceof MemoryEngine) return this.engine
    throw new TypeError('only an engine in memory has that')
  }
}
