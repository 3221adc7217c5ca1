import type { DidState } from '../did/state.js'
import type { ProgramHash } from '../primitives/address.js'
import { outpointKey } from '../primitives/transaction.js'
import type { Outpoint } from '../primitives/transaction-fields.js'

/** An unspent output. */
export interface Coin {
  /** Height of the block that created it. */
  readonly height: number
  readonly coinbase: boolean
  readonly value: bigint
  /** Height that a spender's lockTime must reach; 0 is no lock. */
  readonly outputLock: number
  readonly programHash: ProgramHash
}

/** State of a chain at one block, as far as rules read it. */
export interface StateView {
  coin(outpoint: Outpoint): Coin | undefined
  /** The last state of a DID, by its full text. */
  did(did: string): DidState | undefined
  /** The same for the issuer of a credential. Only a pool distinguishes the two: its `did` includes pooled operations. */
  issuer(did: string): DidState | undefined
}

export interface CoinEntry {
  readonly outpoint: Outpoint
  readonly coin: Coin
}

/** Changes on top of a view that stays as it is. Overlays stack. */
export class StateOverlay implements StateView {
  readonly #below: StateView
  readonly #created = new Map<string, CoinEntry>()
  readonly #spent = new Map<string, CoinEntry>()
  readonly #consumed = new Set<string>()
  readonly #dids = new Map<string, DidState>()

  constructor(below: StateView) {
    this.#below = below
  }

  coin(outpoint: Outpoint): Coin | undefined {
    const key = outpointKey(outpoint)
    const created = this.#created.get(key)
    if (created !== undefined) return created.coin
    return this.#spent.has(key) || this.#consumed.has(key) ? undefined : this.#below.coin(outpoint)
  }

  did(did: string): DidState | undefined {
    return this.#dids.get(did) ?? this.#below.did(did)
  }

  issuer(did: string): DidState | undefined {
    return this.#dids.get(did) ?? this.#below.issuer(did)
  }

  /** Whether the output was spent in this overlay. */
  isSpent(outpoint: Outpoint): boolean {
    const key = outpointKey(outpoint)
    return this.#spent.has(key) || this.#consumed.has(key)
  }

  create(outpoint: Outpoint, coin: Coin): void {
    this.#created.set(outpointKey(outpoint), { outpoint, coin })
  }

  spend(outpoint: Outpoint, coin: Coin): void {
    const key = outpointKey(outpoint)
    // A coin created and spent in one overlay never existed below it.
    if (this.#created.delete(key)) this.#consumed.add(key)
    else this.#spent.set(key, { outpoint, coin })
  }

  setDid(did: string, state: DidState): void {
    this.#dids.set(did, state)
  }

  /** Coins created here and still unspent. */
  get created(): Iterable<CoinEntry> {
    return this.#created.values()
  }

  /** Coins of the view below that are spent here. */
  get spent(): Iterable<CoinEntry> {
    return this.#spent.values()
  }

  /** DIDs whose state changed here. */
  get dids(): ReadonlyMap<string, DidState> {
    return this.#dids
  }
}
