import { chainProver } from '../../../src/node/chain-prover.js'
import type { Prover } from '../../../src/answers/prover/prover.js'
import { randomBytes } from 'node:crypto'
import { MemoryLevel } from 'memory-level'
import { type Acceptance, Chain } from '../../../src/ledger/chain/chain.js'
import type { KnownHeader } from '../../../src/ledger/chain/header-index.js'
import { ChainReader } from '../../../src/ledger/chain/reader.js'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import type { Verifier } from '../../../src/base/crypto/verifier.js'
import { Mempool } from '../../../src/ledger/mempool/mempool.js'
import type { PoolLimits } from '../../../src/ledger/mempool/policy.js'
import { parseAddress, type ProgramHash, singleKeyCode } from '../../../src/base/primitives/address.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import { confirmBytes } from '../../../src/base/primitives/confirm.js'
import { defined } from '../../../src/base/primitives/defined.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import type { Spec } from '../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { solveEmptyRun } from '../../../src/ledger/production/empty-blocks.js'
import { solve } from '../../../src/ledger/production/solve.js'
import { buildTemplate } from './template.js'
import type { Log, Random } from '../../../src/base/runtime/env.js'
import { Database } from '../../../src/ledger/storage/database.js'
import type { ShippingTerms } from '../../../src/ledger/storage/write/outbox.js'
import { didKey } from '../../../src/ledger/storage/rows/did-reader.js'
import { craftConfirm } from './blocks.js'
import {
  buildDidTransaction,
  buildTransfer,
  type Payment,
  type UnsignedTransaction,
} from '../../../src/clients/wallet/build-transaction.js'
import type { SpendableCoin } from '../../../src/clients/wallet/coins.js'
import { signTransaction } from '../../../src/clients/wallet/sign-transaction.js'
import { type SpecOverrides, testAddress, testKey, testPublicKey, testSpec } from './spec.js'

/** A log that keeps its errors. */
export interface QuietLog extends Log {
  readonly errors: { readonly fields: Record<string, unknown>; readonly message: string }[]
}

export function quietLog(): QuietLog {
  const errors: QuietLog['errors'] = []
  const nothing = () => {}
  return {
    errors,
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (fields, message) => errors.push({ fields, message }),
  }
}

/** A chain without validators: work decides, so it can reorganise. */
export const withoutValidators: SpecOverrides = { validators: [], producer: 'miners' }
/** A chain whose one validator is test person 0. */
export function oneValidator(): SpecOverrides {
  return { validators: [Buffer.from(testPublicKey(0)).toString('hex')] }
}

/** Store that a database can lie over. */
export type Store = Parameters<typeof Database.over>[0]

/** A store in memory. It keeps its rows while it is closed, so a test can open it again. */
export function memoryStore(): Store {
  const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer', storeEncoding: 'buffer' } as const
  return new MemoryLevel<Buffer, Buffer>(encodings)
}

const anyRandom: Random = { bytes: (length) => randomBytes(length) }

/** A chain in memory with its pool, and someone who mines and pays. Person 10 is rich from the start. */
export class TestChain {
  readonly spec: Spec
  readonly chain: Chain
  readonly mempool: Mempool
  readonly reader: ChainReader
  readonly database: Database
  readonly log: QuietLog
  /** Milliseconds since the Unix epoch; stands still unless moved. */
  readonly clock: { time: number; now(): number }

  /** Source of nonces. */
  readonly random: Random
  #prover: Prover | undefined

  private constructor(parts: Pick<TestChain, 'spec' | 'chain' | 'mempool' | 'database' | 'log' | 'clock' | 'random'>) {
    this.random = parts.random
    this.spec = parts.spec
    this.chain = parts.chain
    this.mempool = parts.mempool
    this.database = parts.database
    this.log = parts.log
    this.clock = parts.clock
    this.reader = new ChainReader(parts.chain)
  }

