/**
 * Answers questions about DIDs from the rows, as the chain has them at one tip.
 *
 *   did   -> resolve -> #last -> #readLast    head of the DID, its last operation, that transaction -> ResolverAnswer (cached)
 *   did   -> history -> #page                 all operations, a few at a time
 *   query -> DocumentSearch: readQuery -> compileCondition -> Database.pages -> matches -> documents
 *   each  -> #requireSynced                   `resolver-behind` while the node catches up
 *
 * Imports did, did-query, errors, primitives, runtime, storage; used by node, api; knows neither chain nor pool.
 * - Rows of one answer lie between two equal tip rows, else they are read again (#consistent).
 * - The status depends on the clock, the rows do not: caches hold rows, expiry is computed for each answer.
 * - One search at a time; those waiting are limited.
 */
import { decodeBase64url } from '../did/base64url.js'
import { formatDate, parseDate } from '../did/date.js'
import type { DocumentQuery, QueryResult, ResolvedTransaction, ResolveResult } from '../did/resolution.js'
import { InvariantError, RuleError } from '../errors/rule-error.js'
import type { ProgramHash } from '../primitives/address.js'
import { displayHash, equalBytes, utf8 } from '../primitives/bytes.js'
import { Reader } from '../primitives/codec.js'
import type { DidOperation } from '../primitives/did-operation.js'
import type { Hash } from '../primitives/hash.js'
import { Header } from '../primitives/header.js'
import { txType } from '../primitives/payload.js'
import { payloadOf } from '../primitives/transaction-parts.js'
import type { Clock } from '../runtime/env.js'
import { damaged, type Database } from '../storage/database.js'
import { keys, type TipRow, values } from '../storage/schema.js'
import { didHead } from '../storage/did-rows.js'
import { ByteCache } from './byte-cache.js'
import { CredentialAnswers } from './credential-answers.js'
import { didOf, existingKey, identifierOf } from './did-key.js'
import { DocumentSearch, type FoundDocuments, foundJson, type QueryLimits, readQuery } from './document-search.js'
import { DidHistory } from './history.js'
import { ResolverAnswer } from './resolver-answer.js'
import { shownOperation } from './shown-operation.js'

/** @limit bytes: answers of the resolver kept until the tip changes */
export const resolverCacheBytes = 16 * 1024 * 1024
/** @limit count: attempts to read a DID while blocks arrive */
const maxAttempts = 20

/** Whether a peer has proved a tip that the node does not have, or may have one while no peer was reached. */
export interface SyncStatus {
  readonly catchingUp: boolean
  /** Height of the own tip. */
  readonly height: number
  /** Height of the best proved tip. */
  readonly target: number
}

/** Progress of a node that is catching up, as text. */
export function behindText({ height, target }: SyncStatus): string {
  return target > height ? `at height ${height} of ${target}` : 'no peer has been reached yet'
}

export interface ResolverOptions {
  readonly database: Database
  /** The virtual clock on a devnet. */
  readonly clock: Clock
  /**
   * The tip, its time in Unix seconds. It may be briefly behind the database, never ahead of it. The same hash object means that
   * the chain has not moved in between.
   */
  readonly tip: () => { readonly time: number; readonly hash: Hash }
  readonly sync: () => SyncStatus
  /** Bytes of answers to keep; the default is {@link resolverCacheBytes}. */
  readonly cacheBytes?: number
  /** Overrides of {@link queryLimits}. */
  readonly queryLimits?: Partial<QueryLimits>
}

/** State of a DID by its rows, regardless of the clock. */
interface Known {
  readonly deactivated: boolean
  /** Unix seconds; meaningless once deactivated. */
  readonly expiresAt: number
  /** Number of its operations. */
  readonly count: number
  /** The last operation. */
  readonly transactions: readonly ResolvedTransaction[]
  /** The last answer given; valid until the status changes. */
  answer?: ResolverAnswer
}

/** Answers requests about DIDs, straight from the database. */
export class Resolver {
  /** What the chain says of credentials; `resolver-behind` while the node catches up. */
  readonly credentials: CredentialAnswers
  readonly #options: ResolverOptions
  readonly #database: Database
  readonly #search: DocumentSearch
  /** The last operation of DIDs by identifier, as it was at {@link #cachedTip}. */
  readonly #cache: ByteCache<Known>
  #cachedTip: Hash | undefined

