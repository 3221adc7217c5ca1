/**
 * Answers questions about DIDs from the rows, as the chain has them at one tip.
 *
 *   did   -> resolve -> readResolveRequest -> DidReader -> DidVersions   a version: head, one operation, its transaction
 *                                             readHistory                all operations or a part of them, a few at a time
 *                    -> ResolverAnswer (cached)
 *            with proof: Prover (prover/) -> block, map proof, anchor; rows up to that block
 *   query -> DocumentSearch: readQuery (compiled condition, plan) -> SearchQueue
 *            -> SearchRun: postings chunk by chunk, or every document -> matches -> total, page of documents
 *   each  -> Standing (node/standing/in-step.ts)       `resolver-behind` out of step, above all for what is not there
 *
 * Imports did, did-index, did-query, errors, events, primitives, proofs, prover, runtime, storage; used by gateway, node, api, library, heads, standing; needs neither chain nor pool.
 * - Rows of one answer lie between two equal tip rows, else they are read again (ConsistentReader).
 * - The status depends on the clock, the rows do not: caches hold rows, expiry is computed for each answer.
 * - Searches that read documents run one at a time, others a few at once; those waiting are limited. Each sees one state of the rows.
 */
import { didOf } from '../../base/primitives/did-key.js'
import type { DocumentQuery, QueryResult, ResolveOptions, ResolveResult } from '../../identity/did/resolution.js'
import type { StateProof } from '../../identity/did/state-proof.js'
import { equalBytes, ownCopy } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Prover } from '../prover/prover.js'
import type { Clock } from '../../base/runtime/env.js'
import type { RowSource } from '../../ledger/storage/stored-rows.js'
import { ByteCache } from '../../base/runtime/byte-cache.js'
import { ConsistentReader } from './consistent-reader.js'
import { CredentialAnswers } from './credential-answers.js'
import { existingKey, hintOf, identifierOf } from './did-key.js'
import {
  DocumentSearch,
  foundJson,
  type QueryLimits,
  type ReadQuery,
  readQuery,
  type SearchOptions,
} from './document-search.js'
import { type HistoryOptions, LongHistory } from './history.js'
import { historyLimits } from './history-limits.js'
import { ProofAnswers } from './proof-answers.js'
import { DidReader, type KnownDid } from './read-did.js'
import { readResolveRequest, type ResolveRequest } from './resolve-request.js'
import { ResolverAnswer } from './resolver-answer.js'
import type { Standing } from './standing.js'
import { type AskerOptions, StepGate } from './step-gate.js'

/** @tuning bytes: answers of the resolver kept until the tip changes */
export const resolverCacheBytes = 16 * 1024 * 1024
/** @tuning bytes: an answer with several operations or with a proof that is kept, in memory */
const keptAnswer = 256 * 1024
/** Bytes of an answer without transactions: what is known of the DID, the hash of the tip, the text. */
const emptyAnswer = 700

export interface ResolverOptions {
  readonly database: RowSource
  readonly prover: Prover
  /** The virtual clock on a devnet. */
  readonly clock: Clock
  /**
   * The tip, its time in Unix seconds. It may be briefly behind the database, never ahead of it. The same hash object means that
   * the chain has not moved in between.
   */
  readonly tip: () => { readonly time: number; readonly hash: Hash }
  /** Whether the node may say what is so now. */
  readonly standing: () => Standing
  /** Counts the cosignatures that came for blocks: a proof that was made before may lack one. Absent: none come. */
  readonly cosigned?: () => number
  /** Bytes of answers to keep; the default is {@link resolverCacheBytes}. */
  readonly cacheBytes?: number
  /** Overrides of {@link queryLimits}. */
  readonly queryLimits?: Partial<QueryLimits>
  /** Called with each answer about a DID, before its client has it: it must neither throw nor take time. */
  readonly onAnswer?: (result: ResolveResult, options: ResolveOptions) => void
}

/** Cached state of a DID. */
interface Kept {
  readonly known: KnownDid
  /** The last answer given; valid until the status changes. */
  answer?: ResolverAnswer
}

