/**
 * Decides which blocks are the active chain, and is the only writer of its rows.
 *
 *   bytes, confirm -> acceptBlock(s), prepare -> JobQueue    one job at a time
 *     -> Block.fromBytesSteps
 *     -> checkPlace -> checkConfirmOf                         block-run.ts, run-confirms.ts: ancestors, clock, work, does the body match; confirm
 *     -> blockSanitySteps                                    sanity.ts: all rules of the bytes
 *        on the tip     -> connectInto                       coins, DIDs and signatures, into an Overlay
 *        heavier branch -> Branches.switchTo                 Reorganisation: back to the fork point, then up
 *        lighter branch -> Branches.keepAside                side block
 *     -> ChainIndexer.stage -> #commit -> tip -> ChainIndexer.follow -> `change` event
 *
 * Imports consensus, crypto, errors, primitives, proofs, runtime, storage; used by gateway, state, mempool, events, production, voting, network,
 * devnet, api, node, cli, heads, standing.
 * - Own blocks enter as bytes, like those of peers. The tip moves only after its batch is on disk.
 * - One batch per change; a reorganisation takes several, which readers see as one.
 */
import { EventEmitter } from 'node:events'
import type { StateView } from '../consensus/ledger.js'
import type { SanityContext } from '../consensus/rule-context.js'
import { blockSanitySteps } from '../consensus/sanity.js'
import { SignatureCache } from '../../base/crypto/signature-cache.js'
import type { Verifier } from '../../base/crypto/verifier.js'
import { brokenRule } from '../../base/errors/broken-rule.js'
import { InvariantError, RuleError } from '../../base/errors/rule-error.js'
import { Block, blockHashOf } from '../../base/primitives/block.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { coinDepth } from '../../base/primitives/coin-depth.js'
import { defined } from '../../base/primitives/defined.js'
import { genesisBlock, registerAssetTransaction } from '../../base/primitives/genesis.js'
import type { Header } from '../../base/primitives/header.js'
import { keepsMap, type Spec } from '../../base/primitives/spec.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import type { Env } from '../../base/runtime/env.js'
import { JobQueue } from '../../base/runtime/job-queue.js'
import type { Database } from '../storage/database.js'
import { Overlay } from '../storage/write/overlay.js'
import type { JournalKind } from '../storage/rows/journal-row.js'
import { tables } from '../storage/rows/tables.js'
import { KnownDocuments } from '../storage/write/known-documents.js'
import { MapMemory } from '../storage/rows/map/map-rows.js'
import { joinedHeight, prunedHeight, supersededHeight } from '../storage/rows/prune-rows.js'
import { StoredState } from '../storage/stored-state.js'
import { AssumedConfirms } from './assumed-confirms.js'
import { chainWorkOf, genesisInto, type NewBlock, putRecord } from './block-records.js'
import { BlockRunError, checkPlace, type Checking, connectRun, unlessConfirmed } from './block-run.js'
import { Branches, BranchError, type PursuedHeaders } from './branches.js'
import {
  type ChangedBlock,
  type ChainChange,
  type ChainIndexer,
  type ChainWriter,
  changeOf,
  type DocumentBatch,
  type HeldBlock,
  type IncomingBlock,
} from './chain-change.js'
import { ClosedError, CoinRoots } from './coin-roots.js'
import { connectInto } from './connect-block.js'
import { HeaderIndex, type KnownHeader } from './header-index.js'
import { lateModules } from './late-modules.js'
import { PreparedBlocks } from './prepared-blocks.js'
import { pruneBlocks, type PrunedChain } from './prune-chain.js'
import { pruneDocuments } from './prune-documents.js'
import { bodyOf } from './read-body.js'
import { putTip, type Reorganised } from './reorganise.js'
import { resumeChain, type Resuming } from './resume-chain.js'
import { type ChangeInfo, replaceBlocks, type RewoundChain, rewindChain } from './rewind-chain.js'
import { checkConfirmOf } from './run-confirms.js'
import { VerifiedConfirms } from './verified-confirms.js'

