/**
 * A state of a chain as parts that are each checked by themselves: all coins, DIDs and credentials after a block (format 16).
 *
 *   chain -> stateParts (write-state.ts): headers, outlines of blocks, coins by chunks, leaves of the map by subtrees -> stateFile (parts.ts)
 *   file  -> readParts -> checkState
 *     headers  by hash and work, the last one by its confirm (header-chain.ts)
 *     blocks   outlines by their headers (block-outline.ts, transaction-places.ts)
 *     coins    chunks by the tree in the last block's coinbase
 *     leaves   subtrees by the map in the coinbase of the state's block (map-parts.ts), transactions by outlines (leaf-record.ts)
 *        -> StateRows (state-rows.ts): what was checked, as the rows of a database; documents by a thread (document-thread.ts)
 *
 * Imports chain, consensus, crypto, did, did-index, errors, primitives, proofs, runtime, storage; used by network, node, cli.
 * - Nothing is believed of a part before it is checked against parts that were.
 * - A checker needs the spec of the chain alone.
 */
import { type AuxPow, readAuxPow } from '../../base/primitives/auxpow.js'
import { runChecks, type Verifier } from '../../base/crypto/verifier.js'
import type { Code } from '../../base/errors/error-codes.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes, toHex } from '../../base/primitives/bytes.js'
import { CodecError, Reader } from '../../base/primitives/codec.js'
import { parseConfirm } from '../../base/primitives/confirm.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import { type Hash, sha256, sha256d } from '../../base/primitives/hash.js'
import { Header } from '../../base/primitives/header.js'
import { coinDepth } from '../../base/primitives/coin-depth.js'
import { coinStateOf, fixedLimits, paramsAt, type Spec } from '../../base/primitives/spec.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import type { Clock } from '../../base/runtime/env.js'
import { checkProofOfWork } from '../../identity/proofs/auxpow-proof.js'
import type { Entry } from '../../identity/proofs/history.js'
import { didRoot, emptyNode } from '../../identity/proofs/map-tree.js'
import { checkConfirm } from '../consensus/check-confirm.js'
import { checkCoinRoot, checkDidRoot } from '../consensus/commitment.js'
import { checkClock, checkHeaderContext } from '../consensus/context.js'
import { chunkCoins, CoinHasher, coinRoot } from '../consensus/coin-root.js'
import { type BlockOutline, checkOutline, readOutline } from './block-outline.js'
import { GrowingBytes } from './growing-bytes.js'
import { HeaderChain } from './header-chain.js'
import { kept, leafOf, type LeafOfHistory, type LeafRecord, leafSize, readLeaf } from './leaf-record.js'
import { ascend, isSubtree, prefixOf, rootOfSubtrees, subtreeOf, subtreeSize } from './map-parts.js'
import { beforeParts, follows, type Part, partKind, type PartPlace } from './parts.js'
import { maxDepth, readHead, type StateHead } from './state-head.js'
import { TransactionPlaces } from './transaction-places.js'

/** Bytes of a hash. */
const hashSize = 32

/** A part that is not what the blocks commit to, or no part. */
export class StateError extends UserError {
  readonly part: PartPlace
  /** The rule that it breaks; undefined where it has no form of a part. */
  readonly code: Code | undefined

  constructor({ kind, number }: PartPlace, reason: string, code?: Code) {
    const name = Object.entries(partKind).find(([, value]) => value === kind)?.[0] ?? kind
    super(`part ${name} ${number}: ${reason}`)
    this.part = { kind, number }
    this.code = code
  }
}

/** A state that was checked. */
export interface CheckedState {
  readonly height: number
  readonly hash: Hash
  /** The block that commits to the coins, and its time in Unix seconds. */
  readonly committing: Pick<Header, 'height' | 'id' | 'time'>
  readonly transactions: number
  readonly dids: number
  readonly credentials: number
  readonly coins: number
  readonly sum: bigint
  /** Work of its headers, on a chain without validators. */
  readonly work: bigint
}

/** Receives the content of a state while it is checked. It has to be discarded unless the whole check succeeds. */
export interface StateTaker {
  /** The next header up to the state, from block 1 on, before any block; on a chain of work with its AuxPow. */
  header(header: Header, auxPow: AuxPow | undefined): Promise<void>
  /** The next block up to the state, from block 1 on. */
  block(header: Header, outline: BlockOutline): Promise<void>
  /** Rows of table 1d, as in {@link RuleRows}. */
  sideChains(rows: Uint8Array): void
  /** Rows of the next coins, in the order of their keys. */
  coins(rows: Uint8Array): Promise<void>
  /** The next leaf of the map, in the order of their keys; `indices`: of the transactions of its entries in their blocks. */
  leaf(record: LeafRecord, leaf: LeafOfHistory, indices: readonly number[]): Promise<void>
  /** The end of what comes; a RuleError where something of it breaks a rule. */
  end(): Promise<void>
}

