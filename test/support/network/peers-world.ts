import { EventEmitter } from 'node:events'
import type { ChainChange } from '../../../src/ledger/chain/chain.js'
import type { KnownHeader } from '../../../src/ledger/chain/header-index.js'
import { PeerManager, type PeerManagerOptions } from '../../../src/network/peers/peer-manager.js'
import type { PeerSettings } from '../../../src/network/peers/peer-settings.js'
import type { Exchange, GossipTopic } from '../../../src/network/wire/exchange.js'
import { opaqueCodec } from '../../../src/network/wire/exchange.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../../src/base/primitives/genesis.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { Header } from '../../../src/base/primitives/header.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import type { LogLevel } from '../../../src/base/runtime/env.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { memoryStore, type Store } from '../builders/chain.js'
import { ManualTime } from '../fakes/manual-time.js'
import { MemoryNetwork } from './memory-network.js'
import type { MemoryTransport } from './memory-transport.js'
import { type SpecOverrides, testSpec } from '../builders/spec.js'

/** A question that all test nodes know. */
export const echo: Exchange<Uint8Array, Uint8Array> = {
  protocol: { name: 'echo', version: 1, ofChain: true, request: 1000, answer: 100, timeout: 1000 },
  question: opaqueCodec(500),
  answer: opaqueCodec(50),
}
/** A subject that all test nodes know. */
export const chat: GossipTopic<Uint8Array> = {
  topic: { name: 'chat', version: 1, size: 1000 },
  message: opaqueCodec(500),
}

export interface TestNodeOptions extends Partial<PeerSettings> {
  readonly number?: number
  readonly host?: string
  readonly port?: number
  readonly spec?: SpecOverrides
  readonly height?: number
  readonly store?: Store
  readonly prunes?: boolean
}

/** Nodes in one process, with nothing but their peers. */
export class PeersWorld {
  readonly time = new ManualTime()
  /** All messages take the same time. */
  readonly network = new MemoryNetwork({ time: this.time, weather: { delay: [1, 1] } })
  readonly nodes: TestNode[] = []

  async open(options: TestNodeOptions = {}): Promise<TestNode> {
    const number = options.number ?? this.nodes.length + 1
    const node = await TestNode.open(this, number, options)
    this.nodes.push(node)
    return node
  }

  /** Lets time go on for all of them. */
  run(milliseconds = 100): Promise<void> {
    return this.time.advance(milliseconds)
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.stop()
  }
}

/** One node: a chain that only has a tip, a database, a transport, and its peers. */
export class TestNode {
  readonly world: PeersWorld
  readonly #options: PeerManagerOptions
  #peers: PeerManager | undefined
  readonly transport: MemoryTransport
  readonly publicKey: Uint8Array
  readonly address: string
  readonly store: Store
  /** `level message` of what was logged, with the fields. */
  readonly log: { level: LogLevel; message: string; fields: Record<string, unknown> }[] = []
  /** Names of peers that joined and left. */
  readonly happened: string[] = []
  readonly #database: Database
  readonly #chain: { tip: KnownHeader; readonly events: EventEmitter<{ change: [ChainChange]; fatal: [Error] }> }
  #running = true

  static async open(world: PeersWorld, number: number, options: TestNodeOptions): Promise<TestNode> {
    const store = options.store ?? memoryStore()
    const node = new TestNode(world, number, options, store, await Database.over(store))
    await node.#start()
    return node
  }

  private constructor(world: PeersWorld, number: number, options: TestNodeOptions, store: Store, database: Database) {
    this.world = world
    this.store = store
    this.#database = database
    const host = options.host ?? `${number}.${number}.0.1`
    this.publicKey = keyOf(number)
    this.transport = world.network.plug(number, {
      publicKey: this.publicKey,
      name: this.name,
      host,
      port: options.port ?? 20338,
    })
    this.address = `${host}:${this.transport.port}`
    const spec = parseSpec(testSpec({ validators: [], producer: 'miners', ...options.spec }))
    const genesis = genesisBlock(spec)
    const events = new EventEmitter<{ change: [ChainChange]; fatal: [Error] }>()
    this.#chain = { tip: tipAt(genesis.header, options.height ?? 0), events }
    let drawn = number * 1000
    const { peers = [], outbound = 8, inbound = 32 } = options
    const noted = (level: LogLevel) => (fields: Record<string, unknown>, message: string) =>
      void this.log.push({ level, message, fields })
    this.#options = {
      transport: this.transport,
      publicKey: this.publicKey,
      chain: Object.assign(this.#chain, {
        spec,
        genesis,
        database,
        prunes: options.prunes ?? false,
        prunedHeight: 0,
        prunesDocuments: false,
        supersededHeight: 0,
      }),
      clock: world.time,
      timers: world.time,
      random: { bytes: (length) => sha256(Uint8Array.of(drawn & 255, (drawn++ >> 8) & 255)).subarray(0, length) },
      log: { debug: noted('debug'), info: noted('info'), warn: noted('warn'), error: noted('error') },
      settings: { peers, outbound, inbound },
    }
  }

  async #start(): Promise<void> {
    const peers = await PeerManager.open(this.#options)
    this.#peers = peers
    peers.serve(echo, async (_, question) => question)
    peers.events.on('joined', ({ name }) => this.happened.push(`joined ${name}`))
    peers.events.on('left', ({ name }) => this.happened.push(`left ${name}`))
    await peers.start()
  }

  get peers(): PeerManager {
    if (this.#peers === undefined) throw new Error('the node is not open')
    return this.#peers
  }

  /** The name that others know it by. */
  get name(): string {
    return toHex(this.publicKey).slice(0, 12)
  }

  /** The peer that another node is here. */
  peer(other: TestNode) {
    const found = this.peers.all().find(({ name }) => name === other.name)
    if (found === undefined) throw new Error(`${other.name} is no peer`)
    return found
  }

  sees(...others: TestNode[]): boolean {
    return others.every(({ name }) => this.peers.all().some((peer) => peer.name === name))
  }

  /** Moves the tip, as a block would. */
  grow(height: number): void {
    this.#chain.tip = tipAt(this.#chain.tip.header, height)
    this.#chain.events.emit('change', { reorganised: false, disconnected: [], connected: [] })
  }

  get tipListeners(): number {
    return this.#chain.events.listenerCount('change')
  }

  /** Stops it and closes its database; the store can be opened again. */
  async stop(): Promise<void> {
    if (!this.#running) return
    this.#running = false
    await this.peers.close()
    await this.#database.close()
  }
}

export function keyOf(number: number): Uint8Array {
  return sha256(Uint8Array.of(number & 255, number >> 8, 7))
}

function tipAt(header: Header, height: number): KnownHeader {
  return {
    header: height === 0 ? header : new Header({ ...header, height }),
    auxPow: new Uint8Array(0),
    status: 'active',
    chainWork: BigInt(height) * 1000n,
    transactionCount: 1,
    size: 1000,
    arrival: height,
  }
}
