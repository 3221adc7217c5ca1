import { EventEmitter } from 'node:events'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import type { Verifier } from '../../../src/base/crypto/verifier.js'

import type { Code } from '../../../src/base/errors/error-codes.js'
import { codes } from '../../../src/node/library/codes.js'
import { LinkError } from '../../../src/network/link.js'
import type { Peer } from '../../../src/network/peers/peer-record.js'
import { serveState, type StateServing } from '../../../src/network/join/serve-state.js'
import { serveChain } from '../../../src/network/serve-chain.js'
import { Sync, type SyncOptions, type SyncPeer } from '../../../src/network/sync/sync.js'
import type { Exchange } from '../../../src/network/wire/exchange.js'
import type { HeaderUnit } from '../../../src/network/wire/headers-message.js'
import { networkVersion, services, type Status } from '../../../src/network/wire/status-message.js'
import type { Timers } from '../../../src/base/runtime/env.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { TestChain } from '../builders/chain.js'
import { FakePeer } from '../fakes/fake-peers.js'
import { type SpecOverrides, testAddress } from '../builders/spec.js'

/** A sync that follows peers made of chains in this process, in a time that only passes when the test waits. */

type Handler = (peer: Peer, question: unknown) => Promise<unknown>

/** Answer of a peer in place of `honest`. */
export type Answering<Q, A> = (question: Q, honest: () => Promise<A>) => Promise<A>

type ChainOptions = Parameters<typeof TestChain.open>[1]

let peerCount = 0

/** A peer that answers from a chain, unless the test has it answer otherwise. */
export class TestPeer implements SyncPeer {
  readonly id = ++peerCount
  readonly name = `peer ${this.id}`
  readonly source: TestChain
  readonly penalties: Code[] = []
  /** How many questions of a protocol it was asked, by its name. */
  readonly asked = new Map<string, number>()
  isCurrent = true
  closed = false
  reason: string | undefined
  status: Status
  readonly #handlers = new Map<string, Handler>()
  #leave = (_: Error): void => {}
  readonly #gone = new Promise<never>((_, reject) => (this.#leave = reject))

  constructor(source: TestChain, status: Partial<Status> = {}, keeper?: StateServing['keeper']) {
    this.source = source
    this.status = { ...statusOf(source), ...status }
    const serve = (exchange: Exchange<unknown, unknown>, handler: Handler) =>
      this.#handlers.set(exchange.protocol.name, handler)
    const peers = { serve } as Parameters<typeof serveChain>[0]
    serveChain(peers, { chain: source.chain, mempool: source.mempool })
    serveState(peers, { chain: source.chain, keeper, behind: () => false })
  }

