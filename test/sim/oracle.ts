import type { Chain } from '../../src/ledger/chain/chain.js'
import { stateDigest } from '../../src/ledger/chain/replay-chain.js'
import { displayHash, mapKey, toHex } from '../../src/base/primitives/bytes.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import {
  blockOf,
  parseMessage,
  type SignedMessage,
  signerOf,
  stepOf,
  viewOf,
  type VotingMessage,
} from '../../src/voting/tendermint/message.js'
import type { Disk } from './disk.js'

/** A promise that was broken. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

/** Watches honest nodes and throws a {@link Violation} as soon as one of them, or two together, break a promise. */
export class Oracle {
  /** The block that was confirmed first at each height. */
  readonly #confirmed: { readonly id: string; readonly node: number }[] = []
  /** State at each tip. */
  readonly #digests = new Map<string, { readonly digest: string; readonly node: number }>()
  /** How far each node said that it has come. */
  readonly #reached = new Map<number, number>()
  /** What honest validators signed. */
  readonly #signed = new Map<string, string>()
  /** The block that each honest validator precommitted last, and where. */
  readonly #locks = new Map<number, { readonly height: number; readonly view: number; readonly block: string }>()
  /** The highest validView that each proposal was seen with, by height, view and block. */
  readonly #validViews = new Map<string, number>()

  /** The highest confirmed block of all. */
  get height(): number {
    return this.#confirmed.length - 1
  }

  /** A node connected a block. */
  connected(node: number, height: number, id: string): void {
    const first = (this.#confirmed[height] ??= { id, node })
    if (first.id !== id) {
      throw new Violation(`two blocks at height ${height}: ${first.id} at n${first.node}, ${id} at n${node}`)
    }
    const reached = this.#reached.get(node) ?? 0
    if (height !== reached + 1) throw new Violation(`n${node} connected height ${height} after ${reached}`)
    this.#reached.set(node, height)
  }

  disconnected(node: number, height: number): void {
    throw new Violation(`n${node} took back its block at height ${height}`)
  }

  /** A node is back after a stop or a crash: nothing that it had is gone or different. */
  opened(node: number, chain: Chain): void {
    const { height } = chain.tip.header
    const reached = this.#reached.get(node) ?? 0
    if (height < reached) throw new Violation(`n${node} is back at height ${height}, but it had ${reached}`)
    for (let at = 0; at <= height; at++) {
      const id = chain.headers.active(at)?.header.id ?? 'none'
      const first = (this.#confirmed[at] ??= { id, node })
      if (first.id !== id) throw new Violation(`n${node} is back with ${id} at height ${at}, confirmed is ${first.id}`)
    }
    this.#reached.set(node, height)
  }

  /** Compares the state of a node with that of whoever had the same tip. Nothing may be written meanwhile. */
  async compareState(node: number, chain: Chain): Promise<void> {
    const { id, height } = chain.tip.header
    const digest = await stateDigest(chain.database)
    const first = this.#digests.get(id) ?? { digest, node }
    this.#digests.set(id, first)
    if (first.digest !== digest) {
      throw new Violation(`n${node} and n${first.node} differ in their state at height ${height}`)
    }
  }

  /** Anybody said this: honest or not, it may be a reason for what others vote. */
  said(message: VotingMessage): void {
    if (message.kind !== 'proposal') return
    const place = `${message.height} ${viewOf(message)} ${message.header.id}`
    this.#validViews.set(place, Math.max(message.validView, this.#validViews.get(place) ?? -1))
  }

  /**
   * An honest validator told something. In none of its lives may it contradict what it told before; nor, once it has
   * precommitted a block, vote for another without having been shown a quorum of prevotes of that view or later; nor name a
   * block whose body a crash could take from it.
   */
  told(node: number, bytes: Uint8Array, key: Uint8Array, disk: Pick<Disk, 'keeps'>): void {
    const message = parseMessage(bytes)
    this.said(message)
    if (message.kind === 'proof' || mapKey(signerOf(message)) !== mapKey(key)) return
    this.#checkLock(node, message)
    const place = `${message.height} ${viewOf(message)} ${stepOf(message)}`
    const value = valueOf(message)
    const before = this.#signed.get(`${node} ${place}`)
    this.#signed.set(`${node} ${place}`, before ?? value)
    if (before === undefined) checkBody(node, message, disk)
    else if (before !== value) throw new Violation(`n${node} contradicts itself at ${place}: ${before}, then ${value}`)
  }

  #checkLock(node: number, message: SignedMessage): void {
    const hash = blockOf(message)
    if (hash === undefined || message.kind === 'proposal') return
    const { height } = message
    const view = viewOf(message)
    const block = displayHash(hash)
    const lock = this.#locks.get(node)
    const locked = lock !== undefined && lock.height === height && lock.view < view && lock.block !== block
    if (
      message.kind === 'prevote' &&
      locked &&
      (this.#validViews.get(`${height} ${view} ${block}`) ?? -1) < lock.view
    ) {
      throw new Violation(
        `n${node} is locked on ${lock.block} since view ${lock.view}, but prevotes ${block} in ${view}`,
      )
    }
    // Messages of before a crash are told again after it.
    const newer = lock === undefined || lock.height < height || lock.view < view
    if (message.kind === 'precommit' && newer) this.#locks.set(node, { height, view, block })
  }
}

/** Messages that are told again may be of blocks whose bodies made room for others. */
function checkBody(node: number, message: SignedMessage, disk: Pick<Disk, 'keeps'>): void {
  const hash = blockOf(message)
  if (hash === undefined) return
  // The batch that decides a height deletes the bodies that were voted on.
  if (disk.keeps(tables.candidate.key(hash)) || disk.keeps(tables.active.key(message.height))) return
  throw new Violation(`n${node} tells a ${message.kind} for ${displayHash(hash)}, whose body is not on its disk`)
}

function valueOf(message: SignedMessage): string {
  const block = blockOf(message)
  const validView = message.kind === 'proposal' ? ` ${message.validView}` : ''
  return `${block === undefined ? 'no block' : toHex(block)}${validView}`
}
