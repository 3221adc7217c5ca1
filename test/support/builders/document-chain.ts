import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { Block } from '../../../src/base/primitives/block.js'
import type { KnownHeader } from '../../../src/ledger/chain/header-index.js'
import { TestChain, withoutValidators } from './chain.js'
import { randomPlan } from './did-cast.js'
import { type Holder, holder } from './did.js'
import type { SeededRandom } from './seeded-random.js'

/** Transactions of a block: a transaction has no more ancestors in the pool. */
const perBlock = 20

/** A chain of work with searchable documents of many shapes, which its holders create, update and deactivate. */
export class DocumentChain {
  readonly holders: Holder[] = []
  /** The last operations with documents. */
  readonly #lasts = new Map<Holder, string>()
  #waiting = 0

  private constructor(
    readonly node: TestChain,
    readonly random: SeededRandom,
  ) {}

  /** With the documents of so many holders. */
  static async open(random: SeededRandom, documents: number): Promise<DocumentChain> {
    const chain = new DocumentChain(await TestChain.open(withoutValidators), random)
    const first = holder()
    await chain.#create(first, {})
    await chain.mine()
    await chain.create(documents - 1)
    return chain
  }

  /** Another node with the same blocks, from whose tip on both go different ways. */
  async branch(random: SeededRandom): Promise<DocumentChain> {
    const chain = new DocumentChain(await TestChain.open(withoutValidators), random)
    for (const block of await this.blocks()) await chain.node.accept(block)
    // Two branches have blocks of different times, and so of different hashes.
    chain.node.clock.time = this.node.clock.time + 7000
    chain.holders.push(...this.holders)
    for (const [one, last] of this.#lasts) chain.#lasts.set(one, last)
    return chain
  }

  /** The blocks above genesis, or above a height. */
  async blocks(above = 0): Promise<Block[]> {
    const { reader } = this.node
    const heights = Array.from({ length: reader.height - above }, (_, i) => above + 1 + i)
    return Promise.all(heights.map((height) => reader.block(reader.headerAt(height) as KnownHeader)))
  }

  get dids(): string[] {
    return this.holders.map(({ did }) => did)
  }

  /** Adds documents of new holders. */
  async create(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const one = holder()
      await this.#create(one, randomPlan(one, this.#issuers(), this.random))
    }
    await this.mine()
  }

  /** Gives some holders other documents, and deactivates a few of them afterwards. */
  async change(count: number): Promise<void> {
    const { random } = this
    const some = new Set(Array.from({ length: count }, () => random.below(this.holders.length)))
    const changed = [...some].map((i) => this.holders[i] as Holder).filter((one) => this.#isValid(one))
    for (const one of changed) {
      const plan = randomPlan(one, this.#issuers(), random)
      this.#lasts.set(one, await this.#carry(one.update(this.#lasts.get(one) as string, plan), one))
    }
    await this.mine()
    for (const one of changed.slice(0, count / 10)) await this.#carry(one.deactivate(), one)
    await this.mine()
  }

  /** Mines what waits. */
  async mine(): Promise<void> {
    this.node.clock.time += 1000
    await this.node.mine()
    this.#waiting = 0
  }

  /** Holders whose credentials count: an issuer has to be on the chain. */
  #issuers(): Holder[] {
    return this.holders.filter((one) => this.#isValid(one))
  }

  #isValid({ did }: Holder): boolean {
    return this.node.chain.state.did(did)?.status === 'valid'
  }

  async #create(one: Holder, changes: Parameters<Holder['create']>[0]): Promise<void> {
    this.#lasts.set(one, await this.#carry(one.create(changes), one))
    this.holders.push(one)
  }

  async #carry(operation: DidOperation, { did }: Holder): Promise<string> {
    const { txid } = await this.node.send(await this.node.carry(operation, did))
    if (++this.#waiting >= perBlock) await this.mine()
    return txid
  }
}
