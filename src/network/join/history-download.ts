import { BlockRunError, type IncomingBlock } from '../../ledger/chain/block-run.js'
import type { Chain } from '../../ledger/chain/chain.js'
import { matchBody } from '../../ledger/chain/match-body.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Env } from '../../base/runtime/env.js'
import { isWaiting } from '../../base/runtime/wait.js'
import { keepsAll } from '../fetch/peer-progress.js'
import { isUnanswered, type SyncPeer, type SyncPeers } from '../fetch/sync-peer.js'
import { LinkError } from '../link.js'
import { Timeouts } from '../fetch/timeouts.js'
import { blocksAtOnce, blocksExchange } from '../wire/blocks-message.js'
import { headersAtOnce, headersExchange, type HeaderUnit } from '../wire/headers-message.js'

/** Milliseconds between two looks for a peer, or for time to go on. */
const lookAgain = 1_000
/** Milliseconds for which a peer is passed over that did not hand out what was asked for. */
const passedOver = 60_000
/** Share of the time for verifying; the rest is left to new blocks. */
const share = 0.5
/** Longest rest (ms) after a turn: one in which the machine slept, or its clock was set, looks as long as that. */
const longestRest = 60_000

export interface HistoryOptions extends Pick<Env, 'clock' | 'timers' | 'log'> {
  /** The chain that the blocks go to, from its tip on. */
  readonly chain: Chain
  /** Height of the last block. */
  readonly last: number
  /** Hash of the block at a height up to the last. */
  hashAt(height: number): Hash
  readonly peers: SyncPeers
  /** Whether the node has other things to do. */
  busy(): boolean
}

/** A block of the history breaks a rule: what was taken for it is wrong, although validators signed it. */
export class HistoryError extends Error {
  constructor(height: number, { code, message }: RuleError) {
    super(`block ${height} breaks a rule (${code}: ${message})`)
  }
}

/**
 * Fetches blocks whose hashes are known, from the first one on, and has a chain verify them in about half of the time. Peers that send
 * other bytes are skipped for a while. A block with the known hash that breaks a rule is a {@link HistoryError}: the state is wrong, not
 * the peer.
 */
export class HistoryDownload {
  readonly #options: HistoryOptions
  readonly #timeouts: Timeouts
  readonly #passedOver = new Map<SyncPeer, number>()

  constructor(options: HistoryOptions) {
    this.#options = options
    this.#timeouts = new Timeouts(options.timers)
  }

  /** Resolves when the last block is connected; rejects with `TimeoutsClosed` when it is closed before. */
  async run(): Promise<void> {
    const { chain, last, clock, busy } = this.#options
    while (chain.tip.header.height < last) {
      const peer = busy() ? undefined : this.#peer()
      const started = clock.now()
      const before = chain.tip.header.height
      if (peer !== undefined) await this.#fromPeer(peer)
      const isIdle = chain.tip.header.height === before
      const rest = ((clock.now() - started) * (1 - share)) / share
      await this.#pause(isIdle ? lookAgain : Math.min(longestRest, rest))
    }
  }

  close(): void {
    this.#timeouts.close()
  }

  #pause(milliseconds: number): Promise<unknown> {
    return this.#timeouts.within(new Promise<never>(() => {}), milliseconds)
  }

  /** A peer that keeps all blocks. */
  #peer(): SyncPeer | undefined {
    const { peers, clock, last } = this.#options
    for (const [peer, until] of this.#passedOver)
      if (peer.closed || !isWaiting(until, clock.now(), passedOver)) this.#passedOver.delete(peer)
    return peers
      .all()
      .find((peer) => !peer.closed && keepsAll(peer) && peer.status.tipHeight >= last && !this.#passedOver.has(peer))
  }

  /** Connects some blocks from a peer. */
  async #fromPeer(peer: SyncPeer): Promise<void> {
    try {
      for (const units = [...(await this.#headers(peer))]; units.length > 0;) {
        const blocks = await this.#blocks(peer, units)
        await this.#connect(peer, blocks)
        units.splice(0, blocks.length)
      }
    } catch (error) {
      if (!isUnanswered(error)) throw error
      this.#passOver(peer, error)
    }
  }

  /** Headers above the tip, which are those whose hashes are known. */
  async #headers(peer: SyncPeer): Promise<readonly HeaderUnit[]> {
    const { chain, last, hashAt } = this.#options
    const { hash, height } = chain.tip.header
    const count = Math.min(headersAtOnce, last - height, blocksAtOnce)
    const units = await peer.ask(headersExchange, { locator: [hash], count })
    const right = units.findIndex(({ header }, i) => !equalBytes(header.hash, hashAt(height + 1 + i)))
    const some = units.slice(0, right < 0 ? count : right)
    if (some.length === 0) this.#passOver(peer, 'it has other headers')
    return some
  }

  /** Blocks of headers, as many as come in one answer; their bytes belong to the headers. */
  async #blocks(peer: SyncPeer, units: readonly HeaderUnit[]): Promise<IncomingBlock[]> {
    const { chain } = this.#options
    const bodies = await peer.ask(
      blocksExchange,
      units.map(({ header }) => header.hash),
    )
    const blocks: IncomingBlock[] = []
    for (const [i, block] of bodies.entries()) {
      const unit = units[i]
      if (unit === undefined || block.length === 0) break
      const { auxPow, confirm, header } = unit
      const matched = await penalising(peer, matchBody(block, chain.sanity, { hash: header.hash, auxPow }))
      blocks.push({ block, matched, ...(confirm.length > 0 && { confirm }) })
    }
    if (blocks.length === 0) throw new LinkError('refused', 'it lacks blocks of its chain')
    return blocks
  }

  async #connect(peer: SyncPeer, blocks: readonly IncomingBlock[]): Promise<void> {
    const { chain, last } = this.#options
    const { height } = chain.tip.header
    try {
      await chain.acceptBlocks(blocks, { following: last - height - blocks.length })
    } catch (error) {
      if (!(error instanceof BlockRunError)) throw error
      // A clock that was set back says nothing of an old block.
      if (error.rule.code === 'block-time-future') throw new LinkError('refused', error.rule.message)
      // No hash pins a confirm: its sender may have made it up.
      if (!error.rule.code.startsWith('confirm-')) throw new HistoryError(height + 1 + error.index, error.rule)
      peer.penalise(error.rule.code, error.rule.message)
      throw error.rule
    }
  }

  #passOver(peer: SyncPeer, reason: unknown): void {
    const { clock, log } = this.#options
    this.#passedOver.set(peer, clock.now() + passedOver)
    log.debug({ peer: peer.name, reason: String(reason) }, 'a peer does not hand out the history')
  }
}

/** Penalises a peer for bytes that break a rule, and rejects with it. */
async function penalising<T>(peer: SyncPeer, check: Promise<T>): Promise<T> {
  try {
    return await check
  } catch (error) {
    if (error instanceof RuleError) peer.penalise(error.code, error.message)
    throw error
  }
}
