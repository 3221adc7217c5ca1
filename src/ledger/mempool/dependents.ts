import { fixedLimits } from '../../base/primitives/spec.js'
import { defaultDidLimits } from '../../identity/did/did-rules.js'
import { stillHolds } from '../../identity/did/operations/issued-credential.js'
import type { DidState, IssuerKey } from '../../identity/did/state.js'
import type { Steps } from '../../base/primitives/steps.js'
import type { PoolEntry, PoolOperation } from './pool-entry.js'
import { policy } from './policy.js'

/** The changes of blocks. */
export interface Changed {
  readonly dids: readonly string[]
  /** Ids of credentials. */
  readonly credentials: readonly string[]
}

/** The state of DIDs after the blocks, and the time of the last one. */
export interface IssuerStates {
  readonly time: number
  issuer(did: string): DidState | undefined
}

/** Entries that rest on one issuer. */
interface Holders {
  /** Bytes of its last document. */
  size: number
  /** Those of the same key under the same id, which counts as long. */
  readonly byKey: Map<string, { readonly fact: IssuerKey; readonly entries: Set<PoolEntry> }>
  /** Those that rest on so many documents that their bytes together may pass the limit. */
  readonly wide: Set<PoolEntry>
}

/** Keys or entries looked at in one step. */
const atOnce = 64

/**
 * Facts on which pooled operations rest besides coins and their own DID: keys of issuers, bytes of their documents, and states of
 * credentials. A block that changes an issuer's document otherwise touches none of its holders, however many there are.
 */
export class Dependents {
  readonly #issuers = new Map<string, Holders>()
  readonly #credentials = new Map<string, Set<PoolEntry>>()
  /** By the time at which a controller that signed expires. */
  readonly #expiring = new Map<number, Set<PoolEntry>>()
  /** The first of these times at the earliest. */
  #nextExpiry = Infinity
  readonly #documentBytes: number

  constructor(documentShare: number = policy.documentShare) {
    this.#documentBytes = documentShare * fixedLimits.documentBytes
  }

  add(entry: PoolEntry): void {
    if (entry.did === undefined) return
    const { issuerKeys, credential } = entry.did
    const isWide = this.#isWide(entry.did)
    for (const fact of issuerKeys) {
      const { issuer, payloadSize, expiresAt } = fact
      const holders = orMade(this.#issuers, issuer, () => ({ size: 0, byKey: new Map(), wide: new Set() }))
      // As it was evaluated in this turn.
      if (payloadSize !== undefined) holders.size = payloadSize
      orMade(holders.byKey, factKey(fact), () => ({ fact, entries: new Set() })).entries.add(entry)
      if (isWide) holders.wide.add(entry)
      if (expiresAt === undefined) continue
      orMade(this.#expiring, expiresAt, () => new Set()).add(entry)
      this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt)
    }
    if (credential !== undefined) orMade(this.#credentials, credential.id, () => new Set()).add(entry)
  }

  remove(entry: PoolEntry): void {
    if (entry.did === undefined) return
    const { issuerKeys, credential } = entry.did
    for (const fact of issuerKeys) {
      const { issuer, expiresAt } = fact
      const holders = this.#issuers.get(issuer)
      const entries = holders?.byKey.get(factKey(fact))?.entries
      entries?.delete(entry)
      holders?.wide.delete(entry)
      if (entries?.size === 0) holders?.byKey.delete(factKey(fact))
      if (holders?.byKey.size === 0) this.#issuers.delete(issuer)
      if (expiresAt !== undefined) leave(this.#expiring, expiresAt, entry)
    }
    if (credential !== undefined) leave(this.#credentials, credential.id, entry)
  }

  /** Calls `touch` with each entry of which a fact does not hold any more, in steps. An entry may come more than once. */
  *touchedSteps({ dids, credentials }: Changed, states: IssuerStates, touch: (entry: PoolEntry) => void): Steps {
    for (const id of credentials) for (const entry of this.#credentials.get(id) ?? []) touch(entry)
    yield* this.#expiredSteps(states.time, touch)
    const grown: ReadonlySet<PoolEntry>[] = []
    for (const did of dids) {
      const holders = this.#issuers.get(did)
      if (holders === undefined) continue
      const state = states.issuer(did)
      yield* holdersSteps(holders, state, touch)
      const { size } = holders
      holders.size = state?.documentPayloadSize ?? 0
      if (holders.size > size) grown.push(holders.wide)
    }
    for (const wide of grown) {
      for (const entry of wide) {
        if (this.#bytesOf(entry.did as PoolOperation) > this.#documentBytes) touch(entry)
        yield
      }
    }
  }

  /** Those of which a controller that signed has expired by a time. */
  *#expiredSteps(time: number, touch: (entry: PoolEntry) => void): Steps {
    yield
    if (time < this.#nextExpiry) return
    this.#nextExpiry = Infinity
    let looked = 0
    for (const [expiresAt, entries] of this.#expiring) {
      if (expiresAt <= time) yield* touchSteps(entries, touch)
      else this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt)
      if (++looked % atOnce === 0) yield
    }
  }

  /** Bytes of all documents that an operation makes a node read. */
  #bytesOf({ issuerKeys, ownBytes }: PoolOperation): number {
    const issuers = new Set(issuerKeys.map(({ issuer }) => issuer))
    let bytes = ownBytes
    for (const issuer of issuers) bytes += this.#issuers.get(issuer)?.size ?? 0
    return bytes
  }

  #isWide({ issuerKeys }: PoolOperation): boolean {
    // One more for the previous document of its own DID.
    return (issuerKeys.length + 1) * defaultDidLimits.payloadBytes > this.#documentBytes
  }
}

/** The entries whose key the last document of their issuer has not, or has another one under its id. */
function* holdersSteps({ byKey }: Holders, state: DidState | undefined, touch: (entry: PoolEntry) => void): Steps {
  const document = state?.status === 'valid' ? state.document : undefined
  yield
  for (const { fact, entries } of byKey.values()) {
    if (stillHolds(fact, document)) continue
    yield* touchSteps(entries, touch)
  }
}

function factKey({ id, key, expiresAt }: IssuerKey): string {
  return `${id}${key}${expiresAt ?? ''}`
}

function* touchSteps(entries: ReadonlySet<PoolEntry>, touch: (entry: PoolEntry) => void): Steps {
  let looked = 0
  for (const entry of entries) {
    touch(entry)
    if (++looked % atOnce === 0) yield
  }
}

/** Takes an entry from the set under a key, and the set from the map with its last one. */
function leave<K>(sets: Map<K, Set<PoolEntry>>, key: K, entry: PoolEntry): void {
  const set = sets.get(key)
  set?.delete(entry)
  if (set?.size === 0) sets.delete(key)
}

function orMade<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