/** Answers requests about DIDs, straight from the database. */
export class Resolver {
  /** Status of credentials on the chain; `resolver-behind` out of step. */
  readonly credentials: CredentialAnswers
  /** Proofs without answers, and what light resolvers follow a chain by; likewise. */
  readonly proofs: ProofAnswers
  readonly #options: ResolverOptions
  readonly #reader: DidReader
  readonly #search: DocumentSearch
  readonly #gate: StepGate
  /** Answers about DIDs at {@link #cachedTip}, by {@link keyOf}. */
  readonly #cache: ByteCache<Kept>
  #cachedTip: Hash | undefined
  /** The tip and the count of cosignatures for which {@link answersAt} is the same object. */
  #holding: { readonly tip: Hash; readonly cosigned: number; readonly as: Hash } | undefined

  constructor(options: ResolverOptions) {
    this.#options = options
    this.#cache = new ByteCache(options.cacheBytes ?? resolverCacheBytes)
    const { database, tip, prover } = options
    const reader = new ConsistentReader(database, tip)
    this.#reader = new DidReader(database, reader, prover)
    this.#search = new DocumentSearch(database, options.queryLimits)
    const gate = new StepGate(options.standing)
    this.#gate = gate
    this.credentials = new CredentialAnswers({ database, prover, reader, gate, now: () => this.now() })
    this.proofs = new ProofAnswers({ prover, reader, credentials: this.credentials, gate })
  }

  /**
   * State of a DID, given in full or as the identifier alone, with the operations and the context asked for: the last one, that of
   * a version, all, or a part of them. Text that can be no DID, and options that cannot be, are `request-parameter`; a whole
   * history beyond the limits `history-size`; too many long ones at a time `busy`. A node out of step answers
   * `resolver-behind`: a DID without rows yet may exist. While its chain merely pauses it answers what is there, with its
   * age: in the answer where the context is asked for, else only if `showsAge`: then the client gets it another way.
   * `withDocument` adds the last document to a deactivation.
   */
  async resolve(
    did: string,
    options: ResolveOptions = {},
    asker: HistoryOptions & AskerOptions = {},
  ): Promise<ResolveResult> {
    const result = await this.#resolve(did, options, asker)
    this.#options.onAnswer?.(result, options)
    return result
  }

