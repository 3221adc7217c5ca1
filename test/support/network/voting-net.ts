import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import type { Verifier } from '../../../src/base/crypto/verifier.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import type { Timers } from '../../../src/base/runtime/env.js'
import { OwnKey } from '../../../src/voting/key-holder.js'
import type { SignStore } from '../../../src/voting/sign-state-file.js'
import { Signer } from '../../../src/voting/signer.js'
import { encodeMessage, parseMessage } from '../../../src/voting/tendermint/message.js'
import { Voting, type VotingOptions } from '../../../src/voting/voting.js'
import { memoryStore, quietLog, type Store, TestChain } from '../builders/chain.js'
import { type SpecOverrides, testKey } from '../builders/spec.js'

/** Nodes of one chain in one process, whose time passes when the test says so. */

/** A sign state in memory. */
export class MemorySigns implements SignStore {
  bytes: Uint8Array | undefined
  saves = 0
  failing = false

  async load(): Promise<Uint8Array | undefined> {
    return this.bytes
  }

  async save(bytes: Uint8Array): Promise<void> {
    if (this.failing) throw new Error('no space left on device')
    this.saves++
    this.bytes = bytes
  }
}

/** A signer of a key in this process. */
export function openSigner(key: Uint8Array, store: SignStore, genesis: Hash): Promise<Signer> {
  return Signer.open({ holder: new OwnKey({ key, store, genesis }), genesis, log: quietLog() })
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

export interface NodePlan {
  /** The test person whose key it holds; undefined: none. */
  readonly person: number | undefined
  readonly signs?: MemorySigns
  readonly reset?: 'next' | 'now'
  readonly store?: Store
  /** Milliseconds that its clock is ahead. */
  readonly skew?: number
}

export interface TestNode {
  readonly test: TestChain
  readonly voting: Voting
  readonly signs: MemorySigns
  readonly store: Store
  readonly plan: NodePlan
  /** Cut off from the others while false. */
  online: boolean
  /** Codes of what it refused. */
  readonly refused: string[]
  height(): number
}

export type Filter = (message: Uint8Array, from: TestNode, to: TestNode) => boolean

export class TestNet {
  readonly nodes: TestNode[] = []
  readonly #overrides: SpecOverrides
  readonly #timers = new Set<Timer>()
  readonly #verifier: Verifier
  #verifying = 0
  #delivering = 0
  /** How many checks were run. */
  verified = 0
  #now = 0
  /** Whether a gossiped message is delivered. */
  filter: Filter = () => true
  /** Replaces the body that nodes serve; undefined: the real one. */
  handOut: ((hash: Hash) => Uint8Array | undefined) | undefined
  /** Whether nodes ask each other what they lack, every second. */
  healing = true

  constructor(overrides: SpecOverrides = {}) {
    this.#overrides = overrides
    const inline = createInlineVerifier()
    this.#verifier = {
      verifyAll: async (checks) => {
        this.#verifying++
        this.verified += checks.length
        return inline.verifyAll(checks).finally(() => this.#verifying--)
      },
      close: () => inline.close(),
    }
  }

  /** Four validators, persons 0 to 3. */
  static async four(overrides: SpecOverrides = {}, started = true): Promise<TestNet> {
    const net = new TestNet(overrides)
    for (let person = 0; person < 4; person++) await net.add({ person }, started)
    return net
  }

  /** Milliseconds since the test began. */
  get now(): number {
    return this.#now
  }

  get timers(): Timers {
    return {
      after: (milliseconds, callback) => {
        const timer = { at: this.#now + milliseconds, callback }
        this.#timers.add(timer)
        return () => this.#timers.delete(timer)
      },
    }
  }

  async add(plan: NodePlan, started = true, changes: Partial<VotingOptions> = {}): Promise<TestNode> {
    const { person, signs = new MemorySigns(), store = memoryStore(), skew = 0 } = plan
    const test = await TestChain.open(this.#overrides, { store, verifier: this.#verifier })
    test.clock.time += this.#now + skew
    const voting = await Voting.open({
      chain: test.chain,
      mempool: test.mempool,
      clock: test.clock,
      log: test.log,
      verifier: this.#verifier,
      timers: this.timers,
      random: { bytes: (length) => randomBytes(length) },
      network: {
        broadcast: (sent) => {
          const message = encodeMessage(sent)
          for (const other of this.nodes) if (other !== node) this.#deliver(message, node, other)
        },
        fetch: (hash) => this.#fetch(hash, node),
      },
      ...(person === undefined ? {} : { key: testKey(person), signStore: signs }),
      ...(plan.reset === undefined ? {} : { resetSignState: plan.reset }),
      ...changes,
    })
    const height = () => test.reader.height
    const node: TestNode = { test, voting, signs, store, plan, online: true, refused: [], height }
    this.nodes.push(node)
    if (started) voting.start()
    this.#reports()
    return node
  }

  /** Stops a node; its store and its sign state can be opened again. */
  async remove(node: TestNode): Promise<void> {
    this.nodes.splice(this.nodes.indexOf(node), 1)
    await node.voting.close()
    await node.test.close()
    this.#reports()
  }

  /** Lets time pass. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    await this.settle()
    for (;;) {
      const nextHealing = this.healing ? Math.floor(this.#now / 1000) * 1000 + 1000 : Infinity
      const next = Math.min(nextHealing, ...[...this.#timers].map(({ at }) => at))
      if (next > end) break
      this.#pass(next)
      for (const timer of [...this.#timers]) {
        if (timer.at > next || !this.#timers.delete(timer)) continue
        timer.callback()
      }
      if (next === nextHealing) await this.heal()
      await this.settle()
    }
    this.#pass(end)
  }

  /** Lets time pass until something holds; fails after so many milliseconds. */
  async until(condition: () => boolean, within: number): Promise<void> {
    const end = this.#now + within
    await this.settle()
    while (!condition()) {
      if (this.#now >= end) throw new Error(`not within ${within} ms`)
      await this.advance(100)
    }
  }

  async allAt(height: number, within: number, nodes: readonly TestNode[] = this.nodes): Promise<void> {
    await this.until(() => nodes.every((node) => node.height() >= height), within)
  }

  /** Every node asks every other what it lacks, and hears of its tip. */
  async heal(): Promise<void> {
    this.#reports()
    for (const node of this.nodes) {
      for (const other of this.nodes) {
        if (node === other || !node.online || !other.online) continue
        for (const message of await other.voting.missing(node.voting.summary())) this.#hand(message, node)
      }
    }
    await this.settle()
  }

  /** Resolves when nothing goes on any more until time passes. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 12;) {
      await turn()
      quiet = this.#verifying + this.#delivering === 0 ? quiet + 1 : 0
    }
  }

  async close(): Promise<void> {
    await this.settle()
    for (const node of [...this.nodes]) await this.remove(node)
    await this.settle()
    await this.#verifier.close()
  }

  #reports(): void {
    for (const node of this.nodes) {
      const others = this.nodes.filter((other) => other !== node && other.online)
      node.voting.setBestPeerHeight(
        node.online && others.length > 0 ? Math.max(...others.map((other) => other.height())) : undefined,
      )
    }
  }

  #pass(to: number): void {
    for (const { test } of this.nodes) test.clock.time += to - this.#now
    this.#now = to
  }

  #deliver(message: Uint8Array, from: TestNode, to: TestNode): void {
    if (from.online && to.online && this.filter(message, from, to)) this.#hand(message, to)
  }

  #hand(message: Uint8Array, to: TestNode): void {
    this.#delivering++
    void Promise.resolve()
      .then(() => to.voting.receive(parseMessage(message)))
      .catch((error: unknown) => {
        if (!(error instanceof RuleError)) throw error
        to.refused.push(error.code)
      })
      .finally(() => this.#delivering--)
  }

  async #fetch(hash: Hash, node: TestNode): Promise<Uint8Array | undefined> {
    if (!node.online) return undefined
    const other = this.handOut?.(hash)
    if (other !== undefined) return other
    for (const other of this.nodes) {
      if (other === node || !other.online) continue
      const known = other.test.reader.headerOf(hash)
      const bytes = other.voting.candidate(hash) ?? (known && (await other.test.reader.block(known)).bytes)
      if (bytes !== undefined) return bytes
    }
    return undefined
  }
}
