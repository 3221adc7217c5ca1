import { compileCondition, type Matcher } from '../did-query/compile.js'
import { refuseLong } from '../did-query/condition.js'
import type { Members } from '../did-query/member-path.js'
import type { DocumentQuery } from '../did/resolution.js'
import { RuleError } from '../errors/rule-error.js'
import { displayHash, equalBytes } from '../primitives/bytes.js'
import { Yielder } from '../runtime/cooperative.js'
import { damaged, type Database } from '../storage/database.js'
import { keys, rangeOf, table, type TipRow, values } from '../storage/schema.js'

/** Limits of a search, and of its answer. */
export const queryLimits = {
  /** @limit count: documents of an answer to a `query` without a limit */
  documentsUnasked: 100,
  /** @limit count: documents of any answer to `query` */
  documents: 1000,
  /** @limit bytes: documents of an answer to `query`, one document always excepted */
  answerBytes: 8 * 1024 * 1024,
  /**
   * As many as a batch of requests, and some.
   * @limit count: searches that wait for the one in progress
   */
  waiting: 128,
  /** @limit ms: time of a search, its wait included */
  duration: 60_000,
  /** @limit bytes: documents that a search reads at once */
  pageBytes: 128 * 1024,
}

/** Limits of the searches of a node. */
export type QueryLimits = Readonly<typeof queryLimits>

/** A search, checked and compiled. */
export interface ReadQuery {
  readonly matcher: Matcher
  readonly skip: number
  readonly limit: number
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

/** Throws `query-invalid` unless exactly one condition is given, whatever its value. */
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
  const { skip = 0, limit = queryLimits.documentsUnasked } = query
  requireCount('skip', skip)
  requireCount('limit', limit)
  return { matcher: compileCondition(conditionOf(query)), skip, limit: Math.min(limit, queryLimits.documents) }
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

/** The JSON text of an answer; in context with the block as of which it holds. */
export function foundJson({ total, start, count, texts, tip }: FoundDocuments, context = false): string {
  const at = context ? `,"height":${tip.height},"blockHash":"${displayHash(tip.hash)}"` : ''
  return `{"total":${total},"start":${start},"count":${count},"document":[${texts.join(',')}]${at}}`
}

/** Searches the documents of all DIDs, one search after another: two at once would only alternate. */
export class DocumentSearch {
  readonly #database: Database
  readonly #limits: QueryLimits
  #waiting = 0
  #scanned = 0
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(database: Database, limits: Partial<QueryLimits> = {}) {
    this.#database = database
    this.#limits = { ...queryLimits, ...limits }
  }

  /**
   * Searches every document, in the order in which their DIDs were created, in one state of the chain. `busy` at once when too
   * many searches wait, and later when it takes too long or the node stops; the signal's reason once it aborts.
   */
  find(query: ReadQuery, signal?: AbortSignal): Promise<FoundDocuments> {
    // One is in progress, the others wait.
    const { waiting, duration } = this.#limits
    if (this.#waiting > waiting) {
      return Promise.reject(new RuleError('busy', `${waiting} searches are waiting already; try again`))
    }
    this.#waiting++
    const end = performance.now() + duration
    const goOn = () => {
      signal?.throwIfAborted()
      if (this.#closed) throw new RuleError('busy', 'the node is stopping')
      if (performance.now() <= end) return
      throw new RuleError('busy', `the search takes more than ${duration / 1000} seconds; try again later`)
    }
    // A search that ended early must not hold its condition while it waits.
    let pending: ReadQuery | undefined = query
    const forget = () => (pending = undefined)
    signal?.addEventListener('abort', forget, { once: true })
    const found = this.#last.then(() => {
      signal?.removeEventListener('abort', forget)
      goOn()
      if (pending === undefined) throw new Error('a search without a condition')
      return this.#scan(pending, goOn)
    })
    this.#last = found.catch(() => {})
    return abortable(found, signal).finally(() => this.#waiting--)
  }

  /** Documents read by searches so far. */
  get scanned(): number {
    return this.#scanned
  }

  /** Ends searches in progress and those that wait. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#last
  }

  /** `goOn` throws when the search has to end early. */
  async #scan({ matcher, skip, limit }: ReadQuery, goOn: () => void): Promise<FoundDocuments> {
    goOn()
    const yielder = new Yielder()
    const page = new Page(skip, limit)
    const { tip, pages } = this.#open()
    for await (const rows of pages) {
      for (const [key, value] of rows) {
        this.#scanned++
        if (matcher.everything || matcher.matches(parse(key, value))) page.add(value)
        if (yielder.over) {
          await yielder.next()
          goOn()
        }
      }
    }
    return { ...page.found(), tip }
  }

  /** All documents in one state of the chain, and its tip: the same before and after the state is taken. */
  #open(): { tip: TipRow; pages: AsyncIterable<[Buffer, Buffer][]> } {
    for (;;) {
      const at = this.#tipRow()
      const pages = this.#database.pages(rangeOf(table.didDocument), queryLimits.pageBytes)
      // The state is that of the first request for a page.
      const first = pages.next()
      if (equalBytes(at, this.#tipRow())) return { tip: values.tip.decode(at), pages: continued(first, pages) }
      void first.then(() => pages.return()).catch(() => {})
    }
  }

  #tipRow(): Uint8Array {
    const row = this.#database.get(keys.meta('tip'))
    if (row === undefined) throw damaged('the row of the tip is missing')
    return row
  }
}

/** A sequence whose first element is already asked for. */
async function* continued<T>(
  first: Promise<IteratorResult<T, void>>,
  rest: AsyncGenerator<T, void>,
): AsyncGenerator<T> {
  try {
    const { done, value } = await first
    if (done === true) return
    yield value
    yield* rest
  } finally {
    await rest.return()
  }
}

/** The matching documents of one answer, without the first `skip`. */
class Page {
  readonly #skip: number
  readonly #limit: number
  readonly #texts: string[] = []
  #total = 0
  #bytes = 0
  #full: boolean

  constructor(skip: number, limit: number) {
    this.#skip = skip
    this.#limit = limit
    this.#full = limit === 0
  }

  /** Counts a matching document, and keeps it if it belongs to the answer. */
  add(value: Buffer): void {
    if (this.#total++ < this.#skip || this.#full) return
    const fits = this.#bytes + value.length <= queryLimits.answerBytes || this.#texts.length === 0
    if (fits) {
      this.#texts.push(value.toString('utf8'))
      this.#bytes += value.length
    }
    this.#full = !fits || this.#texts.length === this.#limit
  }

  found(): Omit<FoundDocuments, 'tip'> {
    const start = this.#total === 0 ? 0 : this.#skip
    return { total: this.#total, start, count: this.#texts.length, texts: this.#texts }
  }
}

function parse(key: Buffer, value: Buffer): Members {
  try {
    return JSON.parse(value.toString('utf8')) as Members
  } catch {
    throw damaged(`row ${key.toString('hex')} holds no document`)
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
