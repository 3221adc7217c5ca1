/**
 * Gives a development chain what a network has no use for: blocks on demand, a clock that can be moved, a faucet, snapshots.
 *
 *   pooled transaction, interval, mine -> Producer.produce -> DevnetValidator.offer: soloConfirmBy -> chain.acceptBlock
 *   mine, empty pool -> solveEmptyRun -> DevnetValidator.offerRun -> chain.acceptBlocks     many blocks, one batch
 *   faucet, fund     -> Faucet.send -> buildTransfer -> signTransaction -> mempool.accept
 *   snapshot, revert -> Snapshots -> chain.exclusive: mempool.restore -> rewind, VirtualClock.restoration
 *   increaseTime, setNextBlockTime -> VirtualClock -> time of the next block
 *
 * Imports chain, crypto, errors, mempool, primitives, production, runtime, storage, voting, wallet; used by node, library, cli.
 * - Only where the spec says devnet; its keys are public.
 * - Blocks take the way of all blocks: template, work, confirm, bytes.
 * - A revert runs between blocks; pool and clock change with its last batch.
 * - One block of a height is signed, unless the chain was rewound.
 */
import type { Chain } from '../chain/chain.js'
import { RuleError, UserError } from '../errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import { parseAddress, type ProgramHash } from '../primitives/address.js'
import type { Block } from '../primitives/block.js'
import { equalBytes } from '../primitives/bytes.js'
import { solveEmptyRun } from '../production/empty-run.js'
import type { OwnValidator } from '../production/mining.js'
import { Producer } from '../production/producer.js'
import type { Log, Random, Timers } from '../runtime/env.js'
import { Overlay } from '../storage/overlay.js'
import { rangeOf, table } from '../storage/schema.js'
import type { Recipient } from '../wallet/build-transaction.js'
import { devnetAccount, devnetAccountCount, devnetAccountFunds } from '../wallet/devnet-accounts.js'
import type { VirtualClock } from './clock.js'
import { Faucet } from './faucet.js'
import type { MiningMode } from './mining-mode.js'
import { DevnetValidator } from './own-validator.js'
import { Snapshots } from './snapshots.js'

export interface DevnetOptions {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly clock: VirtualClock
  readonly timers: Timers
  readonly random: Random
  readonly log: Log
  readonly mining: MiningMode
}

/** @limit count: blocks of one `dev_mine` */
const maxBlocks = 10_000
/** @limit count: empty blocks of `dev_mine` in one batch */
const blocksOfRun = 1000
/**
 * Block times stay below 2^32.
 * @limit number: latest time of a devnet's clock, in Unix seconds: 2100-01-01
 */
const latestTime = 4_102_444_800

/** The extras of a devnet: validator, mining, clock, faucet and snapshots. */
export class Devnet {
  readonly #options: DevnetOptions
  readonly #validator: DevnetValidator
  readonly #faucet: Faucet
  readonly #producer: Producer
  readonly #snapshots = new Snapshots()
  #cancelTimer: () => void = () => {}
  #reverts = 0
  /** The making of automatic blocks, while under way; below it whether a transaction came since it began. */
  #mining: Promise<void> | undefined
  #more = false
  #stopped = false

  constructor(options: DevnetOptions) {
    const { chain, mempool, clock, random, mining } = options
    if (!chain.spec.devnet) throw new UserError(`the chain ${chain.spec.name} is no devnet`)
    this.#options = options
    this.#validator = new DevnetValidator({ chain, clock, automatic: mining.kind !== 'manual' })
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
  }

  /** Block production of the devnet, also for blocks of outside miners. */
  get validator(): OwnValidator {
    return this.#validator
  }

