import { equalBytes } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import { keysHash, type KnownChain } from '../proofs/anchor.js'
import { keysInForce, type ValidatorList } from '../proofs/validator-list.js'
import type { Server } from './ask-server.js'
import type { ChainOptions, Foundation } from './foundation.js'
import type { LightMemory, SeenBlock } from './light-memory.js'
import type { Signatures } from './signatures.js'

/** Who confirms the blocks of a chain, as far as changes of its validators were followed. */

export class FollowedValidators implements Foundation {
  readonly #genesis: Hash
  readonly #signatures: Signatures
  readonly #believed: Hash | undefined
  #lists: readonly ValidatorList[]
  #changes = 0

  /** `lists` are those of genesis unless given; `believed` is the hash of the block behind the first, else the highest one seen. */
  constructor({ trust, signatures }: ChainOptions, lists?: readonly ValidatorList[], believed?: Hash) {
    this.#genesis = trust.chain
    this.#signatures = signatures
    this.#lists = lists ?? [{ height: 1, keys: trust.validators ?? [] }]
    this.#believed = believed
  }

  known(seen: SeenBlock): Omit<KnownChain, 'genesis'> {
    return {
      keysAt: (height) => keysInForce(this.#lists, height),
      believed: this.#believed ?? seen.header.hash,
    }
  }

  async follow(server: Server): Promise<boolean> {
    const { followChanges } = await import('./follow-changes.js')
    const lists = this.#lists
    const followed = await followChanges(server, lists, {
      genesis: this.#genesis,
      signatures: this.#signatures,
      keep: (some) => this.#take(some),
    })
    this.#take(followed)
    return followed !== lists
  }

  #take(followed: readonly ValidatorList[]): void {
    // Another server may have been faster; what contradicts it does not count.
    const isLonger = followed.length > this.#lists.length && this.#lists.every((one, i) => isSame(one, followed[i]))
    if (!isLonger) return
    this.#lists = followed
    this.#changes++
  }

  get memory(): Omit<LightMemory, 'seen'> {
    return { lists: this.#lists, headers: [], work: 0n }
  }

  get changes(): number {
    return this.#changes
  }
}

function isSame(one: ValidatorList, other: ValidatorList | undefined): boolean {
  return one.height === other?.height && equalBytes(keysHash(one.keys), keysHash(other.keys))
}
