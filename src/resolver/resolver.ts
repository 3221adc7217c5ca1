import { decodeBase64url } from '../did/base64url.js'
import { formatDate, parseDate } from '../did/date.js'
import { signatureType } from '../did/model.js'
import type { DocumentQuery, QueryResult, ResolvedTransaction, ResolveResult } from '../did/resolution.js'
import type { Clock } from '../env.js'
import { InvariantError, RuleError } from '../errors.js'
import type { ProgramHash } from '../primitives/address.js'
import type { Hash } from '../primitives/hash.js'
import { displayHash, equalBytes, utf8 } from '../primitives/bytes.js'
import { Reader } from '../primitives/codec.js'
import { Header } from '../primitives/header.js'
import { type DidOperation, type DidOperationJson, operationJson } from '../primitives/operation.js'
import { payloadOf } from '../primitives/transaction-parts.js'
import { damaged, type Database } from '../storage/database.js'
import { type DidOperationRow, keys, rangeOf, table, values } from '../storage/schema.js'
import { didHead } from '../storage/state.js'
import { ResolverAnswer } from './answer.js'
import { ByteCache } from './byte-cache.js'
import { didOf, existingKey, identifierOf } from './identifier.js'
import { DocumentSearch, type FoundDocuments, foundJson, type QueryLimits, readQuery } from './query.js'

/** Bytes of answers kept for the present tip. */
export const resolverCacheBytes = 16 * 1024 * 1024
/** Times an answer is read again because a block came in between. */
const maxAttempts = 20
/** Transactions read at once. */
const transactionsAtOnce = 64

/** Whether a peer has proved a tip that the node does not have, or may have one while no peer was reached. */
export interface SyncStatus {
  readonly catchingUp: boolean
  /** Height of the own tip. */
  readonly height: number
  /** Height of the best proved tip. */
  readonly target: number
}

/** How far a node that is catching up has come. */
export function behindText({ height, target }: SyncStatus): string {
  return target > height ? `at height ${height} of ${target}` : 'no peer has been reached yet'
}

export interface ResolverOptions {
  readonly database: Database
  /** On a devnet the virtual clock. */
  readonly clock: Clock
  /**
   * The tip, its time in Unix seconds. It may be a moment behind the database, never ahead of it. The same hash object
   * means that the chain has not moved in between.
   */
  readonly tip: () => { readonly time: number; readonly hash: Hash }
  readonly sync: () => SyncStatus
  /** Bytes of answers to keep; {@link resolverCacheBytes} unless told otherwise. */
  readonly cacheBytes?: number
  /** What differs from {@link queryLimits}. */
  readonly queryLimits?: Partial<QueryLimits>
}

/** What the rows of a DID say, whatever the clock shows. */
interface Known {
  readonly deactivated: boolean
  /** Unix seconds; of no meaning once deactivated. */
  readonly expiresAt: number
  /** Newest first. */
  readonly transactions: readonly ResolvedTransaction[]
  /** The answer as it was last given; it stays right until the status becomes another. */
  answer?: ResolverAnswer
}