  /** Begins to mine in the configured mode. */
  start(): void {
    const { mempool, mining } = this.#options
    if (mining.kind === 'automine') mempool.events.on('accepted', () => this.#mineWaiting())
    this.#resume()
  }

  /** Mines pooled transactions, or restarts the interval to the next block. */
  #resume(): void {
    const { mempool, mining } = this.#options
    if (mining.kind === 'automine' && mempool.size > 0) this.#mineWaiting()
    if (mining.kind !== 'interval' || this.#stopped) return
    this.#cancelTimer()
    this.#tick(mining.seconds * 1000)
  }

  async close(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer()
    await this.#faucet.close()
    await this.#producer.close()
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
    const { chain, clock } = this.#options
    requireInteger('seconds', seconds, 0, Math.max(0, latestTime - clock.seconds))
    if (seconds === 0) return clock.seconds
    return chain.exclusive(async () => {
      clock.increase(seconds)
      const overlay = new Overlay(chain.database)
      clock.store(overlay)
      const { height, hash } = chain.tip.header
      await overlay.commit({ kind: 'header', height, hash }, { sync: true })
      return clock.seconds
    })
  }

  /** Sets the time of the next block in Unix seconds. */
  async setNextBlockTime(time: number): Promise<void> {
    requireInteger('time', time, 0, latestTime)
    this.#options.clock.setNextBlockTime(time, this.#options.chain.tip.header.time)
  }

  /** Sends coins from the faucet and returns the txid. */
  async faucet(address: string, amount: bigint): Promise<string> {
    const programHash = parseAddress(address)
    if (programHash === undefined) throw new RuleError('request-parameter', `address: ${address} is not an address`)
    return this.#faucet.send([{ programHash, value: amount }])
  }

  /**
   * Pays those of the first `count` accounts that the genesis block does not fund and that have no history, and makes the
   * block with the payment. To be called before {@link start}.
   */
  async fund(count: number): Promise<void> {
    const { chain, mempool } = this.#options
    const unpaid: Recipient[] = []
    for (let index = devnetAccountCount; index < count; index++) {
      const programHash = parseAddress(devnetAccount(index).address) as ProgramHash
      const [touched] = await chain.database.rows(rangeOf(table.history, programHash), { limit: 1 })
      if (touched === undefined) unpaid.push({ programHash, value: devnetAccountFunds })
    }
    if (unpaid.length === 0) return
    const pooled = [...mempool.entries()].flatMap(({ transaction }) => transaction.outputs)
    const isPooled = ({ programHash: payee }: Recipient) =>
      pooled.some(({ programHash }) => equalBytes(programHash, payee))
    const sending = unpaid.filter((recipient) => !isPooled(recipient))
    if (sending.length > 0) {
      await this.#faucet.send(sending).catch((error: unknown) => {
        if (!(error instanceof RuleError)) throw error
        throw new UserError(`the faucet cannot pay ${sending.length} more accounts; ${error.message}`)
      })
    }
    await this.#producer.produce()
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
    const { chain, mempool, clock } = this.#options
    // No block may be under way: it would bring back transactions pooled before the revert.
    await this.#producer.between(() =>
      chain.exclusive(async ({ rewind }) => {
        if (this.#stopped) throw new RuleError('busy', 'the node is stopping')
        const { tip, pool, clock: time } = this.#snapshots.get(id)
        await mempool.restore(pool, (waiting) => rewind(tip, [waiting, clock.restoration(time)]))
        this.#validator.forget()
        this.#snapshots.forgetAfter(id)
        this.#reverts++
      }),
    )
    this.#resume()
  }

  /** Makes blocks until none takes a pooled transaction. Later arrivals go into the next block. */
  #mineWaiting(): void {
    this.#more = true
    this.#mining ??= this.#mineAll().finally(() => (this.#mining = undefined))
  }

  async #mineAll(): Promise<void> {
    const { mempool, log } = this.#options
    while (this.#more && mempool.size > 0 && !this.#stopped) {
      this.#more = false
      try {
        // A revert may run first and empty the pool.
        const block = await this.#producer.produce(() => mempool.size > 0)
        this.#more ||= block === undefined || block.transactions.length > 1
      } catch (error) {
        log.error({ error: String(error) }, 'no block could be made')
      }
    }
  }

  #tick(milliseconds: number): void {
    const { timers, log } = this.#options
    const revertsBefore = this.#reverts
    this.#cancelTimer = timers.after(milliseconds, () => {
      // An interval that began before a revert does not apply after it.
      this.#producer
        .produce(() => this.#reverts === revertsBefore)
        .catch((error: unknown) => log.error({ error: String(error) }, 'no block could be made'))
      if (!this.#stopped) this.#tick(milliseconds)
    })
  }
}

function requireInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new RuleError('request-parameter', `${name}: ${value} is not an integer from ${least} to ${most}`)
}