export interface StateCheckOptions {
  readonly spec: Spec
  readonly verifier: Verifier
  readonly clock: Clock
  readonly taker?: StateTaker
}

/** Checks the parts of a state one by one, each against those before it; {@link StateError} for the first that is wrong. */
export async function checkState(parts: AsyncIterable<Part>, options: StateCheckOptions): Promise<CheckedState> {
  const check = new StateCheck(options)
  for await (const part of parts) await check.take(part)
  return check.finish()
}

/**
 * Checks one state. A confirm, or the work of the headers, proves the block that commits to the coins. Hashes of headers bind the blocks
 * below it, blocks bind their transactions, and the coinbase of the state's block binds the map.
 */
class StateCheck {
  readonly #options: StateCheckOptions
  readonly #genesis: Header
  /** Outputs of the genesis block. */
  readonly #firstOutputs: number
  readonly #headers: HeaderChain
  #last = beforeParts
  #head: StateHead | undefined
  /** Height of the last block whose outline was taken. */
  #outlined = 0
  /** The coinbases of the state's block and of the one that commits to its coins. */
  #stateCoinbase: Transaction | undefined
  #committingCoinbase: Transaction | undefined
  readonly #places = new TransactionPlaces()
  #transactions = 0
  #sideChains: Uint8Array = new Uint8Array(0)
  /** Hashes of the chunks of coins, 32 bytes of memory each. */
  readonly #chunks = new GrowingBytes()
  readonly #map: Uint8Array[] = []
  readonly #coins = new CoinHasher()
  #isConfirmed = false
  #isMapRight = false
  #prefix = 0
  #dids = 0
  #credentials = 0

  constructor(options: StateCheckOptions) {
    this.#options = options
    const { header, transactions } = genesisBlock(options.spec)
    this.#genesis = header
    this.#firstOutputs = transactions.reduce((count, { outputs }) => count + outputs.length, 0)
    this.#headers = new HeaderChain(this.#genesis)
  }

