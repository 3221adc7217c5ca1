import type { AnswerAge } from '../../identity/did/resolution.js'
import { planSearch } from '../../identity/did-index/plan-condition.js'
import type { SearchPlan } from '../../identity/did-index/plan.js'
import { compileCondition, type Matcher } from '../../identity/did-query/compile.js'
import { refuseLong } from '../../identity/did-query/condition.js'
import type { DocumentQuery } from '../../identity/did/resolution.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { displayHash, mapKey } from '../../base/primitives/bytes.js'
import { sha256 } from '../../base/primitives/hash.js'
import { canonicalJson } from '../../base/primitives/strict-json.js'
import type { RowSource } from '../../ledger/storage/stored-rows.js'
import { damaged } from '../../ledger/storage/failure.js'
import { meta, type TipRow } from '../../ledger/storage/rows/tables.js'
import { SearchCache } from './search-cache.js'
import { SearchQueue } from './search-queue.js'
import { SearchRun } from './search-run.js'

/** Limits of a search, and of its answer. */
export const queryLimits = {
  /** @tuning count: documents of an answer to a `query` without a limit */
  documentsUnasked: 100,
  /** @limit count: documents of any answer to `query` */
  documents: 1000,
  /** @tuning bytes: documents of an answer to `query`, one document always excepted */
  answerBytes: 8 * 1024 * 1024,
  /**
   * As many as a batch of requests, and some.
   * @limit count: searches that wait for those in progress
   */
  waiting: 128,
  /** @limit ms: time of a search, its wait included */
  duration: 60_000,
  /** @limit count: documents that one search reads to examine them */
  examined: 500_000,
  /** @tuning bytes: documents that a search reads at once */
  pageBytes: 128 * 1024,
}

/** Limits of the searches of a node. */
export type QueryLimits = Readonly<typeof queryLimits>

/** A search, checked and compiled. */
export interface ReadQuery {
  readonly matcher: Matcher
  readonly plan: SearchPlan
  readonly skip: number
  readonly limit: number
  /** Whether the answer names the block as of which it holds. */
  readonly context: boolean
}

/** Result of a search: of `total` documents `count` from `start` on, as JSON texts. */
export interface FoundDocuments {
  readonly total: number
  readonly start: number
  readonly count: number
  readonly texts: readonly string[]
  /** The block as of which they were read. */
  readonly tip: TipRow
}

const conditions = ['service', 'credential', 'query'] as const

/** Throws `query-invalid` unless exactly one condition is present, whatever its value. */
export function refuseAmbiguous(query: object): void {
  const given = conditions.filter((name) => (query as DocumentQuery)[name] !== undefined)
  if (given.length === 1) return
  const needed = 'exactly one of service, credential and query is needed'
  throw new RuleError('query-invalid', given.length === 0 ? needed : `${needed}, not ${given.join(' and ')}`)
}

/** Throws `query-invalid` for a condition that is too long, before it is read or kept. */
export function refuseLongCondition(query: object): void {
  for (const name of conditions) {
    const condition = (query as DocumentQuery)[name]
    if (typeof condition === 'string') refuseLong(condition)
  }
}

/** Checks a search and compiles its condition. `query-invalid` or `request-parameter`, with what is wrong. */
export function readQuery(query: DocumentQuery): ReadQuery {
  refuseAmbiguous(query)
  const { skip = 0, limit = queryLimits.documentsUnasked, context = false } = query
  requireCount('skip', skip)
  requireCount('limit', limit)
  const matcher = compileCondition(conditionOf(query))
  const plan = planSearch(matcher.condition)
  return { matcher, plan, skip, limit: Math.min(limit, queryLimits.documents), context }
}

function conditionOf({ service, credential, query }: DocumentQuery): string | object {
  if (service !== undefined) return { service: { type: typeName('service', service) } }
  if (credential !== undefined) return { credential: { type: [typeName('credential', credential)] } }
  if (typeof query === 'string' || (typeof query === 'object' && query !== null)) return query
  throw new RuleError('request-parameter', 'query: neither text nor an object')
}