  /** Has it answer otherwise than from its chain. */
  answering<Q, A>({ protocol }: Exchange<Q, A>, answer: Answering<Q, A>): this {
    const honest = this.#handlers.get(protocol.name) as Handler
    this.#handlers.set(protocol.name, (peer, question) =>
      answer(question as Q, () => honest(peer, question) as Promise<A>),
    )
    return this
  }

  async ask<Q, A>({ protocol, question, answer }: Exchange<Q, A>, value: Q): Promise<A> {
    if (this.closed) throw new LinkError('closed', 'it is gone')
    this.asked.set(protocol.name, (this.asked.get(protocol.name) ?? 0) + 1)
    const asked = question.decode(question.encode(value))
    const handler = this.#handlers.get(protocol.name) as Handler
    const answered = (await Promise.race([handler(new FakePeer('a'), asked), this.#gone])) as A
    // Between two processes the answer comes in another turn.
    await Promise.race([new Promise((resolve) => setImmediate(resolve)), this.#gone])
    return answer.decode(answer.encode(answered))
  }

  penalise(code: Code): void {
    this.penalties.push(code)
    if (this.penalties.reduce((sum, broken) => sum + codes[broken].penalty, 0) >= 100) this.close('banned')
  }

  delivered(): void {}

  close(reason: string): void {
    this.reason ??= reason
    this.closed = true
    this.#gone.catch(() => {})
    this.#leave(new LinkError('closed', 'it went'))
  }

  /** Tells the tip that its chain has by now. */
  refresh(): void {
    this.status = statusOf(this.source)
    this.isCurrent = true
  }
}

/** A chain of so many blocks with a transfer in every tenth. */
export async function longChain(
  overrides: SpecOverrides,
  length: number,
  options: ChainOptions = {},
): Promise<TestChain> {
  const source = await TestChain.open(overrides, options)
  while (source.chain.tip.header.height < length) {
    if (source.chain.tip.header.height % 10 === 1) await source.send(await source.transfer(testAddress(30), 1000n))
    await source.mine()
  }
  return source
}

/** Status that a node with this chain sends. */
export function statusOf({ chain }: TestChain): Status {
  const { header, chainWork } = chain.tip
  return {
    version: networkVersion,
    genesis: chain.genesis.header.hash,
    upgrades: chain.spec.upgradesDigest(header.height),
    tipHeight: header.height,
    tipHash: header.hash,
    chainWork,
    services: services.wholeChain,
    relay: true,
    listenPort: 0,
    agent: 'test',
  }
}

/** The header of a block on a chain, with what proves it. */
export function unitAt(source: TestChain, height: number): HeaderUnit {
  const { header, auxPow, size } = source.activeHeader(height)
  return { header, auxPow, size, confirm: source.database.get(tables.confirm.key(header.hash)) ?? new Uint8Array(0) }
}

/** Milliseconds of the test's time that pass in one of the real ones. */
const pace = 5

/** A node that syncs. Its clock and timers stand still but for {@link until}. */
export class SyncNode implements Timers {
  readonly target: TestChain
  readonly sync: Sync
  readonly peers: TestPeer[] = []
  readonly events = new EventEmitter()
  readonly conflicts: Uint8Array[] = []
  /** How often its peers were asked for their status, and whether they answer by themselves. */
  askedAnew = 0
  answersAnew = true
  readonly #timers = new Set<{ readonly due: number; readonly call: () => void }>()

  private constructor(target: TestChain, options: Partial<SyncOptions>) {
    this.target = target
    const { chain, clock, log } = target
    const all = () => this.peers.filter(({ closed }) => !closed)
    const askAnew = () => {
      for (const peer of all()) peer.isCurrent = false
      this.askedAnew++
      if (this.answersAnew) setImmediate(() => this.answerAnew())
    }
    const peers = { all, askAnew, events: this.events }
    const verifier: Verifier = createInlineVerifier()
    const onConflict = (confirm: Uint8Array) => this.conflicts.push(confirm)
    this.sync = new Sync({ chain, peers, verifier, clock, timers: this, log, onConflict, ...options })
  }

  /** A node on a new chain, or on the one given, that follows peers. */
  static async start(
    overrides: SpecOverrides,
    peers: readonly TestPeer[],
    { target, ...options }: Partial<SyncOptions> & { target?: TestChain } = {},
  ): Promise<SyncNode> {
    const node = new SyncNode(target ?? (await TestChain.open(overrides)), options)
    node.peers.push(...peers)
    const latest = Math.max(0, ...peers.map(({ source }) => source.clock.time))
    node.target.clock.time = Math.max(node.target.clock.time, latest)
    node.sync.start()
    return node
  }

  get height(): number {
    return this.target.chain.tip.header.height
  }

  after(milliseconds: number, call: () => void): () => void {
    const timer = { due: this.target.clock.time + milliseconds, call }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get timers(): number {
    return this.#timers.size
  }

  /** Lets time pass. */
  advance(milliseconds: number): void {
    this.target.clock.time += milliseconds
    for (const timer of [...this.#timers].sort((a, b) => a.due - b.due)) {
      if (timer.due > this.target.clock.time || !this.#timers.delete(timer)) continue
      timer.call()
    }
  }

  /** Lets time pass until a condition holds; fails when it never does. */
  async until(holds: () => boolean, seconds = 300): Promise<void> {
    let last = performance.now()
    const end = this.target.clock.time + 1000 * seconds
    while (!holds()) {
      if (this.target.clock.time > end) {
        throw new Error(`not within ${seconds} s: ${holds.toString()}; ${JSON.stringify(this.sync.progress())}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
      // However long this process was held up, a peer had no chance to answer meanwhile.
      this.advance(Math.ceil(pace * Math.min(5, performance.now() - last)))
      last = performance.now()
    }
  }

  /** Has all peers say what tip they have now. */
  answerAnew(): void {
    for (const peer of this.peers) peer.refresh()
    this.events.emit('status')
  }

  join(peer: TestPeer): void {
    this.peers.push(peer)
    this.events.emit('joined', peer)
  }

  async stop(): Promise<void> {
    await this.sync.close()
  }

  async close(): Promise<void> {
    await this.stop()
    await this.target.close()
  }
}