  /** Checks the next part. */
  async take(part: Part): Promise<void> {
    await wrapping(part, async () => {
      const reader = new Reader(part.bytes)
      if (!follows(this.#last, part))
        throw new CodecError(`it does not follow part ${this.#last.number} of kind ${this.#last.kind}`)
      this.#last = part
      if (part.kind !== partKind.head && this.#head === undefined) throw new CodecError('there is no head')
      if (part.kind > partKind.headers) await this.#standing()
      if (part.kind > partKind.blocks) this.#requireOutlines()
      switch (part.kind) {
        case partKind.head:
          return this.#takeHead(reader)
        case partKind.headers:
          return this.#takeHeaders(reader)
        case partKind.blocks:
          return this.#takeBlocks(reader)
        case partKind.sideChains:
          if (part.number > 0) throw new CodecError('rows of side chains are one part')
          this.#sideChains = part.bytes
          return this.#options.taker?.sideChains(part.bytes)
        case partKind.chunks:
          return this.#takeChunks(reader)
        case partKind.coins:
          return this.#takeCoins(part)
        case partKind.map:
          return this.#takeMap(part)
        case partKind.leaves:
          return this.#takeLeaves(reader)
        default:
          throw new CodecError('it is of no kind')
      }
    })
  }

  /** The whole of it; throws where something is missing. */
  finish(): Promise<CheckedState> {
    return wrapping(this.#last, () => this.#finish())
  }

  async #finish(): Promise<CheckedState> {
    if (this.#head === undefined) throw new CodecError('there is nothing in it')
    await this.#standing()
    this.#requireOutlines()
    const head = this.#head
    this.#requireCoinRoot()
    const { count, sum } = this.#coins.finish()
    if (count !== head.coins || sum !== head.sum) {
      throw new RuleError(
        'coinbase-coin-root',
        `${count} coins of ${sum}, and the head names ${head.coins} of ${head.sum}`,
      )
    }
    if (this.#prefix !== 2 ** head.depth) {
      throw new RuleError('coinbase-did-root', `leaves of ${this.#prefix} subtrees of ${2 ** head.depth}`)
    }
    await this.#options.taker?.end()
    return {
      height: head.height,
      hash: this.#headers.at(head.height).hash,
      committing: this.#headers.tip,
      transactions: this.#transactions,
      dids: this.#dids,
      credentials: this.#credentials,
      coins: count,
      sum,
      work: this.#options.spec.hasValidators ? 0n : this.#headers.work,
    }
  }

  #takeHead(reader: Reader): void {
    const head = readHead(reader)
    requireEnd(reader)
    if (!equalBytes(head.genesis, this.#genesis.hash)) {
      throw new CodecError(`it is of another chain, with genesis ${displayHash(head.genesis)}`)
    }
    const { spec } = this.#options
    if (coinStateOf(spec, head.height + coinDepth) !== head.height) {
      throw new CodecError(`no block commits to the coins of height ${head.height}`)
    }
    if (!paramsAt(spec, head.height).didRoot) {
      throw new CodecError(`block ${head.height} commits to no state of DIDs`)
    }
    if (head.depth > maxDepth) throw new CodecError(`subtrees at depth ${head.depth}, at most ${maxDepth}`)
    this.#head = head
  }

  async #takeHeaders(reader: Reader): Promise<void> {
    const { spec, clock, taker } = this.#options
    const { height: state } = this.#head as StateHead
    const yielder = new Yielder()
    while (reader.remaining > 0) {
      const header = Header.read(reader)
      const auxPow = spec.hasValidators ? undefined : readAuxPow(reader)
      const { tip } = this.#headers
      if (!equalBytes(header.previous, tip.hash)) throw new CodecError(`block ${header.height} does not follow`)
      if (header.height > state + coinDepth) throw new RuleError('block-height', `block ${header.height} is above it`)
      checkHeaderContext(spec, header, { parent: tip, at: (height) => this.#headers.at(height) })
      checkClock(spec, header, clock.now())
      if (auxPow !== undefined) checkProofOfWork(spec, header, auxPow)
      this.#headers.add(header)
      if (header.height <= state) await taker?.header(header, auxPow)
      if (yielder.over) await yielder.next()
    }
  }

  /** Requires that validators or work stand behind the headers, once all of them are there. */
  async #standing(): Promise<void> {
    if (this.#isConfirmed) return
    const { spec, verifier } = this.#options
    const { confirm, height } = this.#head as StateHead
    const { tip: header } = this.#headers
    if (header.height !== height + coinDepth)
      throw new RuleError('block-height', `its headers do not reach height ${height + coinDepth}`)
    if (!spec.hasValidators && confirm.length > 0)
      throw new RuleError('confirm-unexpected', 'a chain of work has no confirms')
    if (spec.hasValidators) await runChecks(checkConfirm(spec, header, parseConfirm(confirm)), verifier)
    this.#isConfirmed = true
  }

  /** Takes the outlines of blocks up to the state, and of the one that commits to its coins. */
  async #takeBlocks(reader: Reader): Promise<void> {
    const { spec, taker } = this.#options
    const { height: state } = this.#head as StateHead
    const committing = state + coinDepth
    const yielder = new Yielder()
    while (reader.remaining > 0) {
      if (this.#outlined === committing) throw new RuleError('block-height', `block ${committing} is the last one`)
      const height = this.#outlined < state ? this.#outlined + 1 : committing
      const header = this.#headers.at(height)
      const outline = readOutline(reader)
      checkOutline(spec, header, outline)
      this.#outlined = height
      if (height === state) this.#stateCoinbase = outline.coinbase
      if (height === committing) this.#committingCoinbase = outline.coinbase
      else {
        this.#transactions += outline.transactions.length + 1
        this.#places.add(outline)
        await taker?.block(header, outline)
      }
      if (yielder.over) await yielder.next()
    }
  }

  #requireOutlines(): void {
    if (this.#committingCoinbase !== undefined) return
    throw new RuleError('block-height', `its blocks end with ${this.#outlined}`)
  }

  #takeChunks(reader: Reader): void {
    const most = Math.ceil(this.#mostCoins / chunkCoins)
    while (reader.remaining > 0) {
      if (this.#chunkCount === most) throw new CodecError(`there are more than ${most} chunks`)
      this.#chunks.add(reader.hash())
    }
  }

  /**
   * Most coins that there can be. The head may name any number, and is checked with the last chunk alone; the transactions were checked, and
   * each of them has taken more bytes than the hashes of the chunks that its outputs can fill.
   */
  get #mostCoins(): number {
    return Math.min((this.#head as StateHead).coins, this.#firstOutputs + this.#transactions * fixedLimits.outputs)
  }

  get #chunkCount(): number {
    return this.#chunks.length / hashSize
  }

  #chunk(number: number): Hash {
    return this.#chunks.part(number * hashSize, (number + 1) * hashSize)
  }

  /** Requires that the hashes of chunks are those that the block commits to. */
  #requireCoinRoot(): void {
    const { genesis, height, coins, sum } = this.#head as StateHead
    const leaves = Array.from({ length: this.#chunkCount }, (_, number) => this.#chunk(number))
    const set = { leaves, count: coins, sum, sideChains: this.#sideChains }
    checkCoinRoot(this.#committingCoinbase as Transaction, coinRoot(genesis, height, set))
  }

  async #takeCoins({ number, bytes }: Part): Promise<void> {
    if (number === 0) this.#requireCoinRoot()
    const isListed = number < this.#chunkCount
    if (!isListed || !equalBytes(this.#chunk(number), sha256(Buffer.concat([Buffer.of(0), bytes])))) {
      throw new RuleError('coinbase-coin-root', 'its hash is not among those of the chunks, at its place')
    }
    this.#coins.add(bytes)
    await this.#options.taker?.coins(bytes)
  }

  #takeMap({ number, bytes }: Part): void {
    const { depth, genesis, height } = this.#head as StateHead
    if (this.#isMapRight) throw new CodecError('the map is whole before it')
    const wanted = Math.min(2 ** depth - number * 0x10000, 0x10000) * subtreeSize
    if (bytes.length !== wanted)
      throw new RuleError('coinbase-did-root', `${bytes.length} bytes of subtrees, not ${wanted}`)
    this.#map.push(bytes)
    if ((number + 1) * 0x10000 < 2 ** depth) return
    const root = rootOfSubtrees(Buffer.concat(this.#map))
    if (root === undefined) throw new RuleError('coinbase-did-root', 'a subtree is of no kind')
    // Genesis commits to nothing: its map is empty.
    if (this.#stateCoinbase !== undefined)
      checkDidRoot(this.#options.spec, height, this.#stateCoinbase, didRoot(genesis, root))
    else if (!equalBytes(root, emptyNode)) throw new RuleError('coinbase-did-root', 'genesis has no DIDs')
    this.#isMapRight = true
  }

  async #takeLeaves(reader: Reader): Promise<void> {
    const { depth } = this.#head as StateHead
    const [first, count] = [reader.u32(), reader.u32()]
    if (!this.#isMapRight) throw new CodecError('the map is not there')
    if (first !== this.#prefix || first + count > 2 ** depth) {
      throw new RuleError('coinbase-did-root', `subtrees from ${first} on, after ${this.#prefix} of ${2 ** depth}`)
    }
    const yielder = new Yielder()
    for (; this.#prefix < first + count; this.#prefix++) {
      const records = reader.list(reader.remaining, leafSize, () => readLeaf(reader))
      const leaves = records.map(leafOf)
      for (const [i, { key }] of leaves.entries()) {
        const before = leaves[i - 1]
        if (prefixOf(key, depth) !== this.#prefix || (before !== undefined && !ascend(before.key, key))) {
          throw new RuleError('coinbase-did-root', `leaf ${toHex(key)} is not in its place`)
        }
      }
      if (!isSubtree(this.#subtree(this.#prefix), subtreeOf(leaves, depth))) {
        throw new RuleError('coinbase-did-root', `the leaves of subtree ${this.#prefix} are not those of the map`)
      }
      for (const [i, record] of records.entries()) await this.#takeLeaf(record, leaves[i] as LeafOfHistory)
      if (yielder.over) await yielder.next()
    }
    requireEnd(reader)
  }

  #subtree(prefix: number): Uint8Array {
    const part = this.#map[prefix >>> 16] as Uint8Array
    const at = (prefix & 0xffff) * subtreeSize
    return part.subarray(at, at + subtreeSize)
  }

  /** Checks the transactions of a leaf whose entries are those of the map. */
  async #takeLeaf(record: LeafRecord, leaf: LeafOfHistory): Promise<void> {
    const wanted = kept(record)
    if (record.transactions.length !== wanted.length) {
      throw new RuleError('coinbase-did-root', `${record.transactions.length} transactions, not ${wanted.length}`)
    }
    const found = record.entries.map((entry) => this.#places.of(entry))
    for (const [i, position] of wanted.entries()) {
      const { height, txid } = record.entries[position] as Entry
      const { digest } = found[position] as (typeof found)[number]
      if (!equalBytes(digest, sha256d(record.transactions[i] as Uint8Array))) {
        throw new RuleError('coinbase-witness-root', `block ${height} has another transaction ${toHex(txid)}`)
      }
    }
    if (record.credential === undefined) this.#dids++
    else this.#credentials++
    const indices = found.map(({ index }) => index)
    await this.#options.taker?.leaf(record, leaf, indices)
  }
}

function requireEnd(reader: Reader): void {
  if (reader.remaining > 0) throw new CodecError(`${reader.remaining} bytes too many`)
}

/** Runs a check of a part, and names the part where it fails. */
async function wrapping<T>(part: PartPlace, check: () => Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof RuleError || error instanceof CodecError)) throw error
    throw new StateError(part, error.message, error instanceof RuleError ? error.code : undefined)
  }
}