function typeName(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new RuleError('request-parameter', `${name}: the name of a type is needed`)
}

function requireCount(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return
  throw new RuleError('request-parameter', `${name}: a whole number from 0 on is needed`)
}

/** The JSON text of an answer; in context with the block as of which it holds, and out of step with its age. */
export function foundJson(
  { total, start, count, texts, tip }: FoundDocuments,
  context = false,
  outOfStep?: AnswerAge,
): string {
  const old = outOfStep === undefined ? '' : `,"outOfStep":${JSON.stringify(outOfStep)}`
  const at = context ? `,"height":${tip.height},"blockHash":"${displayHash(tip.hash)}"${old}` : ''
  return `{"total":${total},"start":${start},"count":${count},"document":[${texts.join(',')}]${at}}`
}

export interface SearchOptions {
  readonly signal?: AbortSignal
  /** Waits until there is memory for texts of so many characters; the next search does not begin before. */
  readonly admit?: (characters: number) => Promise<void>
}

/** Whether the index answers a search alone, without reading documents but those of the answer. */
export function isQuick({ plan }: ReadQuery): boolean {
  return plan.exact
}

/** Searches the documents of all DIDs: by the index as far as it answers, else by reading them. */
export class DocumentSearch {
  readonly #database: RowSource
  readonly #limits: QueryLimits
  readonly #queue: SearchQueue
  readonly #cache = new SearchCache()
  #scanned = 0
  #closed = false

  constructor(database: RowSource, limits: Partial<QueryLimits> = {}) {
    this.#database = database
    this.#limits = { ...queryLimits, ...limits }
    this.#queue = new SearchQueue(this.#limits.waiting)
  }

  /**
   * Matching documents in the order in which their DIDs were created, in one state of the chain. `busy` at once when too many
   * searches wait, and later when it takes too long, would read too much, or the node stops; the signal's reason once it aborts.
   */
  find(query: ReadQuery, options: SearchOptions = {}): Promise<FoundDocuments> {
    return abortable(this.#find(query, options), options.signal)
  }

  async #find(query: ReadQuery, { signal, admit }: SearchOptions): Promise<FoundDocuments> {
    const { duration } = this.#limits
    const end = performance.now() + duration
    const goOn = () => {
      signal?.throwIfAborted()
      if (this.#closed) throw new RuleError('busy', 'the node is stopping')
      if (performance.now() <= end) return
      throw new RuleError('busy', `the search takes more than ${duration / 1000} seconds; try again later`)
    }
    const leave = await this.#queue.enter(query.plan.exact ? 'index' : 'documents', signal)
    try {
      goOn()
      const found = await this.#run(query, goOn)
      await admit?.(found.texts.reduce((sum, { length }) => sum + length, 0))
      return found
    } finally {
      leave()
    }
  }

  /** Documents examined by searches so far. */
  get scanned(): number {
    return this.#scanned
  }

  /** Ends searches in progress and those that wait. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#queue.close()
  }

  #run(query: ReadQuery, goOn: () => void): Promise<FoundDocuments> {
    return this.#database.settle(() => this.#attempt(query, goOn))
  }

  async #attempt({ matcher, plan, skip, limit }: ReadQuery, goOn: () => void): Promise<FoundDocuments> {
    const rows = this.#database.freeze()
    try {
      const condition = mapKey(sha256(canonicalJson(matcher.condition)))
      const tip = rows.get(meta.tip.key)
      if (tip === undefined) throw damaged('the row of the tip is missing')
      const known = this.#cache.at(tip, condition)
      const note = (documents: number) => (this.#scanned += documents)
      const task = { ...this.#limits, rows, matcher, plan, skip, limit, known, goOn, note }
      const { total, texts } = await new SearchRun(task).find()
      return { total, start: total === 0 ? 0 : skip, count: texts.length, texts, tip: meta.tip.decode(tip) }
    } finally {
      rows.close()
    }
  }
}

/** The same promise; rejects at once with the signal's reason when it aborts. */
function abortable<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason as Error)
    signal.addEventListener('abort', aborted, { once: true })
    if (signal.aborted) aborted()
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  })
}
