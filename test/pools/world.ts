import { createInlineVerifier } from '../../src/base/crypto/inline.js'
import { SignatureCache } from '../../src/base/crypto/signature-cache.js'
import type { Verifier } from '../../src/base/crypto/verifier.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import type { Block } from '../../src/base/primitives/block.js'
import { equalBytes } from '../../src/base/primitives/bytes.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { solve } from '../../src/ledger/production/solve.js'
import { buildTemplate } from '../support/builders/template.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import { craft, craftBlock, genesisCoin, personHash } from '../support/builders/blocks.js'
import { memoryStore, type Store, TestChain, withoutValidators } from '../support/builders/chain.js'
import { SeededRandom } from '../support/builders/seeded-random.js'
import { Users } from './users.js'

/** What a template may leave out of a pool: what another transaction before it did to an issuer of its credentials. */
const allowed = ['credential-proof', 'credential-key', 'credential-issuer-deactivated']
/** Pools of one seed, one after another on one chain. */
export const poolsOfSeed = 4

/** What happened on the chain of one seed. */
export interface Tally {
  pools: number
  accepted: number
  refused: number
  /** Left the pool for the sake of a template. */
  dropped: number
  /** Had a signature to verify when a template was made. */
  verified: number
  elsewhere: number
  reorganised: number
  restarted: number
}

/** A chain with a pool, and a second node that takes the same blocks and knows no signature. */
export class PoolWorld {
  readonly tally: Tally
  readonly #random: SeededRandom
  readonly #users: Users
  readonly #store: Store = memoryStore()
  readonly #overrides: Parameters<typeof TestChain.open>[0]
  readonly #capacity: number | undefined
  readonly #roomy: boolean
  readonly #acknowledged: Transaction[] = []
  #checks = 0
  #test!: TestChain
  #judge!: TestChain

  constructor(seed: number) {
    this.#random = new SeededRandom(seed)
    this.#users = new Users(this.#random)
    this.#roomy = this.#random.below(3) > 0
    const limits = { blockSize: 12_000, blockTransactions: 6, transactionCost: 100, blockCost: 100 }
    this.#overrides = this.#roomy ? withoutValidators : { ...withoutValidators, limits }
    this.#capacity = [undefined, undefined, 0, 10][this.#random.below(4)]
    this.tally = {
      ...{ pools: 0, accepted: 0, refused: 0, dropped: 0 },
      ...{ verified: 0, elsewhere: 0, reorganised: 0, restarted: 0 },
    }
  }

