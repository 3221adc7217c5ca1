/**
 * Gives a development chain what a network has no use for: blocks on demand, a clock that can be moved, a faucet, snapshots, states.
 *
 *   pooled transaction, interval, mine -> Producer.produce -> DevnetValidator.offer: soloConfirmBy -> chain.acceptBlock
 *   mine, empty pool -> solveEmptyRun -> DevnetValidator.offerRun -> chain.acceptBlocks     many blocks, one batch
 *   faucet, fund     -> fundAccounts, Faucet.send -> buildTransfer -> signTransaction -> mempool.accept
 *   seed             -> seedDids -> seededCreate -> selectionOf -> DevnetValidator.offer     one block a round, past the pool
 *   snapshot, revert -> Snapshots -> chain.exclusive: mempool.restore -> rewind, VirtualClock.restoration
 *   reorg            -> replaceLast -> solveEmptyRun -> replace    one batch, reverted and applied as one change
 *   state file, dumpState, loadState -> statePieces, readStateHead, readBlocks -> acceptBlocks | replace
 *   increaseTime, setTime, setNextBlockTime -> VirtualClock -> time of the next block
 *
 * Imports api, chain, consensus, crypto, did, errors, mempool, primitives, production, registrar, runtime, storage, voting, wallet; used by node, library, cli.
 * - Only where the spec says devnet; its keys are public.
 * - Blocks take the way of all blocks: template, work, confirm, bytes.
 * - A revert runs between blocks; pool and clock change with its last batch.
 * - One block of a height is signed, unless the chain was rewound.
 */
