import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { Peer } from '../../../src/network/peers/peer-record.js'
import { BlockRelay } from '../../../src/network/relay/blocks-relay.js'
import { TransactionRelay } from '../../../src/network/relay/transactions-relay.js'
import { serveChain } from '../../../src/network/serve-chain.js'
import { blocksExchange } from '../../../src/network/wire/blocks-message.js'
import type { HeaderUnit } from '../../../src/network/wire/headers-message.js'
import type { Timers } from '../../../src/base/runtime/env.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { TestChain, withoutValidators } from '../builders/chain.js'
import { FakePeers } from '../fakes/fake-peers.js'
import { eventually } from '../process/patience.js'
import type { SpecOverrides } from '../builders/spec.js'

/** A sync that knows how to fetch one block. */
class OneBlockSync {
  readonly events = new EventEmitter()
  catchingUp = false
  readonly #test: TestChain

  constructor(test: TestChain) {
    this.#test = test
  }

  progress(): { readonly catchingUp: boolean } {
    return { catchingUp: this.catchingUp }
  }

  set(catchingUp: boolean): void {
    this.catchingUp = catchingUp
    this.events.emit('progress')
  }

  async announced(peer: Peer, { header, confirm }: HeaderUnit): Promise<boolean> {
    const [block] = await peer.ask(blocksExchange, [header.hash])
    await this.#test.chain.acceptBlock(block ?? new Uint8Array(0), confirm.length === 0 ? undefined : confirm)
    return true
  }
}

/** A node with chain, pool, answers and relay, whose peers are of this process. */
export class RelayNode {
  readonly test: TestChain
  readonly peers: FakePeers
  readonly sync: OneBlockSync
  readonly relay: TransactionRelay
  readonly #blocks: BlockRelay

  private constructor(name: string, test: TestChain, pace: number) {
    this.test = test
    this.peers = new FakePeers(name)
    this.sync = new OneBlockSync(test)
    const { chain, mempool, clock, log } = test
    const { timers: real } = systemEnv(log)
    const timers: Timers = { after: (milliseconds, call) => real.after(milliseconds / pace, call) }
    const random = { bytes: (length: number) => randomBytes(length) }
    serveChain(this.peers, { chain, mempool })
    const parts = { chain, mempool, peers: this.peers, sync: this.sync }
    this.relay = new TransactionRelay({ ...parts, clock, timers, random, log })
    this.#blocks = new BlockRelay(parts)
    this.relay.start()
    this.#blocks.start()
  }

  /** `pace`: milliseconds that its timers count in one. */
  static async open(name: string, overrides: SpecOverrides = withoutValidators, pace = 1): Promise<RelayNode> {
    return new RelayNode(name, await TestChain.open(overrides), pace)
  }

  /** Nodes each of which is connected to the next. */
  static async line(count: number, overrides?: SpecOverrides): Promise<RelayNode[]> {
    const nodes: RelayNode[] = []
    for (let i = 0; i < count; i++) nodes.push(await RelayNode.open(`node${i}`, overrides))
    nodes.slice(1).forEach((node, i) => node.peers.connect((nodes[i] as RelayNode).peers))
    return nodes
  }

  get pool(): string[] {
    return [...this.test.mempool.entries()].map(({ transaction }) => transaction.txid)
  }

  async close(): Promise<void> {
    this.#blocks.close()
    await this.peers.close()
    await this.relay.close()
    await this.test.close()
  }
}

/** Polls until a condition holds. */
export async function until(condition: () => boolean, what = 'the condition'): Promise<void> {
  await eventually(what, condition)
}