  /** Lets pools come and go; throws an Error that names the promise which was broken. */
  async run(): Promise<void> {
    await this.#open()
    this.#judge = await TestChain.open(this.#overrides, { signatures: new SignatureCache(0) })
    await this.#begin()
    for (let pool = 0; pool < poolsOfSeed; pool++) {
      this.tally.pools++
      for (let steps = 4 + this.#random.below(12); steps > 0; steps--) await this.#step()
      await this.#checkTemplates()
      if (this.#random.below(3) > 0) await this.#mine()
    }
    await this.#drain()
    await Promise.all([this.#test.close(), this.#judge.close()])
  }

  async #open(): Promise<void> {
    const inline = createInlineVerifier()
    const verifier: Verifier = {
      verifyAll: (checks) => ((this.#checks += checks.length), inline.verifyAll(checks)),
      close: () => inline.close(),
    }
    const signatures = new SignatureCache(this.#capacity)
    this.#test = await TestChain.open(this.#overrides, { verifier, signatures, store: this.#store })
  }

  async #begin(): Promise<void> {
    const { spec, chain } = this.#test
    const outputs = this.#users.payees(24).map((to) => ({ to, value: 20_000_000n }))
    const fan = craft(spec, [genesisCoin(chain, 1)], outputs, [11])
    this.#users.note(fan)
    await this.#deliver(craftBlock(chain, { transactions: [fan] }))
    for (const actor of this.#users.actors.slice(1)) await this.#send(this.#users.create(this.#test, actor))
    await this.#mine()
  }

  async #step(): Promise<void> {
    const roll = this.#random.below(40)
    if (roll === 0) return this.#restart()
    if (roll < 3) return this.#reorganise()
    if (roll < 5) return this.#mineElsewhere()
    if (roll === 5) return this.#mine()
    await this.#send(this.#users.next(this.#test))
  }

  async #send(transaction: Transaction | undefined): Promise<void> {
    if (transaction === undefined) return
    try {
      this.#acknowledged.push(await this.#test.send(transaction))
      this.tally.accepted++
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      this.tally.refused++
    }
  }

  async #restart(): Promise<void> {
    this.tally.restarted++
    await this.#test.close()
    await this.#open()
  }

  /** Hands a block to both nodes, which must agree on it. */
  async #deliver(block: Block): Promise<boolean> {
    const outcome = ({ chain }: TestChain) =>
      chain.acceptBlock(block.bytes).catch((error: unknown) => {
        if (error instanceof RuleError) return error.code
        throw error
      })
    const [ours, theirs] = [await outcome(this.#test), await outcome(this.#judge)]
    require(ours === theirs, `of a block one node says ${ours}, the other ${theirs}`)
    return ['connected', 'side'].includes(ours)
  }

  /** A block of the node's own, which must be taken. */
  async #mine(): Promise<void> {
    const block = await this.#template()
    require(await this.#deliver(block), 'a block of our own was refused')
  }

  async #template(): Promise<Block> {
    const { chain, mempool, clock } = this.#test
    const request = { payTo: personHash(20), time: Math.floor(clock.time / 1000), nonce: this.#random.bytes(8) }
    return (await solve(await buildTemplate(chain, mempool, request))) as Block
  }

  /** Some of the pool, and now and then what the pool never saw, in the block of another miner; it may be invalid. */
  async #mineElsewhere(): Promise<void> {
    this.tally.elsewhere++
    const rogue = this.#random.below(3) === 0 ? this.#users.next(this.#test) : undefined
    const transactions = [...(rogue === undefined ? [] : [rogue]), ...this.#someOfPool()]
    const block = craftBlock(this.#test.chain, { transactions, nonce: this.#random.bytes(8) })
    // A template may be under way meanwhile: it holds two states then, and no transaction may be lost for it.
    const template = this.#random.below(2) === 0 ? this.#template() : undefined
    await this.#deliver(block)
    await template
    await this.#checkAcknowledged()
  }

  #someOfPool(): Transaction[] {
    const { mempool } = this.#test
    const chosen = new Set<unknown>()
    for (const entry of mempool.entries()) {
      if (this.#random.below(3) > 0 && mempool.parents(entry).every((one) => chosen.has(one))) chosen.add(entry)
    }
    return [...mempool.entries()].filter((entry) => chosen.has(entry)).map(({ transaction }) => transaction)
  }

  async #reorganise(): Promise<void> {
    const { chain, reader } = this.#test
    const depth = 1 + this.#random.below(2)
    let parent = chain.headers.active(chain.tip.header.height - depth)
    if (parent === undefined || parent.header.height < 1) return
    this.tally.reorganised++
    const replaced = chain.headers.active(parent.header.height + 1)
    const body = replaced === undefined ? [] : (await reader.block(replaced)).transactions.slice(1)
    let transactions = this.#random.below(2) === 0 ? body : this.#random.below(2) === 0 ? this.#someOfPool() : []
    for (let count = 0; count <= depth; count++) {
      const block: Block = craftBlock(chain, { parent, transactions, nonce: this.#random.bytes(8) })
      if (!(await this.#deliver(block))) return
      parent = chain.headers.known(block.header.hash)
      transactions = []
    }
    await this.#checkAcknowledged()
  }

  async #checkTemplates(): Promise<void> {
    const { mempool, chain } = this.#test
    await mempool.settled()
    const before = [...mempool.entries()]
    this.#checks = 0
    const block = await this.#template()
    if (this.#checks > 0) this.tally.verified++
    require(equalBytes(chain.tip.header.hash, this.#judge.chain.tip.header.hash), 'the nodes have two tips')
    await this.#judge.chain.prepare(block.bytes).catch((error: unknown) => {
      if (!(error instanceof RuleError)) throw error
      throw new Error(`a template does not connect: ${error.code}: ${error.message}`)
    })
    const gone = before.filter(({ transaction }) => mempool.get(transaction.hash) === undefined)
    for (const { transaction } of gone) {
      const reason = mempool.droppedReason(transaction.hash)
      require(allowed.some((code) => reason?.startsWith(`${code}:`)), `a template dropped something with: ${reason}`)
      this.tally.dropped++
    }
    // What has gone no longer brings its parents forward, so that another order may refuse others: not without end.
    if (gone.length > 0) return this.#checkTemplates()
    this.#checks = 0
    const again = await this.#template()
    const ids = ({ transactions }: Block) => transactions.slice(1).map(({ txid }) => txid)
    require(ids(again).join() === ids(block).join(), 'a second template holds something else')
    require(mempool.size === before.length, 'a second template dropped something')
    if (this.#capacity === undefined) require(this.#checks === 0, `a second template verified ${this.#checks} checks`)
    if (this.#roomy) require(block.transactions.length === mempool.size + 1, 'a template leaves out what has room')
  }

  /** What was acknowledged waits, is mined, or is gone with a reason. */
  async #checkAcknowledged(): Promise<void> {
    const { mempool, database } = this.#test
    await mempool.settled()
    for (const { hash, txid } of this.#acknowledged) {
      const mined = database.get(tables.location.key(hash)) !== undefined
      const waits = mempool.get(hash) !== undefined
      const reason = mempool.droppedReason(hash)
      require(mined || waits || reason !== undefined, `${txid} is lost`)
      require(!mined || reason === undefined, `${txid} is mined, and gone: ${reason}`)
    }
  }

  /** Own blocks bring all that waits. */
  async #drain(): Promise<void> {
    await this.#test.mempool.settled()
    for (let left = this.#test.mempool.size; left > 0;) {
      await this.#mine()
      await this.#test.mempool.settled()
      require(this.#test.mempool.size < left, 'a block brings nothing of the pool')
      left = this.#test.mempool.size
    }
    await this.#checkAcknowledged()
    require(this.#test.mempool.refusedBlocks.count === 0, 'a block of our own was refused')
    require(this.#test.log.errors.length === 0, 'there are errors in the log')
  }
}

function require(holds: boolean, promise: string): void {
  if (!holds) throw new Error(promise)
}