/** @limit count: blocks and other jobs that wait for the writer */
const queueLimit = 256
/**
 * About 13 MB when full.
 * @tuning count: cached signatures of votes
 */
const confirmSignatureEntries = 131_072

export type { ChangedBlock, ChainChange, ChainIndexer, ChainWriter } from './chain-change.js'

export interface ChainOptions extends Pick<Env, 'clock' | 'log'> {
  readonly spec: Spec
  readonly database: Database
  readonly verifier: Verifier
  readonly signatures: SignatureCache
  /** Last blocks that keep their transactions, at least leastKept of prune-rows.ts; absent: all keep them. */
  readonly keepBlocks?: number
  /** Last blocks whose operations leave the documents before them in place, at least leastKeptDocuments of prune-rows.ts; absent: all do. */
  readonly keepDocuments?: number
  /** Whether every state of the map of DIDs is kept for proofs, not only those of the last blocks. */
  readonly archiveProofs?: boolean
  readonly onMade?: Resuming['onMade']
  /** Bytes of blocks in a batch of a reorganisation; tests need few. */
  readonly reorganisationBytes?: number
}

interface ChainEvents {
  change: [ChainChange]
  fatal: [Error]
}

/** Result of a block that broke no rule. */
export type Acceptance = 'connected' | 'side' | 'known'

/** The chain: one writer that accepts blocks as bytes and keeps the best chain connected. */
export class Chain {
  readonly spec: Spec
  readonly sanity: SanityContext
  readonly genesis: Block
  readonly headers: HeaderIndex
  readonly events = new EventEmitter<ChainEvents>()
  readonly database: Database
  /** Signatures of confirms that hold singly: verified as votes, or made by the own validator. */
  readonly confirmSignatures = new SignatureCache(confirmSignatureEntries)
  /** Confirms verified with headers that arrived before their blocks. */
  readonly verifiedConfirms = new VerifiedConfirms()
  readonly assumedConfirms: AssumedConfirms
  readonly #documents = new KnownDocuments()
  /** Parts of the map of DIDs that need not be hashed again. */
  readonly mapMemory = new MapMemory()
  readonly coinRoots: CoinRoots
  readonly #options: ChainOptions
  readonly #checking: Checking
  readonly #prepared = new PreparedBlocks()
  readonly #queue = new JobQueue(queueLimit)
  readonly #indexers: ChainIndexer[] = []
  #tip!: KnownHeader
  #prunedHeight = 0
  #supersededHeight = 0
  #joinedHeight = 0
  #verifiedHeight = 0
  #branches!: Branches
  #pursued: (() => PursuedHeaders) | undefined
  /** The error that stopped the writer: its rows may be between two tips. */
  #stuck: Error | undefined

