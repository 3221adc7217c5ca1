import type { Chain } from '../chain/chain.js'
import { ChainReader } from '../chain/reader.js'
import type { Log, Random, Timers } from '../env.js'
import { RuleError, UserError } from '../errors.js'
import type { Mempool } from '../mempool/mempool.js'
import { Producer } from '../mining/producer.js'
import { parseAddress, prefix, type ProgramHash, programHash, singleKeyCode } from '../primitives/address.js'
import { equalBytes } from '../primitives/bytes.js'
import { confirmBytes } from '../primitives/confirm.js'
import { paramsAt } from '../primitives/spec.js'
import { Overlay } from '../storage/database.js'
import { confirmAlone } from '../voting/sign.js'
import { buildTransfer } from '../wallet/build.js'
import type { Coin } from '../wallet/coins.js'
import { devnetValidatorKey, faucetKey } from '../wallet/devnet-accounts.js'
import { signTransaction } from '../wallet/sign.js'
import type { VirtualClock } from './clock.js'

/** When a devnet makes blocks. */
export type MiningMode =
  /** As soon as a transaction waits. */
  | { readonly kind: 'automine' }
  /** Every so many seconds. */
  | { readonly kind: 'interval'; readonly seconds: number }
  /** Only when told to. */
  | { readonly kind: 'manual' }

export interface DevnetOptions {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly clock: VirtualClock
  readonly timers: Timers
  readonly random: Random
  readonly log: Log
  readonly mining: MiningMode
}

/** Blocks that one call may ask for. */
const maxBlocks = 10_000
/** Unix seconds of 2100-01-01: as far as the clock can be moved, so that block times stay below 2^32 for good. */
const latestTime = 4_102_444_800

/** What makes a devnet one: its validator, its mining, its time and its faucet. */
export class Devnet {
  readonly #options: DevnetOptions
  readonly #producer: Producer
  #cancelTimer: () => void = () => {}
  #faucetTurn: Promise<unknown> = Promise.resolve()
  /** Whether an automatic block is being made, and whether a transaction came since its making began. */
  #mining: Promise<void> | undefined
  #more = false
  #stopped = false

