import { EventEmitter } from 'node:events'
import type { StateView } from '../consensus/ledger.js'
import { blockSanitySteps, type SanityContext } from '../consensus/sanity.js'
import { SignatureCache } from '../crypto/signature-cache.js'
import type { Verifier } from '../crypto/verifier.js'
import type { Clock, Log } from '../env.js'
import { InvariantError, RuleError } from '../errors.js'
import { Block, blockHashOf } from '../primitives/block.js'
import { equalBytes } from '../primitives/bytes.js'
import { workOf } from '../primitives/compact.js'
import { genesisBlock, registerAssetTransaction } from '../primitives/genesis.js'
import type { Hash } from '../primitives/hash.js'
import type { Header } from '../primitives/header.js'
import type { Spec } from '../primitives/spec.js'
import { damaged, type Database, Overlay, StorageError } from '../storage/database.js'
import type { JournalKind } from '../storage/journal.js'
import { type BlockStatus, keys, values } from '../storage/schema.js'
import { StoredState } from '../storage/state.js'
import { Headers, type KnownHeader } from './headers.js'
import { readSideBody } from './bodies.js'
import type { BlockEvent, ChainChange, ChainFollower, ChainWriter, Restoration } from './change.js'
import { connectInto } from './connect.js'
import { disconnectInto, rewindBlocks, rewindBytes } from './disconnect.js'
import { JobQueue } from './queue.js'
import { PreparedBlocks } from './prepared.js'
import { BlockRunError, checkConfirmOf, checkPlace, type Checking, connectRun, type IncomingBlock } from './run.js'
import { genesisInto, putRecord, putStatus } from './records.js'
import { sideBlockLimit, SideBlocks } from './side.js'
import { runInSlices } from '../slices.js'

/** Blocks waiting for the writer. */
const queueLimit = 256
/** Signatures of confirms that are remembered; about 13 MB where all of a batch of headers are ahead of their bodies. */
const confirmSignatureEntries = 131_072
/** Blocks that a reorganisation may take back. */
export const reorganisationDepth = 288

export type { BlockEvent, ChainChange, ChainFollower, ChainWriter } from './change.js'

export interface ChainOptions {
  readonly spec: Spec
  readonly database: Database
  readonly verifier: Verifier
  readonly signatures: SignatureCache
  readonly clock: Clock
  readonly log: Log
}

interface ChainEvents {
  change: [ChainChange]
  fatal: [Error]
}

/** What became of a block that was handed in and broke no rule. */
export type Acceptance = 'connected' | 'side' | 'known'

/** The chain: one writer that takes blocks as bytes and keeps the best chain connected. */
export class Chain {
  readonly spec: Spec
  readonly sanity: SanityContext
  readonly genesis: Block
  readonly headers: Headers
  readonly events = new EventEmitter<ChainEvents>()
  readonly database: Database
  /** Signatures of confirms that were verified before their blocks came, one by one or as votes. */
  readonly confirmSignatures = new SignatureCache(confirmSignatureEntries)
  readonly #options: ChainOptions
  readonly #checking: Checking
  readonly #prepared = new PreparedBlocks()
  readonly #queue = new JobQueue(queueLimit)
  readonly #followers: ChainFollower[] = []
  #tip!: KnownHeader
  #side!: SideBlocks

  private constructor(options: ChainOptions) {
    this.#options = options
    this.spec = options.spec
    this.database = options.database
    this.genesis = genesisBlock(options.spec)
    this.sanity = { spec: options.spec, assetId: registerAssetTransaction(options.spec).hash }
    this.headers = new Headers(options.database)
    this.#checking = { ...options, sanity: this.sanity, confirmSignatures: this.confirmSignatures }
  }

  /** Opens the chain in a database, writing genesis into an empty one. */
  static async open(options: ChainOptions): Promise<Chain> {
    const chain = new Chain(options)
    const tipRow = options.database.get(keys.meta('tip'))
    if (tipRow === undefined) await chain.#writeGenesis()
    else chain.#resume(values.tip.decode(tipRow).hash)
    chain.#side = await SideBlocks.open(options.database, chain.headers)
    return chain
  }

