import {
  type CredentialChange,
  type CredentialState,
  type DidState,
  nextCredentialState,
} from '../../identity/did/state.js'
import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { eachSteps, entrySteps, type Steps } from '../../base/primitives/steps.js'
import { outpointKey } from '../../base/primitives/input.js'
import { type Output, ownerOf } from '../../base/primitives/output.js'
import type { Outpoint } from '../../base/primitives/transaction-fields.js'

/** An unspent output. */
export interface Coin {
  /** Height of the block that created it. */
  readonly height: number
  readonly coinbase: boolean
  readonly value: bigint
  /** Height that a spender's lockTime must reach; 0 is no lock. */
  readonly outputLock: number
  /** `mapKey` of the program hash that unlocks it: it is compared, looked up and written more often than read as bytes. */
  readonly owner: string
}

/** The coin that an output becomes; an output of value 0 becomes none. */
export function coinOf(output: Output, { height, coinbase }: Pick<Coin, 'height' | 'coinbase'>): Coin | undefined {
  const { value, outputLock } = output
  return value === 0n ? undefined : { height, coinbase, value, outputLock, owner: ownerOf(output) }
}

/** A block of a side chain that becomes the last one of which the chain has a proof of work. */
export interface ProvedSideBlock {
  /** Hash of the genesis block of the side chain. */
  readonly genesis: Hash
  readonly height: number
  /** Height that was proved before; undefined: none. */
  readonly before: number | undefined
}

/** State of a chain at one block, as far as rules read it. */
export interface StateView {
  /** Unix seconds of that block. */
  readonly time: number
  coin(outpoint: Outpoint): Coin | undefined
  /** The last state of a DID, by its full text. */
  did(did: string): DidState | undefined
  /** The same for the issuer of a credential. Only a pool distinguishes the two: its `did` includes pooled operations. */
  issuer(did: string): DidState | undefined
  /** Returns the state of a credential, by its absolute id, that the DID of an operation made. */
  credential(id: string, signer: string): CredentialState | undefined
  /** The same for another DID: a pool distinguishes the two as well. */
  otherCredential(id: string, signer: string): CredentialState | undefined
  /** Height of the last block of a side chain, by the hash of its genesis block, that is proved; undefined: none is. */
  provedHeight(genesis: Hash): number | undefined
}

/** Coins moved in one step. */
const coinsAtOnce = 16

/**
 * Coins created and spent since a state, by `outpointKey`; what was created and spent since then leaves nothing but that it is gone.
 */
export class CoinChanges {
  #created = new Map<string, Coin>()
  #spent = new Map<string, Coin>()
  #consumed = new Set<string>()

  /** A coin that was created, null for one that was spent, undefined for one that is as it was. */
  get(key: string): Coin | null | undefined {
    const created = this.#created.get(key)
    if (created !== undefined) return created
    return this.#spent.has(key) || this.#consumed.has(key) ? null : undefined
  }

  create(key: string, coin: Coin): void {
    this.#created.set(key, coin)
  }

  spend(key: string, coin: Coin): void {
    if (this.#created.delete(key)) this.#consumed.add(key)
    else this.#spent.set(key, coin)
  }

  /** Adds changes that were made on top of these, and are not changed any more. */
  *addSteps(later: CoinChanges): Steps {
    if (this.size + this.#consumed.size === 0) {
      this.#created = later.#created
      this.#spent = later.#spent
      this.#consumed = later.#consumed
      return
    }
    // An outpoint in both was spent first: a coin that the state below holds came back in another block.
    yield* entrySteps(later.spent, (coin, key) => this.spend(key, coin), coinsAtOnce)
    yield* entrySteps(later.created, (coin, key) => this.create(key, coin), coinsAtOnce)
    yield* eachSteps(later.#consumed, (key) => this.#consumed.add(key), coinsAtOnce)
  }

  /** Coins created and still unspent. */
  get created(): ReadonlyMap<string, Coin> {
    return this.#created
  }

  /** Coins of the state below that are spent. */
  get spent(): ReadonlyMap<string, Coin> {
    return this.#spent
  }

  /** Number of coins in {@link created} and {@link spent}. */
  get size(): number {
    return this.#created.size + this.#spent.size
  }
}

/** Changes on top of a view that stays as it is. Overlays stack. */
export class StateOverlay implements StateView {
  readonly #below: StateView
  readonly coins = new CoinChanges()
  readonly #dids = new Map<string, DidState>()
  /** By id and signer, as {@link credentialKey} joins them. */
  readonly #credentials = new Map<string, CredentialState>()
  readonly #credentialIds = new Set<string>()
  /** Heights by `mapKey` of the genesis hash. */
  readonly #proved = new Map<string, number>()

  constructor(below: StateView) {
    this.#below = below
  }

  get time(): number {
    return this.#below.time
  }

  coin(outpoint: Outpoint): Coin | undefined {
    const changed = this.coins.get(outpointKey(outpoint))
    return changed === undefined ? this.#below.coin(outpoint) : (changed ?? undefined)
  }

  did(did: string): DidState | undefined {
    return this.#dids.get(did) ?? this.#below.did(did)
  }

  issuer(did: string): DidState | undefined {
    return this.#dids.get(did) ?? this.#below.issuer(did)
  }

  credential(id: string, signer: string): CredentialState | undefined {
    return this.#credentials.get(credentialKey(id, signer)) ?? this.#below.credential(id, signer)
  }

  otherCredential(id: string, signer: string): CredentialState | undefined {
    return this.#credentials.get(credentialKey(id, signer)) ?? this.#below.otherCredential(id, signer)
  }

  provedHeight(genesis: Hash): number | undefined {
    return this.#proved.get(mapKey(genesis)) ?? this.#below.provedHeight(genesis)
  }

  setProved({ genesis, height }: ProvedSideBlock): void {
    this.#proved.set(mapKey(genesis), height)
  }

  setDid(did: string, state: DidState): void {
    this.#dids.set(did, state)
  }

  setCredential(change: CredentialChange): void {
    const { id, signer } = change
    this.#credentials.set(credentialKey(id, signer), nextCredentialState(this.credential(id, signer), change))
    this.#credentialIds.add(id)
  }

  /** DIDs whose state changed here. */
  get dids(): ReadonlyMap<string, DidState> {
    return this.#dids
  }

  /** Ids of the credentials that were declared or revoked here. */
  get credentialIds(): ReadonlySet<string> {
    return this.#credentialIds
  }
}

/** No DID holds a space. */
function credentialKey(id: string, signer: string): string {
  return `${signer} ${id}`
}