import { reorganisationDepth } from '../../ledger/chain/branches.js'
import type { ChainWriter } from '../../ledger/chain/chain-change.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { parseAddress } from '../../base/primitives/address.js'
import type { Block } from '../../base/primitives/block.js'
import { displayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { solveEmptyRun } from '../../ledger/production/empty-blocks.js'
import type { OwnValidator } from '../../ledger/production/mining.js'
import { Producer } from '../../ledger/production/producer.js'
import { Overlay } from '../../ledger/storage/write/overlay.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import { devnetMnemonic } from '../../clients/wallet/devnet-accounts.js'
import { AutomaticBlocks } from './automatic-blocks.js'
import { latestTime } from './clock.js'
import type { DevnetParts } from './devnet-parts.js'
import { Registrar } from '../../clients/registrar/registrar.js'
import { devnetRegistrar } from './devnet-registrar.js'
import { Faucet } from './faucet.js'
import { type Funding, fundAccounts, fundedAccounts } from './fund-accounts.js'
import type { MiningMode } from './mining-mode.js'
import { DevnetValidator } from './own-validator.js'
import { type Replaced, replaceLast } from './replace-last.js'
import { type SeededDids, seedDids } from './seed-dids.js'
import { Snapshots } from './snapshots.js'
import { adoptState, isStateFile, loadStateFile, readStateText, saveState, stateText } from './state.js'

export interface DevnetOptions extends DevnetParts {
  readonly mining: MiningMode
  /** Keeps the state from one run to the next: read by {@link Devnet.loadStateFile}, written at the end. */
  readonly stateFile?: string
}

/** A file from which the state comes, and to which it goes. */
export interface StateFile {
  readonly path: string
  /** Height of the state that was read; undefined where there was none. */
  readonly loaded: number | undefined
}

/** Units of the progress of a devnet before it serves: blocks of its state file, and DIDs that it registers. */
export const devnetUnits = { state: 'blocks', dids: 'DIDs' } as const

/** How far a devnet is with it. */
export interface DevnetStep {
  readonly stage: keyof typeof devnetUnits
  readonly done: number
  /** Absent: unknown. */
  readonly total?: number
}

/** @limit count: blocks of one `dev_mine` */
const maxBlocks = 10_000
/** @tuning count: empty blocks of `dev_mine` in one batch */
const blocksOfRun = 1000

/** The extras of a devnet: validator, mining, clock, faucet and snapshots. */
export class Devnet {
  readonly #options: DevnetOptions
  readonly #validator: DevnetValidator
  readonly #faucet: Faucet
  readonly #producer: Producer
  readonly #snapshots = new Snapshots()
  readonly #automatic: AutomaticBlocks
  /** The state file once it was read, or was found missing: before, it is not written at the end. */
  #stateFile: StateFile | undefined
  #saved: { readonly file: string; readonly height: number } | undefined
  #accounts: readonly SigningAccount[] = []
  #mnemonic = devnetMnemonic
  #seeded: SeededDids | undefined
  #registrar: Registrar | undefined
  #stopped = false
  #loading = false

  constructor(options: DevnetOptions) {
    const { chain, mempool, clock, random, mining } = options
    if (!chain.spec.devnet) throw new UserError(`the chain ${chain.spec.name} is no devnet`)
    this.#options = options
    this.#validator = new DevnetValidator({ chain, clock, random, automatic: mining.kind !== 'manual' })
    this.#faucet = new Faucet(options)
    const validator = this.#validator
    this.#producer = new Producer({
      chain,
      mempool,
      random,
      payTo: validator.payTo,
      time: () => validator.time(),
      offer: (block) => validator.offer(block),
    })
    this.#automatic = new AutomaticBlocks({ ...options, producer: this.#producer })
  }

  /** Registers DIDs of clients that sign themselves; the faucet pays. */
  get registrar(): Registrar {
    const { clock, random } = this.#options
    return (this.#registrar ??= new Registrar(devnetRegistrar({ ...this.#options, faucet: this.#faucet }), {
      clock,
      random,
    }))
  }

  /** Block production of the devnet, also for blocks of outside miners. */
  get validator(): OwnValidator {
    return this.#validator
  }

  /** Begins to mine in the configured mode. */
  start(): void {
    this.#automatic.start()
  }

  /** Ends all work under way, then writes the state file, if it has one. */
  async close(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.#automatic.close()
    await this.#faucet.close()
    await this.#producer.close()
    const { chain, stateFile } = this.#options
    if (stateFile === undefined || this.#stateFile === undefined) return
    const height = await chain.exclusive(() => saveState(this.#options, stateFile))
    this.#saved = { file: stateFile, height }
    this.#options.log.info(this.#saved, 'the state of the devnet is saved')
  }

  /** Makes blocks one after another and returns their hashes in display hex. */
  async mine(blocks: number): Promise<string[]> {
    requireInteger('blocks', blocks, 1, maxBlocks)
    const hashes: string[] = []
    while (hashes.length < blocks) {
      const run = await this.#mineEmpty(Math.min(blocks - hashes.length, blocksOfRun))
      hashes.push(...run.map(({ hash }) => hash))
      if (run.length > 0) continue
      const block = await this.#producer.produce()
      if (block === undefined && this.#stopped) throw new RuleError('busy', 'the node is stopping')
      if (block !== undefined) hashes.push(block.hash)
    }
    return hashes
  }

  /** Makes blocks in one batch while no transaction waits; none if one does, or others came first. */
  #mineEmpty(count: number): Promise<readonly Block[]> {
    const { chain, mempool, clock, random } = this.#options
    const validator = this.#validator
    return this.#producer.between(async () => {
      await mempool.settled()
      const base = chain.tip
      const overtaken = () => this.#stopped || chain.tip !== base
      if (count < 2 || mempool.size > 0 || overtaken()) return []
      const time = (parentTime: number) => clock.blockTime(parentTime)
      const request = { base, count, payTo: validator.payTo, random, time, stop: overtaken }
      const blocks = await solveEmptyRun(chain, request)
      if (overtaken()) return []
      try {
        await validator.offerRun(blocks)
        return blocks
      } catch (error) {
        if (error instanceof RuleError && error.code === 'block-stale') return []
        throw error
      }
    })
  }

  /** Moves the clock forward and returns the new time in Unix seconds. */
  async increaseTime(seconds: number): Promise<number> {
    const { clock } = this.#options
    requireTime('seconds', seconds, Math.max(0, latestTime - clock.seconds))
    if (seconds === 0) return clock.seconds
    return this.#moveClock(() => clock.increase(seconds))
  }

  /** Sets the clock to Unix seconds, not before the tip's time, and returns them. */
  async setTime(time: number): Promise<number> {
    const { chain, clock } = this.#options
    requireTime('time', time, latestTime)
    return this.#moveClock(() => clock.set(time, chain.tip.header.time))
  }

  #moveClock(move: () => void): Promise<number> {
    const { chain, clock } = this.#options
    return chain.exclusive(async () => {
      move()
      const { seconds } = clock
      const overlay = new Overlay(chain.database)
      clock.store(overlay)
      const { height, hash } = chain.tip.header
      await overlay.commit({ kind: 'header', height, hash }, { sync: true })
      return seconds
    })
  }

  /** Sets the time of the next block in Unix seconds. */
  async setNextBlockTime(time: number): Promise<void> {
    requireTime('time', time, latestTime)
    this.#options.clock.setNextBlockTime(time, this.#options.chain.tip.header.time)
  }

  /** Sends coins from the faucet and returns the txid. */
  async faucet(address: string, amount: bigint): Promise<string> {
    const programHash = parseAddress(address)
    if (programHash === undefined) throw new RuleError('request-parameter', `address: ${address} is not an address`)
    return this.#faucet.send([{ programHash, value: amount }])
  }

  /** Pays accounts what they lack, and makes the block with the payment. To be called before {@link start}. */
  async fund(funding: Funding): Promise<void> {
    this.#accounts = fundedAccounts(funding)
    this.#mnemonic = funding.mnemonic ?? devnetMnemonic
    const parts = { ...this.#options, faucet: this.#faucet }
    if (await fundAccounts(parts, this.#accounts, funding)) await this.#producer.produce()
  }

  /** Registers so many DIDs, those that are not registered yet. To be called before {@link start}. */
  async seed(count: number, progress?: (done: number) => void): Promise<void> {
    const makers = { faucet: this.#faucet, producer: this.#producer, validator: this.#validator }
    this.#seeded = await seedDids({ ...this.#options, ...makers }, count, progress)
  }

  /** The state file, once it was looked at. */
  get stateFile(): StateFile | undefined {
    return this.#stateFile
  }

  /** File and height that {@link close} wrote. */
  get saved(): { readonly file: string; readonly height: number } | undefined {
    return this.#saved
  }

  /** The accounts of {@link fund}, by index. */
  get accounts(): readonly SigningAccount[] {
    return this.#accounts
  }

  /** Mnemonic of these accounts. */
  get mnemonic(): string {
    return this.#mnemonic
  }

  /** The DIDs of {@link seed}. */
  get seeded(): SeededDids | undefined {
    return this.#seeded
  }

  /** Stores tip, pool and clock, and returns the number of the snapshot for {@link revert}. */
  snapshot(): Promise<number> {
    const { chain, mempool, clock } = this.#options
    return chain.exclusive(async () => {
      await mempool.settled()
      const pool = Array.from(mempool.entries(), ({ transaction, arrival }) => ({ transaction, arrival }))
      return this.#snapshots.add({ tip: chain.tip.header.hash, clock: clock.state, pool })
    })
  }

  /** Reverts chain, pool and clock to a snapshot, which stays; later snapshots are dropped. */
  async revert(id: number): Promise<void> {
    const { mempool, clock } = this.#options
    await this.#rebuild(async ({ rewind }) => {
      const { tip, pool, clock: time } = this.#snapshots.get(id)
      await mempool.restore(pool, (waiting) => rewind(tip, [waiting, clock.restoration(time)]))
      this.#snapshots.forgetAfter(id)
    })
  }

  /**
   * Replaces the last `blocks` blocks by as many empty ones, as a reorganisation does. Their transactions go back to the pool, or
   * with `drop` out of it.
   */
  async reorg(blocks: number, { drop = false } = {}): Promise<Replaced> {
    const { chain, random } = this.#options
    requireInteger('blocks', blocks, 1, reorganisationDepth)
    const parts = { ...this.#options, random, validator: this.#validator, stop: () => this.#stopped }
    return this.#rebuild((writer) => {
      const { height } = chain.tip.header
      if (blocks > height) {
        throw new RuleError(
          'request-parameter',
          `blocks: ${blocks}, and the chain has ${height} after its genesis block`,
        )
      }
      return replaceLast(parts, writer, { blocks, drop })
    })
  }

  /** Takes a transaction out of the pool, with all that depend on it; returns the txids of those that left. */
  async dropTransaction(txid: Hash): Promise<string[]> {
    const { chain, mempool } = this.#options
    // No block may be under way that has taken it.
    const left = await this.#producer.between(() =>
      chain.exclusive(() => mempool.remove([txid], 'dev_dropTransaction')),
    )
    if (left.length === 0) throw new RuleError('unknown-transaction', `${displayHash(txid)} does not wait for a block`)
    return left.map((transaction) => transaction.txid)
  }

  /** Everything that makes the devnet come back equal, as text. */
  async dumpState(signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted()
    return this.#options.chain.exclusive(() => stateText(this.#options, signal))
  }

  /** Puts a state of {@link dumpState} in the place of chain, pool and clock; snapshots whose blocks leave are dropped. */
  async loadState(text: string): Promise<void> {
    // Each of them holds what it unpacked.
    if (this.#loading) throw new RuleError('busy', 'another state is being loaded')
    this.#loading = true
    try {
      const state = await readStateText(this.#options, text)
      await this.#rebuild((writer) => adoptState(this.#options, state, writer))
    } finally {
      this.#loading = false
    }
  }

  /** Loads the state file, if it is there. To be called before {@link start}. From then on {@link close} writes it. */
  async loadStateFile(progress?: (height: number) => void): Promise<void> {
    const { stateFile } = this.#options
    if (stateFile === undefined) return
    const loaded = (await isStateFile(stateFile)) ? await loadStateFile(this.#options, stateFile, progress) : undefined
    this.#stateFile = { path: stateFile, loaded }
  }

  /** Runs a job that takes blocks back, between blocks; then heights are signed anew, and intervals begin anew. */
  async #rebuild<T>(job: (writer: ChainWriter) => Promise<T>): Promise<T> {
    const { chain } = this.#options
    // No block may be under way: it would bring back transactions pooled before.
    const result = await this.#producer.between(() =>
      chain.exclusive(async (writer) => {
        if (this.#stopped) throw new RuleError('busy', 'the node is stopping')
        const done = await job(writer)
        this.#validator.forget()
        this.#snapshots.forgetLeft((tip) => chain.headers.get(tip)?.status === 'active')
        this.#automatic.interrupt()
        return done
      }),
    )
    this.#automatic.resume()
    return result
  }
}

function requireInteger(name: string, value: number, least: number, most: number, why = ''): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new RuleError('request-parameter', `${name}: ${value} is not an integer from ${least} to ${most}${why}`)
}

/** Refuses what would set the clock of a devnet to where it cannot go. */
function requireTime(name: string, value: number, most: number): void {
  const why = value > most ? ': the clock of a devnet ends with the year 2099, and block times in 2106' : ''
  requireInteger(name, value, 0, most, why)
}