  #resume(tipHash: Hash): void {
    const first = this.headers.activeHash(0)
    if (first === undefined) throw damaged('the genesis block is gone')
    if (!equalBytes(first, this.genesis.header.hash)) {
      throw new StorageError(`the database holds a chain of another spec than ${this.spec.name}`)
    }
    const tip = this.headers.get(tipHash)
    if (tip === undefined) throw damaged('the header of the tip is gone')
    const { height } = tip.header
    const upgrades = this.database.get(keys.meta('upgrades'))
    if (upgrades === undefined || !equalBytes(upgrades, this.spec.upgradesDigest(height))) {
      throw new StorageError(
        `the upgrades of the chain spec up to height ${height} are not those this chain was built by`,
      )
    }
    this.#tip = tip
  }

  get tip(): KnownHeader {
    return this.#tip
  }

  /** The state at the tip. */
  get state(): StateView {
    return new StoredState(this.database)
  }

  /**
   * Takes a block, and on a chain with validators its confirm, as bytes; resolves when everything it changed is on
   * disk. Rejects with a RuleError that says which rule it breaks.
   */
  acceptBlock(block: Uint8Array, confirm?: Uint8Array): Promise<Acceptance> {
    return this.#queue.run(() => this.#guard(() => this.#accept(block, confirm)))
  }

  /**
   * Takes blocks that follow the tip one on the other, in one batch; resolves with their number when all of it is on disk.
   * Those at the beginning that are on the chain already are passed over. When one breaks a rule, those before it are
   * connected and it rejects with a {@link BlockRunError}. `assumed`: signatures of transactions, operations, credentials and
   * confirms are believed, everything else is checked.
   */
  acceptBlocks(blocks: readonly IncomingBlock[], { assumed = false } = {}): Promise<number> {
    return this.#queue.run(() => this.#guard(() => this.#acceptRun(blocks, assumed)))
  }

  /**
   * Checks everything about a block on top of the tip but its confirm. What comes out is kept for the last few, so that
   * {@link acceptBlock} has only the confirm to check and the rows to write. Rejects with a RuleError.
   */
  prepare(bytes: Uint8Array): Promise<Block> {
    return this.#queue.run(() => this.#guard(() => this.#prepare(bytes)))
  }

  addFollower(follower: ChainFollower): void {
    this.#followers.push(follower)
  }

  /** Runs a job of another part between blocks: the tip does not move meanwhile, unless the job itself rewinds it. */
  exclusive<T>(job: (writer: ChainWriter) => Promise<T>): Promise<T> {
    const rewind: ChainWriter['rewind'] = (to, restorations) => this.#rewind(to, restorations)
    return this.#queue.run(() => this.#guard(() => job({ rewind })))
  }

  /** Waits for the writer and leaves a clean point behind. */
  async close(): Promise<void> {
    await this.#queue.idle()
    await this.database.checkpoint({ height: this.#tip.header.height, hash: this.#tip.header.hash })
  }

  async #guard<T>(job: () => Promise<T>): Promise<T> {
    try {
      return await job()
    } catch (error) {
      if (!(error instanceof RuleError || error instanceof BlockRunError)) {
        const failure = error instanceof Error ? error : new Error(String(error))
        this.#options.log.error({ error: failure.message }, 'the chain cannot go on')
        this.events.emit('fatal', failure)
      }
      throw error
    }
  }

  async #prepare(bytes: Uint8Array): Promise<Block> {
    const kept = this.#prepared.find(bytes, this.#tip)
    if (kept !== undefined) return kept.event.block
    const block = Block.fromBytes(bytes)
    if (!equalBytes(block.header.previous, this.#tip.header.hash)) throw new RuleError('block-stale')
    await checkPlace(block, this.headers.ancestry(this.#tip), this.#checking)
    await runInSlices(blockSanitySteps(block, this.sanity))
    const overlay = new Overlay(this.database)
    const event = await connectInto(overlay, block, this.#checking)
    this.#prepared.add({ bytes, tip: this.#tip, overlay, event })
    return block
  }

  async #accept(bytes: Uint8Array, confirmBytes?: Uint8Array): Promise<Acceptance> {
    const block = Block.fromBytes(bytes)
    const { header } = block
    const known = this.headers.get(header.hash)
    if (known?.status === 'invalid') throw new RuleError('block-invalid')
    if (known !== undefined) return 'known'
    const parent = this.headers.get(header.previous)
    if (parent === undefined) throw new RuleError('block-parent-unknown', `parent of ${header.id}`)
    if (this.spec.hasValidators && !this.#isTip(parent)) {
      throw new RuleError(
        'block-stale',
        `it stands on height ${header.height - 1}, but the tip is at ${this.#tip.header.height}`,
      )
    }
    this.#checkBranch(parent)

    const prepared = this.#prepared.find(bytes, this.#tip)
    if (prepared === undefined) await checkPlace(block, this.headers.ancestry(parent), this.#checking)
    await checkConfirmOf(header, confirmBytes, this.#checking)
    if (prepared !== undefined) {
      await this.#connected(prepared.overlay, prepared.event, { parent, size: bytes.length }, confirmBytes)
      return 'connected'
    }

    const record = { parent, size: bytes.length }
    const better = this.spec.hasValidators || chainWorkOf(block, record) > this.#tip.chainWork
    if (!better) await this.#makeRoomAside()
    try {
      await runInSlices(blockSanitySteps(block, this.sanity))
      if (better && this.#isTip(parent)) await this.#extend(block, record, confirmBytes)
      else if (better) await this.#reorganise(block, record)
      else await this.#keepAside(block, record)
    } catch (error) {
      if (error instanceof BranchError) throw error.rule
      // A confirmed block is refused without a mark: its hash is in no tree that could be asked for it again.
      if (error instanceof RuleError && !this.spec.hasValidators) await this.#markInvalid(block, record)
      throw error
    }
    return better ? 'connected' : 'side'
  }

  /** The branch must leave the active chain within reach, and all of it must be there to be connected. */
  #checkBranch(parent: KnownHeader): void {
    let fork = parent
    for (let steps = 0; fork.status !== 'active'; steps++) {
      // A block may stand on an invalid one and not be marked itself: it was kept aside before anybody knew.
      if (fork.status === 'invalid') throw new RuleError('block-parent-invalid', `${fork.header.id} is invalid`)
      if (fork.status === 'header' || steps > sideBlockLimit) throw new RuleError('block-too-deep')
      fork = this.#known(fork.header.previous)
    }
    const depth = this.#tip.header.height - fork.header.height
    if (depth > reorganisationDepth) {
      throw new RuleError('block-too-deep', `the branch leaves the chain ${depth} blocks below the tip`)
    }
  }

  async #extend(block: Block, record: NewRecord, confirm: Uint8Array | undefined): Promise<void> {
    const overlay = new Overlay(this.database)
    await this.#connected(overlay, await connectInto(overlay, block, this.#checking), record, confirm)
  }

  async #connected(
    overlay: Overlay,
    event: BlockEvent,
    record: NewRecord,
    confirm: Uint8Array | undefined,
  ): Promise<void> {
    const { block } = event
    this.#putRecord(overlay, block, record, 'active')
    if (confirm !== undefined) overlay.put(keys.confirm(block.header.hash), confirm)
    await this.#change(overlay, { disconnected: [], connected: [event] }, { kind: 'block', top: block.header })
  }

  async #acceptRun(incoming: readonly IncomingBlock[], assumed: boolean): Promise<number> {
    const isNew = ({ block }: IncomingBlock) => this.headers.get(blockHashOf(block))?.status !== 'active'
    const known = incoming.findIndex(isNew)
    if (known < 0) return incoming.length
    const run = incoming.slice(known)
    const overlay = new Overlay(this.database)
    const parts = { ...this.#checking, headers: this.headers, overlay, arrival: this.database.sequence + 1 }
    const { connected, failure } = await connectRun(run, this.#tip, parts, { assumed })
    const top = connected.at(-1)?.block.header
    if (top !== undefined) await this.#change(overlay, { disconnected: [], connected }, { kind: 'block', top })
    if (failure === undefined) return incoming.length
    // Alone it breaks the same rule, and is marked for it.
    const broken = run[connected.length] as IncomingBlock
    if (!this.spec.hasValidators) await this.#accept(broken.block).catch(passRuleError)
    throw new BlockRunError(known + connected.length, failure)
  }

  /** Leaves the active chain where the branch of `block` left it and follows the branch: all in one batch. */
  async #reorganise(block: Block, record: NewRecord): Promise<void> {
    const overlay = new Overlay(this.database)
    const branch = this.#branchOf(record.parent)
    const fork = branch.length === 0 ? record.parent : this.#known((branch[0] as KnownHeader).header.previous)
    const going = [...this.#downTo(fork.header.height)]
    const disconnected = await disconnectInto(overlay, this.database, going, (gone, body) => {
      overlay.put(keys.sideBody(gone.header.hash), body.bytes)
      putStatus(overlay, gone, 'side')
    })
    const connected: BlockEvent[] = []
    for (const [i, known] of branch.entries()) {
      const body = readSideBody(this.database, known.header.hash)
      try {
        connected.push(await connectInto(overlay, body, this.#checking))
      } catch (error) {
        if (error instanceof RuleError) await this.#refuseBranch([...branch.slice(i)], block, record, error)
        throw error
      }
      overlay.del(keys.sideBody(known.header.hash))
      putStatus(overlay, known, 'active')
    }
    connected.push(await connectInto(overlay, block, this.#checking))
    this.#putRecord(overlay, block, record, 'active')
    await this.#change(overlay, { disconnected, connected }, { kind: 'reorganisation', top: block.header })
    going.forEach((known) => this.#side.add(known))
    branch.forEach((known) => this.#side.remove(known))
  }

  async #rewind(to: Hash, restorations: readonly Restoration[]): Promise<void> {
    if (!this.spec.devnet) throw new InvariantError('only the chain of a devnet can be taken back')
    const target = this.#known(to)
    if (target.status !== 'active') throw new InvariantError('the block to go back to is not on the chain')
    for (let done = false; !done;) {
      const overlay = new Overlay(this.database)
      const going = this.#someDownTo(target.header.height)
      const disconnected = await disconnectInto(overlay, this.database, going, ({ header: { hash } }) => {
        overlay.del(keys.header(hash))
        overlay.del(keys.confirm(hash))
      })
      const top = this.#activeAt(this.#tip.header.height - going.length).header
      done = top.height === target.header.height
      const restoring = done ? restorations : []
      await this.#change(overlay, { disconnected, connected: [] }, { kind: 'rewind', top, restoring })
    }
  }

  /** The active blocks above a height, newest first. */
  *#downTo(floor: number): Generator<KnownHeader> {
    for (let height = this.#tip.header.height; height > floor; height--) yield this.#activeAt(height)
  }

  /** As many of them as one batch of a rewind takes. */
  #someDownTo(floor: number): KnownHeader[] {
    const some: KnownHeader[] = []
    let bytes = 0
    for (const known of this.#downTo(floor)) {
      if (some.length === rewindBlocks || bytes >= rewindBytes) break
      some.push(known)
      bytes += known.size
    }
    return some
  }

  /** The blocks from the fork, exclusive, up to `top`, inclusive, that are off the active chain. */
  #branchOf(top: KnownHeader): KnownHeader[] {
    const branch: KnownHeader[] = []
    for (let known = top; known.status !== 'active'; known = this.#known(known.header.previous)) branch.unshift(known)
    return branch
  }

  async #refuseBranch(broken: KnownHeader[], top: Block, record: NewRecord, error: RuleError): Promise<never> {
    const overlay = new Overlay(this.database)
    for (const known of broken) {
      putStatus(overlay, known, 'invalid')
      overlay.del(keys.sideBody(known.header.hash))
    }
    this.#putRecord(overlay, top, record, 'invalid')
    await this.#commit(overlay, this.#tip.header, 'header')
    this.headers.forget(broken.map(({ header }) => header.hash))
    broken.forEach((known) => this.#side.remove(known))
    throw new BranchError(error)
  }

  async #keepAside(block: Block, record: NewRecord): Promise<void> {
    const overlay = new Overlay(this.database)
    this.#putRecord(overlay, block, record, 'side')
    overlay.put(keys.sideBody(block.header.hash), block.bytes)
    await this.#commit(overlay, this.#tip.header, 'header')
    this.#side.add(record)
  }

  /** Drops bodies that no reorganisation can reach any more; refuses the newcomer when that is not enough. */
  async #makeRoomAside(): Promise<void> {
    if (!this.#side.full) return
    const gone = await this.#side.below(this.#tip.header.height - reorganisationDepth)
    if (gone.length > 0) {
      const overlay = new Overlay(this.database)
      for (const known of gone) {
        overlay.del(keys.sideBody(known.header.hash))
        putStatus(overlay, known, 'header')
      }
      await this.#commit(overlay, this.#tip.header, 'header')
      this.headers.forget(gone.map(({ header }) => header.hash))
      gone.forEach((known) => this.#side.remove(known))
    }
    if (this.#side.full) throw new RuleError('block-unsettled-full')
  }

  async #markInvalid(block: Block, record: NewRecord): Promise<void> {
    const overlay = new Overlay(this.database)
    this.#putRecord(overlay, block, record, 'invalid')
    await this.#commit(overlay, this.#tip.header, 'header')
  }

  #putRecord(overlay: Overlay, block: Block, record: NewRecord, status: BlockStatus): void {
    const { size } = record
    const arrival = this.database.sequence + 1
    putRecord(overlay, block, { chainWork: chainWorkOf(block, record), size, status, arrival })
  }

  async #commit(overlay: Overlay, tip: Header, kind: JournalKind): Promise<void> {
    const { hash, height } = tip
    overlay.put(keys.meta('tip'), values.tip.encode({ hash, height }))
    overlay.put(keys.meta('upgrades'), this.spec.upgradesDigest(height))
    await overlay.commit({ kind, hash, height }, { sync: true })
  }

  /** Writes a change of the active chain and tells everyone once it is on disk. */
  async #change(overlay: Overlay, change: ChainChange, { kind, top, restoring = [] }: ChangeInfo): Promise<void> {
    const moved = [...change.disconnected, ...change.connected]
    // A rewind may restore other parts alone: those who follow the chain see nothing then.
    const followers = moved.length === 0 ? [] : this.#followers
    for (const part of [...followers, ...restoring]) part.stage(overlay, change)
    await this.#commit(overlay, top, kind)
    // The tip is read anew, also where it was the tip before: what is kept for a tip goes when the object is another.
    this.headers.forget([...moved.map(({ block }) => block.header.hash), top.hash])
    this.#tip = this.#known(top.hash)
    await Promise.all(restoring.map((part) => part.follow()))
    for (const follower of followers) await follower.follow(change)
    if (moved.length > 0) this.events.emit('change', change)
  }

  async #writeGenesis(): Promise<void> {
    const overlay = new Overlay(this.database)
    await genesisInto(overlay, this.genesis)
    await this.#commit(overlay, this.genesis.header, 'genesis')
    this.#tip = this.#known(this.genesis.header.hash)
  }

  #isTip(known: KnownHeader): boolean {
    return equalBytes(known.header.hash, this.#tip.header.hash)
  }

  #activeAt(height: number): KnownHeader {
    const known = this.headers.active(height)
    if (known === undefined) throw new InvariantError(`the active chain has no block at height ${height}`)
    return known
  }

  #known(hash: Hash): KnownHeader {
    const known = this.headers.get(hash)
    if (known === undefined) throw new InvariantError('a header that must be known is not in the database')
    return known
  }
}

interface NewRecord {
  readonly parent: KnownHeader
  readonly size: number
}

function passRuleError(error: unknown): void {
  if (!(error instanceof RuleError)) throw error
}

/** Work of the chain that ends with a new block. */
function chainWorkOf({ header }: Block, { parent }: NewRecord): bigint {
  return parent.chainWork + workOf(header.bits)
}

/** What a change of the active chain is, the tip it leaves, and on a rewind the parts that go back with it. */
interface ChangeInfo {
  readonly kind: JournalKind
  readonly top: Header
  readonly restoring?: readonly Restoration[]
}

/** A branch broke a rule below its newest block: everything is marked already. */
class BranchError extends Error {
  readonly rule: RuleError

  constructor(rule: RuleError) {
    super(rule.message)
    this.rule = rule
  }
}
