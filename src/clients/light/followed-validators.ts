import { equalBytes } from '../../base/primitives/bytes.js'
import { keysHash, type KnownChain } from '../../identity/proofs/anchor.js'
import { keysInForce, type ValidatorList } from '../../identity/proofs/validator-list.js'
import type { Server } from './ask-server.js'
import type { ChainOptions, Followed, TrustBasis } from './trust-basis.js'
import type { LightMemory, SeenBlock } from './light-memory.js'

/** Who confirms the blocks of a chain, as far as changes of its validators were followed. */

export class FollowedValidators implements TrustBasis {
  readonly #options: ChainOptions
  readonly #lists: readonly ValidatorList[]
  readonly #believed: Uint8Array | undefined

  /** `lists` are those of genesis by default; `believed` is the hash of the block behind the first, else the highest one seen. */
  constructor(options: ChainOptions, lists?: readonly ValidatorList[], believed?: Uint8Array) {
    this.#options = options
    this.#lists = lists ?? [{ height: 1, keys: options.trust.validators ?? [] }]
    this.#believed = believed
  }

  known(seen: SeenBlock): Omit<KnownChain, 'genesis'> {
    return {
      keysAt: (height) => keysInForce(this.#lists, height),
      believed: this.#believed ?? seen.header.hash,
    }
  }

  async follow(server: Server, _: number, found: (followed: Followed) => void): Promise<boolean> {
    const { followChanges } = await import('./follow-changes.js')
    const { trust, signatures } = this.#options
    const followed = await followChanges(server, this.#lists, { genesis: trust.chain, signatures, keep: found })
    found(followed)
    return followed !== this.#lists
  }

  apply(followed: Followed): TrustBasis {
    const lists = followed as readonly ValidatorList[]
    // Another server may have been faster; what contradicts it does not count.
    const isLonger = lists.length > this.#lists.length && this.#lists.every((one, i) => isSame(one, lists[i]))
    return isLonger ? new FollowedValidators(this.#options, lists, this.#believed) : this
  }

  get memory(): Omit<LightMemory, 'seen'> {
    return { lists: this.#lists, headers: [], work: 0n }
  }
}

function isSame(one: ValidatorList, other: ValidatorList | undefined): boolean {
  return one.height === other?.height && equalBytes(keysHash(one.keys), keysHash(other.keys))
}