  /** Prover of answers from the rows of the chain. */
  get prover(): Prover {
    return (this.#prover ??= chainProver(this.chain))
  }

  /** The active header at a height. */
  activeHeader(height: number): KnownHeader {
    const known = this.chain.headers.active(height)
    if (known === undefined) throw new RangeError(`no block at height ${height}`)
    return known
  }

  /** The header of a block that the chain knows. */
  knownHeader(hash: Hash): KnownHeader {
    const known = this.chain.headers.get(hash)
    if (known === undefined) throw new RangeError(`no header ${displayHash(hash)}`)
    return known
  }

  static async open(
    overrides: SpecOverrides = withoutValidators,
    options: {
      /** A store to open again. */
      store?: Store
      limits?: Partial<PoolLimits>
      verifier?: Verifier
      signatures?: SignatureCache
      reorganisationBytes?: number
      /** Terms under which its rows are for shards too. */
      ships?: ShippingTerms
      /** Makes a chain that a seed repeats. */
      random?: Random
    } = {},
  ): Promise<TestChain> {
    const spec = parseSpec(testSpec({ maturity: 2, ...overrides }))
    const database = await Database.over(options.store ?? memoryStore(), 'memory', options.ships)
    const clock = { time: spec.time * 1000 + 1000, now: () => clock.time }
    const log = quietLog()
    const { verifier = createInlineVerifier(), signatures = new SignatureCache(), random = anyRandom } = options
    const parts = { database, verifier, signatures, clock, log }
    const { reorganisationBytes } = options
    const chain = await Chain.open({ spec, ...parts, ...(reorganisationBytes && { reorganisationBytes }) })
    const limits = options.limits === undefined ? {} : { limits: options.limits }
    const mempool = await Mempool.open({ chain, ...parts, ...limits })
    return new TestChain({ spec, chain, mempool, database, log, clock, random })
  }

  /** Hands a block in as bytes, with its confirm where the chain has a validator; resolves when the pool follows. */
  async accept(block: Block): Promise<Acceptance> {
    const acceptance = await this.chain.acceptBlock(block.bytes, this.confirmFor(block))
    await this.mempool.settled()
    return acceptance
  }

  /** Submits a transaction as bytes and returns it. */
  send(transaction: Transaction): Promise<Transaction> {
    return this.mempool.accept(transaction.bytes, { local: true })
  }

  /** Mines what waits, `count` blocks one after another. `extra` makes blocks of equal content differ. */
  async mine(count = 1, options: { time?: number } = {}): Promise<Block[]> {
    const blocks: Block[] = []
    for (let i = 0; i < count; i++) {
      const time = options.time ?? Math.floor(this.clock.time / 1000)
      const payTo = hashOf(testAddress(20))
      const template = await buildTemplate(this.chain, this.mempool, { payTo, time, nonce: this.random.bytes(8) })
      const block = (await solve(template)) as Block
      await this.accept(block)
      blocks.push(block)
    }
    return blocks
  }

  /** Mines empty blocks in few batches. */
  async mineEmpty(count: number): Promise<void> {
    const payTo = hashOf(testAddress(20))
    const { chain, random } = this
    for (let left = count; left > 0;) {
      const time = (parentTime: number) => parentTime + 1
      const run = await solveEmptyRun(chain, { base: chain.tip, count: left, payTo, random, time, stop: () => false })
      this.clock.time = Math.max(this.clock.time, (run.at(-1) as Block).header.time * 1000)
      await chain.acceptBlocks(
        run.map((block) => ({ block: block.bytes, ...defined({ confirm: this.confirmFor(block) }) })),
      )
      left -= run.length
    }
    await this.mempool.settled()
  }

  /** The confirm by all validators; undefined on a chain without. */
  confirmFor(block: Block): Uint8Array | undefined {
    return this.spec.hasValidators ? confirmBytes(craftConfirm(this.spec, block)) : undefined
  }

  /** A signed transfer of person `from`; it is not sent. */
  async transfer(to: string, value: bigint, from = 10): Promise<Transaction> {
    return signed(buildTransfer(await this.#payment(from), [{ programHash: hashOf(to), value }]), from)
  }

  /** A signed transaction with a DID operation, paid by person `from`, with the least fee unless one is given; it is not sent. */
  async carry(operation: DidOperation, did: string, from = 10, fee?: bigint): Promise<Transaction> {
    const payment = { ...(await this.#payment(from)), ...(fee !== undefined && { fee }) }
    return signed(buildDidTransaction(payment, operation, didKey(did)), from)
  }

  /** Sends a DID operation, mines it and returns its txid. */
  async publish(operation: DidOperation, did: string, options: { time?: number } = {}): Promise<string> {
    const { bytes } = await this.carry(operation, did)
    const { txid } = await this.mempool.accept(bytes, { local: true })
    await this.mine(1, options)
    return txid
  }

  async close(): Promise<void> {
    await this.mempool.close()
    await this.chain.close()
    await this.database.close()
  }

  async #payment(person: number): Promise<Payment> {
    const code = singleKeyCode(testPublicKey(person))
    const mined = await this.reader.coins(hashOf(testAddress(person)))
    const coins: SpendableCoin[] = mined
      .filter(({ outpoint }) => this.mempool.spender(outpoint) === undefined)
      .map(({ outpoint, value, height }) => ({ ...outpoint, value, confirmations: this.reader.height - height + 1 }))
    for (const { transaction } of this.mempool.entries()) {
      transaction.outputs.forEach(({ value, programHash }, index) => {
        const own = Buffer.compare(programHash, hashOf(testAddress(person))) === 0
        const outpoint = { txid: transaction.hash, index }
        if (own && value > 0n && this.mempool.spender(outpoint) === undefined) {
          coins.push({ ...outpoint, value, confirmations: 0 })
        }
      })
    }
    const { assetId } = this.chain.sanity
    const { fees } = (this.spec.sections[0] as Spec['sections'][number]).params
    return { code, coins, fee: fees, assetId, maxMoney: this.spec.maxMoney, random: this.random }
  }
}

function signed({ transaction }: UnsignedTransaction, person: number): Transaction {
  return signTransaction(transaction, [testKey(person)]).transaction
}

function hashOf(address: string): ProgramHash {
  return parseAddress(address) as ProgramHash
}
