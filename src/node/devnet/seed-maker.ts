import { identitiesOf } from '../../base/crypto/signature-cache.js'
import type { DidOperation } from '../../base/primitives/did-operation.js'
import { seededDidKeys } from '../../clients/wallet/devnet-accounts.js'
import { seededCreate, type SeededDid, seededDid } from './seeded-document.js'

/** A request for the DIDs of consecutive numbers, or for the creates of some numbers. */
export type SeedRequest =
  | { readonly kind: 'dids'; readonly first: number; readonly count: number }
  | {
      readonly kind: 'creates'
      readonly numbers: readonly number[]
      /** Time of the documents, in Unix seconds. */
      readonly now: number
      readonly specification: string
    }

/** A create of a seeded DID, and what names its signatures in a cache: they hold, as they were made with it. */
export interface MadeCreate {
  readonly did: string
  readonly operation: DidOperation
  readonly identities: readonly string[]
}

/** Answers by the kind of their request, in the order of the numbers. */
export interface SeedAnswers {
  readonly dids: readonly string[]
  readonly creates: readonly MadeCreate[]
}

/** Makes seeded DIDs and their creates: keys, documents and signatures. */
export class SeedMaker {
  readonly #keyOf = seededDidKeys()
  /** Those whose creates are asked for next. */
  #known = new Map<number, SeededDid>()

  answer(request: SeedRequest): SeedAnswers[SeedRequest['kind']] {
    return request.kind === 'dids' ? this.#dids(request) : this.#creates(request)
  }

  #dids({ first, count }: Extract<SeedRequest, { kind: 'dids' }>): string[] {
    return Array.from({ length: count }, (_, i) => {
      const one = this.#one(first + i)
      this.#known.set(first + i, one)
      return one.did
    })
  }

  #creates({ numbers, now, specification }: Extract<SeedRequest, { kind: 'creates' }>): MadeCreate[] {
    return numbers.map((number) => {
      const one = this.#one(number)
      this.#known.delete(number)
      const operation = seededCreate(one, now, specification)
      return { did: one.did, operation, identities: identitiesOf(one.made) }
    })
  }

  #one(number: number): SeededDid {
    return this.#known.get(number) ?? seededDid(number, this.#keyOf(number))
  }
}