  constructor(options: DevnetOptions) {
    const { chain, mempool, clock, random } = options
    if (!chain.spec.devnet) throw new UserError(`the chain ${chain.spec.name} is no devnet`)
    const validator = devnetValidatorKey()
    this.#options = options
    this.#producer = new Producer({
      chain,
      mempool,
      random,
      payTo: programHashOfKey(validator.publicKey),
      time: () => clock.blockTime(chain.tip.header.time),
      confirm: (block) => confirmBytes(confirmAlone(block.header.hash, 0, validator.privateKey)),
    })
  }

  /** Begins to mine in the chosen way. */
  start(): void {
    const { mempool, mining } = this.#options
    if (mining.kind === 'automine') {
      mempool.events.on('accepted', () => this.#mineWaiting())
      if (mempool.size > 0) this.#mineWaiting()
    } else if (mining.kind === 'interval') {
      this.#tick(mining.seconds * 1000)
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer()
    await this.#faucetTurn
    await this.#producer.stop()
  }

  /** Makes blocks one after another and returns their hashes in display hex. */
  async mine(blocks: number): Promise<string[]> {
    requireInteger('blocks', blocks, 1, maxBlocks)
    const hashes: string[] = []
    while (hashes.length < blocks) {
      const block = await this.#producer.produce()
      if (block === undefined && this.#stopped) throw new RuleError('busy', 'the node is stopping')
      if (block !== undefined) hashes.push(block.hash)
    }
    return hashes
  }

  /** Moves the clock forward and returns the new time in Unix seconds. */
  async increaseTime(seconds: number): Promise<number> {
    const { clock } = this.#options
    requireInteger('seconds', seconds, 0, Math.max(0, latestTime - clock.seconds))
    if (seconds === 0) return clock.seconds
    clock.increase(seconds)
    await this.#storeClock()
    return clock.seconds
  }

  /** Sets the time of the next block in Unix seconds. */
  async setNextBlockTime(time: number): Promise<void> {
    requireInteger('time', time, 0, latestTime)
    this.#options.clock.setNextBlockTime(time, this.#options.chain.tip.header.time)
  }

  /** Sends coins from the faucet and returns the txid. */
  faucet(address: string, amount: bigint): Promise<string> {
    // Between blocks: a coin that is chosen here is not spent by a block before the transaction is in the pool.
    const sent = this.#faucetTurn.then(() => this.#options.chain.exclusive(() => this.#send(address, amount)))
    this.#faucetTurn = sent.catch(() => {})
    return sent
  }

  async #send(address: string, amount: bigint): Promise<string> {
    const { chain, mempool, random } = this.#options
    const recipient = parseAddress(address)
    if (recipient === undefined) throw new RuleError('request-parameter', `address: ${address} is not an address`)
    const key = faucetKey()
    const { assetId, spec } = chain.sanity
    const fee = paramsAt(spec, chain.tip.header.height + 1).fees
    const payment = { code: singleKeyCode(key.publicKey), coins: await this.#faucetCoins(), fee, assetId, random }
    try {
      const unsigned = buildTransfer({ ...payment, maxMoney: spec.maxMoney }, [
        { programHash: recipient, value: amount },
      ])
      const signed = signTransaction(unsigned.transaction, [key.privateKey])
      const { txid } = await mempool.accept(signed.transaction.bytes, { local: true })
      return txid
    } catch (error) {
      if (error instanceof UserError) throw new RuleError('request-parameter', `amount: ${error.message}`)
      throw error
    }
  }

  /** What the faucet can spend: its coins on the chain and the change of its pooled transactions. */
  async #faucetCoins(): Promise<Coin[]> {
    const { chain, mempool } = this.#options
    const own = programHashOfKey(faucetKey().publicKey)
    const mined = await new ChainReader(chain).coins(own)
    const pooled = [...mempool.entries()].flatMap(({ transaction }) =>
      transaction.outputs.flatMap(({ programHash: payee, value }, index) =>
        equalBytes(payee, own) ? [{ txid: transaction.hash, index, value, confirmations: 0 }] : [],
      ),
    )
    const all: Coin[] = [...mined.map(({ outpoint, value }) => ({ ...outpoint, value })), ...pooled]
    return all.filter((coin) => mempool.spender(coin) === undefined)
  }

  /** Makes blocks until nothing waits that a block takes. What comes meanwhile goes into the next one. */
  #mineWaiting(): void {
    this.#more = true
    this.#mining ??= this.#mineAll().finally(() => (this.#mining = undefined))
  }

  async #mineAll(): Promise<void> {
    const { mempool, log } = this.#options
    while (this.#more && mempool.size > 0 && !this.#stopped) {
      this.#more = false
      try {
        const block = await this.#producer.produce()
        this.#more ||= block !== undefined && block.transactions.length > 1
      } catch (error) {
        log.error({ error: String(error) }, 'no block could be made')
      }
    }
  }

  #tick(milliseconds: number): void {
    const { timers, log } = this.#options
    this.#cancelTimer = timers.after(milliseconds, () => {
      this.#producer.produce().catch((error: unknown) => log.error({ error: String(error) }, 'no block could be made'))
      if (!this.#stopped) this.#tick(milliseconds)
    })
  }

  /** Writes the offset of the clock between blocks. */
  async #storeClock(): Promise<void> {
    const { chain, clock } = this.#options
    await chain.exclusive(async () => {
      const overlay = new Overlay(chain.database)
      clock.store(overlay)
      const { height, hash } = chain.tip.header
      await overlay.commit({ kind: 'header', height, hash }, { sync: true })
    })
  }
}

function programHashOfKey(publicKey: Uint8Array): ProgramHash {
  return programHash(prefix.standard, singleKeyCode(publicKey))
}

function requireInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new RuleError('request-parameter', `${name}: ${value} is not an integer from ${least} to ${most}`)
}