  async #resolve(
    did: string,
    options: ResolveOptions,
    { withDocument = false, showsAge = false, ...history }: HistoryOptions & AskerOptions,
  ): Promise<ResolveResult> {
    const identifier = identifierOf(did)
    const request = readResolveRequest(options, withDocument)
    // A proof names its block, whose time says how old the answer is.
    const age = this.#gate.require(showsAge || request.context || request.proof !== undefined)
    const full = didOf(identifier)
    const kept = await this.#kept(identifier, full, request, history)
    if (kept === undefined || !kept.known.exists || isWithoutVersion(kept.known, request)) this.#gate.requireAll()
    const outOfStep = request.context ? defined({ outOfStep: age }) : {}
    if (kept === undefined) return { did: full, status: 3, ...hintOf(identifier, options), ...outOfStep }
    const status = this.#status(kept.known)
    if (kept.answer?.status !== status) kept.answer = new ResolverAnswer(full, status, kept.known)
    return outOfStep.outOfStep === undefined ? kept.answer : { ...kept.answer, ...outOfStep }
  }

  /** The same without waiting for memory; undefined for a history with more than {@link historyLimits.short} bytes. */
  async resolveShort(
    did: string,
    options: ResolveOptions,
    asker: Pick<HistoryOptions, 'signal'> & Pick<AskerOptions, 'showsAge'> = {},
  ): Promise<ResolveResult | undefined> {
    try {
      return await this.resolve(did, options, { ...asker, most: historyLimits.short })
    } catch (error) {
      if (error instanceof LongHistory) return undefined
      throw error
    }
  }

  /**
   * The latest documents of all DIDs that are not deactivated, expired ones included, which meet exactly one of `service`
   * (a type), `credential` (a type) and `query` (a condition, see docs/query.md). `query-invalid` for none, several, or a
   * condition that is not valid; `busy` when too many wait or it takes too long; out of step `resolver-behind`.
   */
  async query(query: DocumentQuery, options: { readonly signal?: AbortSignal } = {}): Promise<QueryResult> {
    return JSON.parse(await this.queryJson(readQuery(query), options)) as QueryResult
  }

  /** The answer of {@link query} as JSON text, for a search that was read: planning one is dear enough to do it once. */
  async queryJson(query: ReadQuery, options: SearchOptions = {}): Promise<string> {
    // A total says of all other documents that they do not match.
    const age = this.#gate.requireAll()
    return foundJson(await this.#search.find(query, options), query.context, age)
  }

  /** Documents read by searches so far. */
  get scannedDocuments(): number {
    return this.#search.scanned
  }

  /** Whether the node may say what is so now. */
  get standing(): Standing {
    return this.#options.standing()
  }

  /** The hash of the tip as of which answers given now hold, the same object while it does not move; undefined out of step. */
  get answersAt(): Hash | undefined {
    return this.#options.standing().inStep ? this.#holdsAs() : undefined
  }

  /** The hash of the tip, another object whenever cosignatures came: proofs have more then. */
  #holdsAs(): Hash {
    const { tip, cosigned = () => 0 } = this.#options
    const now = { tip: tip().hash, cosigned: cosigned() }
    const before = this.#holding
    if (before?.tip === now.tip && before.cosigned === now.cosigned) return before.as
    this.#holding = { ...now, as: before?.tip === now.tip ? ownCopy(now.tip) : now.tip }
    return this.#holding.as
  }

  /** Ends searches in progress, and waits for their end. */
  close(): Promise<void> {
    return this.#search.close()
  }

  /** Deactivation takes precedence; expiry depends on the clock, but never on a time before the tip's. */
  #status({ exists, deactivated, expiresAt }: KnownDid): 0 | 1 | 2 | 3 {
    if (!exists) return 3
    if (deactivated) return 2
    return expiresAt * 1000 <= this.now() ? 1 : 0
  }

  /** The time by which documents expire: Unix milliseconds, never before the time of the tip. */
  now(): number {
    return Math.max(this.#options.clock.now(), this.#options.tip().time * 1000)
  }

  /** From the cache, or from the rows. */
  async #kept(
    identifier: string,
    did: string,
    request: ResolveRequest,
    history: HistoryOptions,
  ): Promise<Kept | undefined> {
    const hash = this.#holdsAs()
    if (this.#cachedTip !== hash) {
      this.#cache.clear()
      this.#cachedTip = hash
    }
    const name = keyOf(did, request)
    const cached = this.#cache.get(name)
    if (cached !== undefined) return cached
    const key = existingKey(identifier)
    if (key === undefined && request.proof === undefined) return undefined
    const known = await this.#reader.read({ did, key }, request, history)
    if (known === undefined) return undefined
    const kept: Kept = { known }
    const bytes = sizeOf(known)
    // There is no end of DIDs that do not exist.
    const mayBeLong = request.all || request.proof !== undefined
    const isSmall = known.exists && (!mayBeLong || bytes <= keptAnswer)
    // A block may have arrived since, and another request may have moved the cache to it.
    if (isSmall && equalBytes(this.#cachedTip, known.tip)) this.#cache.set(name, kept, bytes)
    return kept
  }
}

/** Whether a version is asked for, and the answer has none. */
function isWithoutVersion({ transactions }: KnownDid, { all }: ResolveRequest): boolean {
  return !all && transactions.length === 0
}

/** Names what is asked for of a DID. */
function keyOf(did: string, request: ResolveRequest): string {
  const { proof } = request
  const block = proof?.height === undefined ? `depth ${proof?.depth}` : `height ${proof.height}`
  const asked = proof === undefined ? did : `${did} proved ${proof.history ? 'whole ' : ''}${block}`
  const name = request.context ? `${asked} in context` : asked
  if (request.all) return `${name} all ${request.slice?.skip} ${request.slice?.limit}`
  const { version, withDocument } = request
  if (withDocument) return `${name} with document`
  return version === undefined ? name : `${name} ${version.by} ${version.value}`
}

/** Approximate bytes of an answer in memory; the payload counts again for the JSON text. */
function sizeOf({ transactions, givenUp = [], context, proof }: KnownDid): number {
  const withContext = context === undefined ? 0 : 1000 + 300 * transactions.length
  const withProof = proof === undefined ? 0 : 2 * proofSize(proof)
  const base = emptyAnswer + withContext + withProof + 600 * givenUp.length
  return transactions.reduce((sum, { operation }) => sum + 1600 + 2 * operation.payload.length, base)
}

/** About the characters of a proof. */
function proofSize({ anchor, maps }: StateProof): number {
  const texts = [...Object.values(anchor as object), ...maps.flatMap(({ path, history }) => [path, history?.entries])]
  return texts.reduce((sum: number, text: unknown) => sum + (typeof text === 'string' ? text.length : 0), 500)
}