  private constructor(options: ChainOptions) {
    this.#options = options
    // The rooms of a node listen, and any number of callers that embed one and wait for transactions.
    this.events.setMaxListeners(0)
    this.spec = options.spec
    this.database = options.database
    this.genesis = genesisBlock(options.spec)
    this.sanity = { spec: options.spec, assetId: registerAssetTransaction(options.spec).hash }
    this.headers = new HeaderIndex(options.database)
    this.assumedConfirms = new AssumedConfirms(options)
    const { sanity, confirmSignatures, verifiedConfirms } = this
    const { mapMemory } = this
    const genesis = this.genesis.header.hash
    const coinRoots = new CoinRoots({ ...options, genesis })
    this.coinRoots = coinRoots
    this.#checking = {
      ...options,
      sanity,
      genesis,
      confirmSignatures,
      verifiedConfirms,
      documents: this.#documents,
      mapMemory,
      coinRoots,
    }
  }

  /** Opens the chain in a database; writes genesis into an empty one. */
  static async open(options: ChainOptions): Promise<Chain> {
    const chain = new Chain(options)
    const { log, onMade } = options
    const tip = await resumeChain({ ...chain.#checking, headers: chain.headers, log, ...defined({ onMade }) })
    if (tip === undefined) await chain.#writeGenesis()
    else chain.#tip = tip
    chain.#prunedHeight = prunedHeight(options.database)
    chain.#supersededHeight = supersededHeight(options.database)
    chain.#joinedHeight = joinedHeight(options.database)
    chain.#branches = await Branches.open({
      ...chain.#checking,
      headers: chain.headers,
      tip: () => chain.#tip,
      commit: (overlay) => chain.#commit(overlay, chain.#tip.header, 'header'),
      arrival: () => chain.#arrival,
      pursued: () => chain.#pursued?.(),
    })
    return chain
  }

  get #rewound(): RewoundChain {
    return {
      ...this.#checking,
      database: this.database,
      headers: this.headers,
      branches: this.#branches,
      tip: () => this.#tip,
      arrival: () => this.#arrival,
      change: (...change) => this.#change(...change),
    }
  }

  get #pruned(): PrunedChain {
    const { database, headers, spec } = this
    const { header } = this.#tip
    const commit = (overlay: Overlay) => this.#commit(overlay, header, 'prune')
    return { database, headers, spec, height: header.height, commit }
  }

  /** Arrival number of the next block: rises with every batch. */
  get #arrival(): number {
    return this.database.sequence + 1
  }

  get tip(): KnownHeader {
    return this.#tip
  }

  /** Whether blocks deep below the tip give up their transactions, or have done so before. */
  get prunes(): boolean {
    return this.#options.keepBlocks !== undefined || this.prunedHeight > 0
  }

  /** Whether documents superseded deep below the tip are given up, or have been before. */
  get prunesDocuments(): boolean {
    return this.#options.keepDocuments !== undefined || this.supersededHeight > 0
  }

  /** The highest block that has given up its transactions; 0: none has. */
  get prunedHeight(): number {
    return this.#prunedHeight
  }

  /** Up to which block operations had the documents that they superseded given up; 0: none had. */
  get supersededHeight(): number {
    return this.#supersededHeight
  }

  /** The block whose state the node took from others; 0: it verified all blocks. */
  get joinedHeight(): number {
    return this.#joinedHeight
  }

  /** Height up to which headers were seen with a state that the node took: the chain is known to have gone so far. 0 without one. */
  get seenHeight(): number {
    return this.#joinedHeight === 0 ? 0 : this.#joinedHeight + coinDepth
  }

  /** The block up to which the history below a state that the node took was verified since. */
  get verifiedHeight(): number {
    return this.#verifiedHeight
  }

  /** Notes how far the history below the state is verified. */
  noteVerified(height: number): void {
    this.#verifiedHeight = height
  }

  /** The state at the tip. */
  get state(): StateView {
    return new StoredState(this.database, { time: () => this.tip.header.time, documents: this.#documents })
  }

  /**
   * Accepts a block as bytes, and on a chain with validators its confirm; resolves when every change is on disk. Rejects with
   * the RuleError of the broken rule.
   */
  acceptBlock(block: Uint8Array, confirm?: Uint8Array): Promise<Acceptance> {
    return this.#queue.run(() => this.#guard(() => this.#accept(block, confirm)))
  }

  /**
   * Accepts consecutive blocks on top of the tip in one batch; resolves with their number when all is on disk. Leading blocks
   * already on the chain are skipped. A block breaks a rule → those before it are connected, and it rejects with a {@link
   * BlockRunError}. `assumed`: signatures of transactions, operations, credentials and confirms are assumed valid, everything
   * else is checked. `following`: blocks known to follow these; a block that is deep below them gets no row to take the index
   * back.
   */
  acceptBlocks(blocks: readonly IncomingBlock[], { assumed = false, following = 0 } = {}): Promise<number> {
    return this.#queue.run(() => this.#guard(() => this.#acceptRun(blocks, { assumed, following })))
  }

  /**
   * Trial connect: checks a block on top of the tip, except its confirm. The last few results are kept, so that {@link
   * acceptBlock} only checks the confirm and writes the rows. Rejects with a RuleError; with `busy` when the block is no longer
   * `wanted` at its turn.
   */
  prepare(bytes: Uint8Array, wanted: () => boolean = () => true): Promise<Block> {
    return this.#queue.run(() => this.#guard(() => this.#prepare(bytes, wanted)))
  }

  /** Has side blocks of the best known headers kept before all others; undefined: none are known any more. */
  pursue(best: (() => PursuedHeaders) | undefined): void {
    this.#pursued = best
  }

  addIndexer(indexer: ChainIndexer): void {
    this.#indexers.push(indexer)
  }

  /** Runs a job between blocks: the tip does not move, unless the job itself rewinds it. */
  exclusive<T>(job: (writer: ChainWriter) => Promise<T>): Promise<T> {
    const writer: ChainWriter = {
      rewind: (...how) => rewindChain(this.#rewound, ...how),
      replace: (...how) => replaceBlocks(this.#rewound, ...how),
      prune: async (to) => (this.#prunedHeight = await pruneBlocks(this.#pruned, to)),
      pruneDocuments: (...how) => this.#pruneDocuments(...how),
    }
    return this.#queue.run(() => this.#guard(() => job(writer)))
  }

  /**
   * Takes the rows that a state does not have from a database whose chain ends with the block of that state: each batch between two blocks.
   * From then on it is a chain like any other.
   */
  async takeHistory(verified: Database, signal: AbortSignal, bytesAtOnce?: number): Promise<void> {
    const { takeHistory } = await lateModules.takeHistory()
    const { database } = this
    const write = (stage: (overlay: Overlay) => void | Promise<void>) =>
      this.#queue.run(() =>
        this.#guard(async () => {
          const overlay = new Overlay(database)
          await stage(overlay)
          await this.#commit(overlay, this.#tip.header, 'state')
        }),
      )
    await takeHistory({ database, write }, verified, signal, bytesAtOnce)
    this.#prunedHeight = prunedHeight(this.database)
    this.#joinedHeight = joinedHeight(this.database)
    this.headers.clear()
    this.#tip = this.headers.known(this.#tip.header.hash)
  }

  async #pruneDocuments(to: number, batch?: DocumentBatch): Promise<number> {
    const { height, left } = await pruneDocuments(this.#pruned, to, batch)
    this.#supersededHeight = height
    return left === 0 ? height : height - 1
  }

  /** Waits for the writer and writes a clean point. */
  async close(): Promise<void> {
    await this.coinRoots.close()
    await this.#queue.idle()
    // Between two tips: the next start resumes after the last batch.
    if (this.#stuck !== undefined) return
    await this.database.checkpoint({ height: this.#tip.header.height, hash: this.#tip.header.hash })
  }

  /** Reports an unrecoverable error of a component that follows the chain: the node stops. */
  fail(error: unknown): void {
    const failure = error instanceof Error ? error : new Error(String(error))
    this.#options.log.error({ error: failure.message }, 'the chain cannot go on')
    this.events.emit('fatal', failure)
  }

  async #guard<T>(job: () => Promise<T>): Promise<T> {
    if (this.#stuck !== undefined) throw this.#stuck
    try {
      return await job()
    } catch (error) {
      const isKnown = error instanceof RuleError || error instanceof BlockRunError || error instanceof ClosedError
      if (!isKnown) this.fail(error)
      throw error
    }
  }

  async #prepare(bytes: Uint8Array, wanted: () => boolean): Promise<Block> {
    const kept = this.#prepared.find(bytes, this.#tip)
    if (kept !== undefined) return kept.event.block
    if (!wanted()) throw new RuleError('busy', 'other blocks came first, and this one is not needed any more')
    const block = await runCooperatively(Block.fromBytesSteps(bytes))
    if (!equalBytes(block.header.previous, this.#tip.header.hash)) throw brokenRule('block-stale')
    await checkPlace(block, this.headers.ancestry(this.#tip), this.#checking)
    await runCooperatively(blockSanitySteps(block, this.sanity))
    const overlay = new Overlay(this.database)
    const event = await connectInto(overlay, block, this.#checking)
    this.#prepared.add({ bytes, tip: this.#tip, overlay, event })
    return block
  }

  async #accept(bytes: Uint8Array, confirmBytes?: Uint8Array): Promise<Acceptance> {
    const block = await runCooperatively(Block.fromBytesSteps(bytes))
    const { header } = block
    const known = this.headers.get(header.hash)
    if (known?.status === 'invalid') throw brokenRule('block-invalid')
    // Of a block that gave way to others only the header is known: it may come again.
    if (known !== undefined && known.status !== 'header') {
      if (known.status === 'active' && confirmBytes !== undefined) await this.#mendConfirm(header, confirmBytes)
      return 'known'
    }
    const parent = this.headers.get(header.previous)
    if (parent === undefined) throw new RuleError('block-parent-unknown', `parent of ${header.id}`)
    if (this.spec.hasValidators && !this.#isTip(parent)) {
      throw new RuleError(
        'block-stale',
        `it stands on height ${header.height - 1}, but the tip is at ${this.#tip.header.height}`,
      )
    }
    this.#branches.checkReach(parent)

    const prepared = this.#prepared.find(bytes, this.#tip)
    if (prepared === undefined) await checkPlace(block, this.headers.ancestry(parent), this.#checking)
    await checkConfirmOf(header, confirmBytes, this.#checking)
    if (prepared !== undefined) {
      await this.#connected(prepared.overlay, prepared.event, { parent, size: bytes.length }, confirmBytes)
      return 'connected'
    }

    const record = { parent, size: bytes.length }
    const better = this.spec.hasValidators || chainWorkOf(block, record) > this.#tip.chainWork
    if (!better) await this.#branches.checkRoom(block, record)
    try {
      await runCooperatively(blockSanitySteps(block, this.sanity))
      // A block on the tip is always the better one.
      if (this.#isTip(parent)) await this.#extend(block, record, confirmBytes)
      else if (better) await this.#reorganise(block, record)
      else await this.#branches.keepAside(block, record)
    } catch (error) {
      if (error instanceof BranchError) throw error.rule
      // A confirmed block is refused without a mark: no branch can bring it again. A stopped reorganisation left the rows between
      // two tips, where no row may be written.
      if (error instanceof RuleError) unlessConfirmed(error, this.spec)
      const isMarked = error instanceof RuleError && !this.spec.hasValidators && this.#stuck === undefined
      if (isMarked) await this.#branches.markInvalid(block, record)
      throw error
    }
    return better ? 'connected' : 'side'
  }

  /** Takes a confirm that holds in place of a wrong one that was assumed to be valid; another one changes nothing. */
  async #mendConfirm(header: Header, confirm: Uint8Array): Promise<void> {
    const overlay = new Overlay(this.database)
    const stored = { header, confirm }
    const isRight = await this.assumedConfirms.stageRight(overlay, stored).catch(passRuleError)
    if (isRight !== true) return
    await this.#commit(overlay, this.#tip.header, 'header')
    this.assumedConfirms.kept(header.height)
  }

  async #extend(block: Block, record: NewBlock, confirm: Uint8Array | undefined): Promise<void> {
    const overlay = new Overlay(this.database)
    await this.#connected(overlay, await connectInto(overlay, block, this.#checking), record, confirm)
  }

  async #connected(
    overlay: Overlay,
    event: HeldBlock,
    record: NewBlock,
    confirm: Uint8Array | undefined,
  ): Promise<void> {
    const { block } = event
    const chainWork = chainWorkOf(block, record)
    putRecord(overlay, block, { chainWork, size: record.size, status: 'active', arrival: this.#arrival })
    if (confirm !== undefined) overlay.put(tables.confirm.key(block.header.hash), confirm)
    await this.#change(overlay, changeOf({ connected: [event] }), { kind: 'block', top: block.header })
  }

  async #reorganise(block: Block, record: NewBlock): Promise<void> {
    // Readers see the old tip until the last batch is written, then the new one in a single turn.
    this.database.hold()
    let change: ChainChange | undefined
    const foresee = async (next: Block) => {
      for (const indexer of this.#indexers) await indexer.foresee?.(next)
    }
    const stage = (overlay: Overlay, reorganised: Reorganised) => {
      change = this.#changeBetween(reorganised)
      for (const indexer of this.#indexers) indexer.stage(overlay, change)
    }
    let moved: readonly KnownHeader[]
    try {
      const { disconnected, connected } = await this.#branches.switchTo(block, record, { foresee, stage })
      moved = [...disconnected, ...connected]
    } catch (error) {
      if (!(error instanceof BranchError)) {
        this.#stuck = error instanceof Error ? error : new Error(String(error))
        throw error
      }
      this.database.release()
      this.headers.forget(error.broken.map(({ header }) => header.hash))
      throw error
    }
    this.database.release()
    this.headers.forget(moved.map(({ header }) => header.hash))
    this.#tip = this.headers.known(block.header.hash)
    await this.#follow(change as ChainChange, this.#indexers)
  }

  #changeBetween({ disconnected, connected }: Reorganised): ChainChange {
    const event = ({ header }: KnownHeader): ChangedBlock => ({
      header,
      dids: [],
      credentials: [],
      read: async () => {
        const body = await bodyOf(this.database, this.headers, header.hash)
        if (body === undefined) throw new InvariantError('a block that a reorganisation moved is not in the database')
        return body
      },
    })
    return { reorganised: true, disconnected: disconnected.map(event), connected: connected.map(event) }
  }

  async #acceptRun(
    incoming: readonly IncomingBlock[],
    { assumed, following }: { readonly assumed: boolean; readonly following: number },
  ): Promise<number> {
    const isNew = ({ block }: IncomingBlock) => this.headers.get(blockHashOf(block))?.status !== 'active'
    const known = incoming.findIndex(isNew)
    if (known < 0) return incoming.length
    const run = incoming.slice(known)
    const overlay = new Overlay(this.database)
    const checking = { ...this.#checking, headers: this.headers, overlay, arrival: this.#arrival }
    const { connected, failure } = await connectRun(run, this.#tip, checking, { assumed, following })
    const top = connected.at(-1)?.block.header
    if (assumed && top !== undefined) this.assumedConfirms.stage(overlay, top.height)
    if (top !== undefined) await this.#change(overlay, changeOf({ connected }), { kind: 'block', top })
    if (failure === undefined) return incoming.length
    // Accepted singly it breaks the same rule, and is marked as invalid.
    const broken = run[connected.length] as IncomingBlock
    if (!this.spec.hasValidators) await this.#accept(broken.block).catch(passRuleError)
    throw new BlockRunError(known + connected.length, failure)
  }

  async #commit(overlay: Overlay, tip: Header, kind: JournalKind): Promise<void> {
    const { hash, height } = tip
    putTip(overlay, this.spec, tip)
    await overlay.commit({ kind, hash, height }, { sync: true })
  }

  /** Writes a change of the active chain, then notifies indexers and listeners. */
  async #change(overlay: Overlay, change: ChainChange, { kind, top, restoring = [] }: ChangeInfo): Promise<void> {
    const moved = [...change.disconnected, ...change.connected]
    // A rewind may restore other components alone: no block moves → indexers are not called.
    const indexers = moved.length === 0 ? [] : this.#indexers
    for (const part of [...indexers, ...restoring]) part.stage(overlay, change)
    await this.#commit(overlay, top, kind)
    // Always a fresh tip object: caches compare tips by identity.
    this.headers.forget([...moved.map(({ header }) => header.hash), top.hash])
    this.#tip = this.headers.known(top.hash)
    await Promise.all(restoring.map((part) => part.follow()))
    if (moved.length > 0) await this.#follow(change, indexers)
  }

  async #follow(change: ChainChange, indexers: readonly ChainIndexer[]): Promise<void> {
    this.coinRoots.follow(this.#tip.header)
    for (const indexer of indexers) await indexer.follow(change)
    this.events.emit('change', change)
  }

  async #writeGenesis(): Promise<void> {
    const overlay = new Overlay(this.database)
    await genesisInto(overlay, this.genesis, { map: keepsMap(this.spec) })
    await this.#commit(overlay, this.genesis.header, 'genesis')
    this.#tip = this.headers.known(this.genesis.header.hash)
  }

  #isTip(known: KnownHeader): boolean {
    return equalBytes(known.header.hash, this.#tip.header.hash)
  }
}

function passRuleError(error: unknown): void {
  if (!(error instanceof RuleError)) throw error
}