  constructor(options: ResolverOptions) {
    this.#options = options
    this.#cache = new ByteCache(options.cacheBytes ?? resolverCacheBytes)
    this.#database = options.database
    this.#search = new DocumentSearch(options.database, options.queryLimits)
    this.credentials = new CredentialAnswers({
      database: options.database,
      requireSynced: () => this.#requireSynced(),
      consistent: async (read) => (await this.#consistent(() => Promise.resolve(read()))).known,
      now: () => this.#now(),
    })
  }

  /**
   * State of a DID, given in full or as the identifier alone: with `all` every operation, else the last one. Text that can be
   * neither is `request-parameter`. A node that is catching up answers only `resolver-behind`: a DID that it does not know yet
   * may exist.
   */
  async resolve(did: string, { all }: { readonly all: boolean }): Promise<ResolveResult> {
    const identifier = identifierOf(did)
    this.#requireSynced()
    const full = didOf(identifier)
    if (all) return this.#whole(did, full)
    const known = await this.#last(identifier, full)
    if (known === undefined) return { did: full, status: 3 }
    const status = this.#status(known)
    if (known.answer?.status !== status) known.answer = new ResolverAnswer(full, status, known.transactions)
    return known.answer
  }

  /**
   * Every operation of a DID, to be read a few at a time; undefined where it does not exist. Refuses the same as {@link resolve}.
   */
  async history(did: string): Promise<DidHistory | undefined> {
    const identifier = identifierOf(did)
    this.#requireSynced()
    const full = didOf(identifier)
    const key = existingKey(identifier)
    if (key === undefined) return undefined
    const { known, at } = await this.#consistent(() => this.#readLast(key, full))
    if (known === undefined) return undefined
    const block = values.tip.decode(at)
    const read = (start: number, end: number) => this.#page(key, full, block, start, end)
    return new DidHistory({ did: full, status: this.#status(known), count: known.count, read })
  }

  /**
   * The latest documents of all DIDs that are not deactivated, expired ones included, which meet exactly one of `service`
   * (a type), `credential` (a type) and `query` (a condition, see docs/query.md). `query-invalid` for none, several, or a
   * condition that is not valid; `busy` when too many wait or it takes too long; while catching up `resolver-behind`.
   */
  async query(query: DocumentQuery, options: { readonly signal?: AbortSignal } = {}): Promise<QueryResult> {
    const { texts, ...counts } = await this.#find(query, options.signal)
    return { ...counts, document: texts.map((text) => JSON.parse(text) as QueryResult['document'][number]) }
  }

  /** The answer of {@link query} as JSON text. */
  async queryJson(query: DocumentQuery, options: { readonly signal?: AbortSignal } = {}): Promise<string> {
    return foundJson(await this.#find(query, options.signal))
  }

  /** Documents read by searches so far. */
  get scannedDocuments(): number {
    return this.#search.scanned
  }

  /** Refuses with `resolver-behind` while the node catches up. */
  #requireSynced(): void {
    const status = this.#options.sync()
    if (!status.catchingUp) return
    throw new RuleError('resolver-behind', `the node is catching up (${behindText(status)}); ask again later`)
  }

  /** Ends searches in progress, and waits for their end. */
  close(): Promise<void> {
    return this.#search.close()
  }

  #find(query: DocumentQuery, signal?: AbortSignal): Promise<FoundDocuments> {
    const search = readQuery(query)
    this.#requireSynced()
    return this.#search.find(search, signal)
  }

  /** Deactivation takes precedence; expiry depends on the clock, but never on a time before the tip's. */
  #status({ deactivated, expiresAt }: Known): 0 | 1 | 2 {
    if (deactivated) return 2
    return expiresAt * 1000 <= this.#now() ? 1 : 0
  }

  /** Unix milliseconds, never before the time of the tip. */
  #now(): number {
    return Math.max(this.#options.clock.now(), this.#options.tip().time * 1000)
  }

  /** The last operation alone: a few point reads. */
  async #last(identifier: string, did: string): Promise<Known | undefined> {
    const { hash } = this.#options.tip()
    if (this.#cachedTip !== hash) {
      this.#cache.clear()
      this.#cachedTip = hash
    }
    const cached = this.#cache.get(did)
    if (cached !== undefined) return cached
    const key = existingKey(identifier)
    if (key === undefined) return undefined
    const { known, at } = await this.#consistent(() => this.#readLast(key, did))
    // A block may have arrived since, and another request may have moved the cache to it.
    if (known !== undefined && equalBytes(this.#cachedTip, values.tip.decode(at).hash))
      this.#cache.set(did, known, sizeOf(known))
    return known
  }

  async #readLast(key: ProgramHash, did: string): Promise<Known | undefined> {
    const head = didHead(this.#database, key)
    if (head === undefined) return undefined
    const count = head.operationCount
    const [last] = await this.#operations(key, did, count - 1, count)
    const { resolved, operation } = present(last, 'the last operation')
    const deactivated = head.status === 'deactivated'
    return { deactivated, expiresAt: deactivated ? 0 : expiryOf(operation), count, transactions: [resolved] }
  }

  /** The whole history at once. */
  async #whole(did: string, full: string): Promise<ResolveResult> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const history = await this.history(did)
      if (history === undefined) return { did: full, status: 3 }
      const transactions: ResolvedTransaction[] = []
      try {
        for await (const page of history.pages()) transactions.push(...page)
        return new ResolverAnswer(full, history.status, transactions)
      } catch (error) {
        if (!(error instanceof RuleError && error.code === 'busy')) throw error
      }
    }
    throw new RuleError('busy', 'blocks arrive faster than this DID can be read; try again')
  }