/** Answers what a DID is, straight from the database. */
export class Resolver {
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
  }

  /**
   * The state of a DID, given in full or as the identifier alone: with `all` every operation, else the last one. Text
   * that cannot be either is `request-parameter`. A node that is catching up answers nothing but `resolver-behind`, for
   * what it does not know yet may exist.
   */
  async resolve(did: string, { all }: { readonly all: boolean }): Promise<ResolveResult> {
    const identifier = identifierOf(did)
    this.#refuseBehind()
    const full = didOf(identifier)
    const known = all ? await this.#history(identifier, full) : await this.#last(identifier, full)
    if (known === undefined) return { did: full, status: 3 }
    const status = this.#status(known)
    if (known.answer?.status !== status) known.answer = new ResolverAnswer(full, status, known.transactions)
    return known.answer
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

  /** Documents that searches have looked at so far. */
  get scannedDocuments(): number {
    return this.#search.scanned
  }

  /** Ends searches under way, and waits for that. */
  close(): Promise<void> {
    return this.#search.close()
  }

  #find(query: DocumentQuery, signal?: AbortSignal): Promise<FoundDocuments> {
    const search = readQuery(query)
    this.#refuseBehind()
    return this.#search.find(search, signal)
  }

  #refuseBehind(): void {
    const status = this.#options.sync()
    if (!status.catchingUp) return
    throw new RuleError('resolver-behind', `the node is catching up (${behindText(status)}); ask again later`)
  }

  /** Deactivation counts first; expiry is a question of the moment: the clock's, but never one before the tip's. */
  #status({ deactivated, expiresAt }: Known): 0 | 1 | 2 {
    if (deactivated) return 2
    const now = Math.max(this.#options.clock.now(), this.#options.tip().time * 1000)
    return expiresAt * 1000 <= now ? 1 : 0
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
    // A block may have come meanwhile, and another question may have moved the cache to it.
    if (known !== undefined && equalBytes(this.#cachedTip, values.tip.decode(at).hash))
      this.#cache.set(did, known, sizeOf(known))
    return known
  }

  async #readLast(key: ProgramHash, did: string): Promise<Known | undefined> {
    const head = didHead(this.#database, key)
    if (head === undefined) return undefined
    const row = this.#database.get(keys.didOperation(key, head.operationCount - 1))
    const [last] = await this.#operations([values.didOperation.decode(present(row, 'the last operation'))], did)
    const { resolved, operation } = present(last, 'the last operation')
    const deactivated = head.status === 'deactivated'
    return { deactivated, expiresAt: deactivated ? 0 : expiryOf(operation), transactions: [resolved] }
  }

  /** Every operation: one range of rows, then their transactions. */
  async #history(identifier: string, did: string): Promise<Known | undefined> {
    const key = existingKey(identifier)
    if (key === undefined) return undefined
    const { known } = await this.#consistent(async () => {
      const head = didHead(this.#database, key)
      if (head === undefined) return undefined
      const rows = await this.#database.rows(rangeOf(table.didOperation, key), { reverse: true })
      const operations = await this.#operations(
        rows.map(([, value]) => values.didOperation.decode(value)),
        did,
      )
      const document = operations[rows.length - 1 - head.documentSequence]
      return {
        deactivated: head.status === 'deactivated',
        expiresAt: expiryOf(present(document, 'the last document').operation),
        transactions: operations.map(({ resolved }) => resolved),
      }
    })
    return known
  }

  /** What the given rows point at, in their order. */
  async #operations(rows: readonly DidOperationRow[], did: string): Promise<ReadOperation[]> {
    const read: ReadOperation[] = []
    for (let start = 0; start < rows.length; start += transactionsAtOnce) {
      const some = rows.slice(start, start + transactionsAtOnce)
      const wanted = some.map(({ height, index }) => keys.transaction(height, index))
      // One read at a time is cheaper on this thread; many belong on those of the database.
      const found =
        some.length === 1 ? wanted.map((key) => this.#database.get(key)) : await this.#database.getMany(wanted)
      some.forEach(({ height, txid }, i) => {
        const payload = payloadOf(present(found[i], 'the transaction of an operation'))
        if (payload.type !== 10) throw new InvariantError(`an operation of ${did} is in no DID transaction`)
        const { operation } = payload
        const timestamp = formatDate(this.#timeOf(height))
        read.push({ operation, resolved: { txid: displayHash(txid), timestamp, operation: shown(operation, did) } })
      })
    }
    return read
  }

  /** Unix seconds of the active block at a height. */
  #timeOf(height: number): number {
    const hash = present(this.#database.get(keys.active(height)), 'an active block')
    const record = values.header.decode(present(this.#database.get(keys.header(hash)), 'a header'))
    return Header.read(new Reader(record.header)).time
  }

  /**
   * Reads rows of one and the same state without a snapshot, which would cost as much as the rest of an answer. Every
   * batch that connects or disconnects a block rewrites the tip row, so rows that were read between two equal tip rows
   * belong together, unless a devnet went ahead and was taken back to the same tip meanwhile: then the tip in memory is
   * another object. Otherwise they are read again, and what went wrong meanwhile is forgotten.
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
 * An operation as the resolver shows it: the proof type of a create or update written out, that of a deactivate left
 * out, the key named by its fragment alone where it is one of the DID's own.
 */
function shown(operation: DidOperation, did: string): DidOperationJson {
  const { header, payload, proof } = operationJson(operation)
  const own = proof.verificationMethod.startsWith(`${did}#`)
  const verificationMethod = own ? proof.verificationMethod.slice(did.length) : proof.verificationMethod
  const type = operation.operation === 'deactivate' ? {} : { type: signatureType }
  return { header, payload, proof: { ...type, verificationMethod, signature: proof.signature } }
}

/**
 * Unix seconds at which the document of a create or update expires. The chain accepted that document: every JSON parser
 * reads it the same way, so the quick one does.
 */
function expiryOf({ payload }: DidOperation): number {
  const text = utf8(decodeBase64url(payload) ?? new Uint8Array(0)) ?? ''
  const { expires } = JSON.parse(text) as { expires: string }
  return present(parseDate(expires), 'the expiry of a document')
}

/** About the bytes that an answer takes in memory, its payload once more in the JSON text. */
function sizeOf({ transactions }: Known): number {
  return transactions.reduce((sum, { operation }) => sum + 1600 + 2 * operation.payload.length, 0)
}

function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw damaged(`${what} of a DID is missing`)
  return value
}
