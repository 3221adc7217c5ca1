import { reorganisationDepth } from '../../ledger/chain/branches.js'
import type { Chain } from '../../ledger/chain/chain.js'
import type { HeaderIndex, KnownHeader } from '../../ledger/chain/header-index.js'
import type { Ancestry } from '../../ledger/consensus/context.js'
import { InvariantError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { workOf } from '../../base/primitives/compact.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { headerUnitSize, type HeaderUnit, locatorHashes } from '../wire/headers-message.js'
import { PendingBlock } from './pending-block.js'
import type { SyncPeer } from './sync-peer.js'

/** Hashes of a locator at consecutive heights; below them the distance doubles. */
const denseLocator = 10
/** Longest distance within reorganisation depth: an answer that begins at such a hash reaches beyond the fork point. */
const longestStep = 256

/** Consecutive headers on top of a block that the chain has. */
export class PendingHeaders {
  #base: KnownHeader
  #blocks: PendingBlock[]
  #bytes = 0

  constructor(base: KnownHeader, blocks: readonly PendingBlock[] = []) {
    this.#base = base
    this.#blocks = [...blocks]
    for (const { unit } of blocks) this.#bytes += headerUnitSize(unit)
  }

  /** The block that the first pending header follows. */
  get base(): KnownHeader {
    return this.#base
  }

  /** Lowest first. */
  get blocks(): readonly PendingBlock[] {
    return this.#blocks
  }

  /** Bytes of the headers with their proofs. */
  get bytes(): number {
    return this.#bytes
  }

  get end(): Header {
    return this.#blocks.at(-1)?.unit.header ?? this.#base.header
  }

  get height(): number {
    return this.end.height
  }

  /** Chain work at the end. */
  get work(): bigint {
    return this.#blocks.at(-1)?.chainWork ?? this.#base.chainWork
  }

  /** Pending block at a height; undefined when there is none. */
  at(height: number): PendingBlock | undefined {
    return this.#blocks[height - this.#base.header.height - 1]
  }

  /** Whether a header is one of those pending. */
  has({ height, hash }: Header): boolean {
    const pending = this.at(height)
    return pending !== undefined && equalBytes(pending.unit.header.hash, hash)
  }

  /** Adds the header that follows the end. */
  push(unit: HeaderUnit, source: SyncPeer, assumed: boolean): void {
    if (!equalBytes(unit.header.previous, this.end.hash))
      throw new InvariantError('a header does not follow the branch')
    const chainWork = this.work + workOf(unit.header.bits)
    this.#blocks.push(new PendingBlock({ unit, chainWork, source, assumed }))
    this.#bytes += headerUnitSize(unit)
  }

  /** Moves the base up over blocks that the chain has connected or stored as side blocks. */
  advance({ headers, tip }: Pick<Chain, 'headers' | 'tip'>): void {
    // Blocks up to the tip are connected: their rows need not be read.
    const onTip = this.has(tip.header)
    let connected = onTip ? tip.header.height - this.#base.header.height : 0
    let base = onTip ? tip : (headers.get(this.#base.header.hash) ?? this.#base)
    for (const { unit } of connected === 0 ? this.#blocks : this.#blocks.slice(connected)) {
      const known = headers.get(unit.header.hash)
      if (known?.status !== 'active' && known?.status !== 'side') break
      base = known
      connected++
    }
    this.#base = base
    for (const { unit } of this.#blocks.splice(0, connected)) this.#bytes -= headerUnitSize(unit)
  }

  /** Drops the blocks at a height and above. */
  cut(height: number): void {
    const keep = Math.max(0, height - this.#base.header.height - 1)
    for (const { unit } of this.#blocks.splice(keep)) this.#bytes -= headerUnitSize(unit)
  }

  /** The part up to a height as pending headers of its own; the blocks are shared. */
  upTo(height: number): PendingHeaders {
    return new PendingHeaders(this.#base, this.#blocks.slice(0, height - this.#base.header.height))
  }

  /** Ancestors of a block that follows the end and then `more`, consecutive headers on top of the end. */
  ancestry(headers: HeaderIndex, more: readonly Header[]): Ancestry {
    const below = headers.ancestry(this.#base)
    const end = this.height
    return {
      parent: more.at(-1) ?? this.end,
      at: (height) => {
        if (height > end) return more[height - end - 1] as Header
        return this.at(height)?.unit.header ?? below.at(height)
      },
    }
  }

  /** Hashes from the end down to genesis: consecutive first, then at doubling distances, bounded within reorganisation depth. */
  locator(headers: HeaderIndex): Hash[] {
    const hashes: Hash[] = []
    const deepest = this.#base.header.height - reorganisationDepth
    let distance = 1
    let known = this.#base
    for (let height = this.height; hashes.length < locatorHashes; height = Math.max(0, height - distance)) {
      const pending = this.at(height)
      if (pending === undefined) known = below(headers, known, height)
      hashes.push(pending?.unit.header.hash ?? known.header.hash)
      if (height === 0) break
      if (hashes.length >= denseLocator)
        distance = height > deepest ? Math.min(longestStep, 2 * distance) : 2 * distance
    }
    return hashes
  }
}

/** The ancestor of a block at a height. */
function below(headers: HeaderIndex, from: KnownHeader, height: number): KnownHeader {
  let known: KnownHeader | undefined = from
  while (known !== undefined && known.header.height > height) {
    known = known.status === 'active' ? headers.active(height) : headers.get(known.header.previous)
  }
  if (known === undefined) throw new InvariantError('an ancestor of a known block is missing')
  return known
}