  /** A part of the history of a DID as of a block, newest first; undefined unless that block is on the active chain. */
  async #page(
    key: ProgramHash,
    did: string,
    block: TipRow,
    start: number,
    end: number,
  ): Promise<ResolvedTransaction[] | undefined> {
    const { known } = await this.#consistent(async () => {
      const active = this.#database.get(keys.active(block.height))
      // Rows of an active block stay the same, whatever follows it.
      if (active === undefined || !equalBytes(active, block.hash)) return undefined
      const operations = await this.#operations(key, did, start, end)
      return operations.map(({ resolved }) => resolved)
    })
    return known
  }

  /** The operations of a DID from number `start` on, before number `end`, newest first. */
  async #operations(key: ProgramHash, did: string, start: number, end: number): Promise<ReadOperation[]> {
    const rows = Array.from({ length: end - start }, (_, i) => {
      const row = this.#database.get(keys.didOperation(key, end - 1 - i))
      return values.didOperation.decode(present(row, 'an operation'))
    })
    const wanted = rows.map(({ height, index }) => keys.transaction(height, index))
    // A single read is cheaper on this thread; many reads belong on the threads of the database.
    const found =
      wanted.length === 1 ? wanted.map((one) => this.#database.get(one)) : await this.#database.getMany(wanted)
    return rows.map(({ height, txid }, i) => {
      const payload = payloadOf(present(found[i], 'the transaction of an operation'))
      if (payload.type !== txType.did) throw new InvariantError(`an operation of ${did} is in no DID transaction`)
      const { operation } = payload
      const timestamp = formatDate(this.#timeOf(height))
      return { operation, resolved: { txid: displayHash(txid), timestamp, operation: shownOperation(operation, did) } }
    })
  }

  /** Unix seconds of the active block at a height. */
  #timeOf(height: number): number {
    const hash = present(this.#database.get(keys.active(height)), 'an active block')
    const record = values.header.decode(present(this.#database.get(keys.header(hash)), 'a header'))
    return Header.read(new Reader(record.header)).time
  }

  /**
   * Reads rows of one state without a snapshot, which would cost as much as the rest of an answer. Every batch that connects or
   * disconnects a block rewrites the tip row: rows read between two equal tip rows belong together. Exception: a devnet advanced
   * and was taken back to the same tip; then the tip in memory is another object. Not of one state → the rows are read again, and
   * errors of the attempt are dropped.
   */
  async #consistent<T>(read: () => Promise<T>): Promise<{ known: T; at: Uint8Array }> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const at = this.#tipRow()
      const { hash } = this.#options.tip()
      const same = () => equalBytes(at, this.#tipRow()) && this.#options.tip().hash === hash
      try {
        const known = await read()
        if (same()) return { known, at }
      } catch (error) {
        if (same()) throw error
      }
    }
    throw new RuleError('busy', 'blocks arrive faster than this DID can be read; try again')
  }

  #tipRow(): Uint8Array {
    return present(this.#database.get(keys.meta('tip')), 'the tip')
  }
}

interface ReadOperation {
  readonly operation: DidOperation
  readonly resolved: ResolvedTransaction
}

/**
 * Unix seconds at which the document of a create or update expires. Every JSON parser reads an accepted document the same way, so
 * the fastest one is used.
 */
function expiryOf({ payload }: DidOperation): number {
  const text = utf8(decodeBase64url(payload) ?? new Uint8Array(0)) ?? ''
  const { expires } = JSON.parse(text) as { expires: string }
  return present(parseDate(expires), 'the expiry of a document')
}

/** Approximate bytes of an answer in memory; the payload counts again for the JSON text. */
function sizeOf({ transactions }: Known): number {
  return transactions.reduce((sum, { operation }) => sum + 1600 + 2 * operation.payload.length, 0)
}

function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw damaged(`${what} of a DID is missing`)
  return value
}
