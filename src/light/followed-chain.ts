import { equalBytes, mapKey, toHex } from '../primitives/bytes.js'
import { type Confirm, confirmBytes } from '../primitives/confirm.js'
import type { Hash } from '../primitives/hash.js'
import type { Header } from '../primitives/header.js'
import { type AnchoredBlock, keysHash, type KnownChain } from '../proofs/anchor.js'
import type { Checkpoint, Trust } from '../proofs/trust.js'
import { keysInForce, type ValidatorList } from '../proofs/validator-list.js'
import type { HeaderChain } from '../proofs/work.js'
import type { Server } from './ask-server.js'
import { type ForkEvidence, LightError } from './light-error.js'
import type { LightMemory, SeenBlock } from './light-memory.js'
import type { Signatures } from './signatures.js'

/** What is believed of one chain: who confirms its blocks, or which headers have most work, and the highest block seen. */

export class FollowedChain {
  readonly trust: Trust
  readonly #signatures: Signatures
  readonly #confirmations: number
  #seen: SeenBlock
  #lists: readonly ValidatorList[]
  #headers: HeaderChain | undefined
  readonly #believed: Hash | undefined
  #changes = 0

  constructor(
    { trust, signatures, confirmations }: ChainOptions,
    seen: SeenBlock,
    { lists, headers, believed }: Foundation,
  ) {
    this.trust = trust
    this.#signatures = signatures
    this.#confirmations = confirmations
    this.#seen = seen
    this.#lists = lists
    this.#headers = headers
    this.#believed = believed
  }

  /** The chain as it was remembered, else from genesis on. */
  static async from(options: ChainOptions, memory = genesisMemory(options.trust)): Promise<FollowedChain> {
    const { seen, lists } = memory
    const { work } = options.trust
    const headers = work && (await workModule()).rememberedChain(work, memory)
    return new FollowedChain(options, seen, { lists, headers })
  }

  /** The chain from a believed block on, with what a server knows of it. */
  static async fromCheckpoint(options: ChainOptions, server: Server, checkpoint: Checkpoint): Promise<FollowedChain> {
    if (options.trust.work === undefined) {
      const { seen, lists } = await (await changesModule()).fromCheckpoint(server, checkpoint)
      return new FollowedChain(options, seen, { lists, headers: undefined, believed: checkpoint.hash })
    }
    const headers = await (await workModule()).fromWorkCheckpoint(server, options.trust, checkpoint)
    return new FollowedChain(options, { header: headers.tip }, { lists: [], headers })
  }

  get seen(): SeenBlock {
    return this.#seen
  }

  /** What checks of answers believe. */
  get known(): KnownChain {
    const { chain: genesis, validators } = this.trust
    if (validators !== undefined) {
      return {
        genesis,
        keysAt: (height) => keysInForce(this.#lists, height),
        believed: this.#believed ?? this.#seen.header.hash,
      }
    }
    const requireWork = (header: Header) => this.#headers?.requireDeep(header, this.#confirmations)
    return { genesis, requireWork }
  }

  /** Asks a server what followed. Returns whether anything did. */
  async follow(server: Server, now: number): Promise<boolean> {
    const { chain: genesis } = this.trust
    if (this.#headers === undefined) {
      const lists = this.#lists
      const followed = await (await changesModule()).followChanges(server, lists, genesis, this.#signatures)
      // Another server may have been faster; what contradicts it does not count.
      const isLonger = followed.length > this.#lists.length && this.#lists.every((one, i) => isSame(one, followed[i]))
      if (isLonger) {
        this.#lists = followed
        this.#changes++
      }
      return followed !== lists
    }
    const before = this.#headers
    const keep = (found: HeaderChain) => {
      if (found.work <= (this.#headers as HeaderChain).work) return
      this.#headers = found
      this.#changes++
    }
    const found = await (await workModule()).followWork(server, before, { now, keep })
    return this.#headers !== before || found !== before
  }

  /** Remembers a block if it is the highest. */
  saw({ header, confirm }: AnchoredBlock): void {
    if (header.height <= this.#seen.header.height && this.#seen.confirm !== undefined) return
    if (header.height < this.#seen.header.height) return
    if (confirm === undefined && equalBytes(header.hash, this.#seen.header.hash)) return
    this.#seen = { header, ...(confirm && { confirm }) }
    this.#changes++
  }

  /** Counts what became known: blocks, validators, headers. */
  get changes(): number {
    return this.#changes
  }

  /** The text that {@link readMemory} reads. */
  async text(): Promise<string> {
    const work = this.#headers && (await workModule()).headersOf(this.#headers)
    const memory = { seen: this.#seen, lists: this.#lists, headers: work?.headers ?? [], work: work?.work ?? 0n }
    return (await import('./light-memory.js')).memoryText(memory, this.trust.chain)
  }
}

/** What is believed at first. */
interface Foundation {
  readonly lists: readonly ValidatorList[]
  readonly headers: HeaderChain | undefined
  /** Hash of the block behind the first list; the highest block seen unless given. */
  readonly believed?: Hash | undefined
}

export interface ChainOptions {
  readonly trust: Trust
  readonly signatures: Signatures
  /** Blocks above the one of an answer, on a chain without validators. */
  readonly confirmations: number
}

function changesModule() {
  return import('./follow-changes.js')
}

function workModule() {
  return import('./follow-work.js')
}

function genesisMemory({ header, validators }: Trust): LightMemory {
  const lists = validators === undefined ? [] : [{ height: 1, keys: validators }]
  return { seen: { header }, lists, headers: validators === undefined ? [header] : [], work: 0n }
}

function isSame(one: ValidatorList, other: ValidatorList | undefined): boolean {
  return one.height === other?.height && equalBytes(keysHash(one.keys), keysHash(other.keys))
}

/** Throws `fork` where another block of the same height is confirmed as well. */
export function requireSame(one: SeenBlock, other: SeenBlock): void {
  const { height, hash } = one.header
  if (height !== other.header.height || equalBytes(hash, other.header.hash)) return
  if (one.confirm === undefined || other.confirm === undefined) return
  throw new LightError('fork', `two blocks of height ${height} are confirmed`, { evidence: evidenceOf(one, other) })
}

/** Two confirmed blocks that contradict each other, in hex; the lower one, or the one with the lower hash, first. */
export function evidenceOf(...blocks: readonly [SeenBlock, SeenBlock]): ForkEvidence | undefined {
  const [a, b] = [...blocks].sort((one, other) => {
    const byHash = mapKey(one.header.hash) < mapKey(other.header.hash) ? -1 : 1
    return one.header.height - other.header.height || byHash
  }) as [SeenBlock, SeenBlock]
  if (a.confirm === undefined || b.confirm === undefined) return undefined
  const whole = (confirm: Confirm) => toHex(confirmBytes(confirm))
  return { headers: [toHex(a.header.bytes), toHex(b.header.bytes)], confirms: [whole(a.confirm), whole(b.confirm)] }
}
