import {
  countDocuments,
  type DocumentSet,
  eitherDocuments,
  exceptDocuments,
  noDocuments,
  oneDocument,
  ordinalsOf,
} from '../../identity/did-index/chunk-sets.js'
import { type DocumentPlan, leavesOf, soleToken, withNamed } from '../../identity/did-index/plan.js'
import { notRead } from '../../identity/did-index/plan-part.js'
import { type FoundInChunk, PlanReader } from '../../identity/did-index/plan-reader.js'
import { chunkOf, chunkOrdinals } from '../../identity/did-index/posting-chunk.js'
import {
  isCounted,
  kindOf,
  mayOverflow,
  overflowToken,
  everythingToken,
  type Token,
  tokenKind,
} from '../../identity/did-index/token.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import type { FrozenRows } from '../../ledger/storage/stored-rows.js'
import { tables } from '../../ledger/storage/rows/tables.js'
import { didKey } from '../../ledger/storage/rows/did-reader.js'
import { type ExamineTask, Examiner } from './examine-documents.js'
import { ResultPage } from './result-page.js'
import { PostingSource } from './posting-source.js'
import type { KnownMatches, Position } from './search-cache.js'

/** Documents of the answer read at once: it may end before them. Where rows are fetched, a page of 20 takes one question. */
const answersAtOnce = 32
/** Sources of postings read at once: more would hold the event loop. */
const sourcesAtOnce = 64

/** Estimated documents of a token without a stored count: one, or several of a month. */
const uncounted = { few: 1, month: 4096 }

/** Input of a search. */
export interface SearchTask extends ExamineTask {
  /** One state of the chain. */
  readonly rows: FrozenRows
  readonly skip: number
  readonly limit: number
  /** Results kept for the condition in that state; the search adds to them. */
  readonly known: KnownMatches
  /** Bytes of documents that a scan reads at once. */
  readonly pageBytes: number
  readonly answerBytes: number
  /** Throws when the search has to end early. */
  readonly goOn: () => void
}

/** Documents found: `total` of them, and the texts of those in the answer. */
export interface Matches {
  readonly total: number
  readonly texts: readonly string[]
}

/** One search: counts the matches unless their number is known, and gathers a page of them. */
export class SearchRun {
  readonly #task: SearchTask
  readonly #yielder = new Yielder()
  readonly #page: ResultPage
  readonly #examiner: Examiner

  constructor(task: SearchTask) {
    this.#task = task
    this.#page = new ResultPage(task)
    this.#examiner = new Examiner(task, () => this.#rest())
  }

  async find(): Promise<Matches> {
    const { plan, known, skip, limit } = this.#task
    const root = withNamed(plan)
    known.total ??= root === undefined ? undefined : await this.#soleCount()
    const isKnown = known.total !== undefined
    if (isKnown && (limit === 0 || skip >= (known.total as number))) return this.#found()
    const from = isKnown ? known.before(skip) : { skip: 0, ordinal: 0 }
    this.#page.begin(from.skip)
    if (root === undefined) await this.#scan(from)
    else await this.#walk(root, from)
    if (!isKnown) known.total = this.#page.passed
    return this.#found()
  }

  async #found(): Promise<Matches> {
    const { texts } = this.#page
    await this.#noteNext()
    return { total: this.#task.known.total as number, texts }
  }

  /** Notes where the next page begins. */
  async #noteNext(): Promise<void> {
    const { known, skip } = this.#task
    const last = this.#page.texts.at(-1)
    if (last === undefined) return
    const ordinal = this.#page.lastOrdinal ?? (await this.#ordinalOf(last))
    if (ordinal !== undefined) known.note({ skip: skip + this.#page.texts.length, ordinal: ordinal + 1 })
  }

  /** The ordinal of a document that a scan has found, which reads no ordinals. */
  async #ordinalOf(text: string): Promise<number | undefined> {
    const { id } = JSON.parse(text) as { id: string }
    return (await this.#ordinals([id])).get(id)
  }

  /** The number of matches where one row has it. */
  async #soleCount(): Promise<number | undefined> {
    const { plan } = this.#task
    const token = soleToken(plan)
    if (token === undefined) return undefined
    // The index has no posting where a document names its own DID.
    const named = await this.#examiner.matching([...(await this.#ordinals(plan.named)).values()], false)
    return this.#countOf(token) + named.ordinals.length + (await this.#countLeftOut(token))
  }

  /** The number of matches whose posting of a token was left out, because they have too many of its kind. */
  async #countLeftOut(token: Token): Promise<number> {
    if (!mayOverflow(token) || this.#countOf(overflowToken) === 0) return 0
    let count = 0
    for await (const { chunk, found } of this.#chunks({ kind: 'leftOut', token }, 0)) {
      const left = [...ordinalsOf(found.possible)].map((ordinal) => chunk * chunkOrdinals + ordinal)
      count += (await this.#examiner.matching(left, false)).ordinals.length
    }
    return count
  }

  #countOf(token: Token): number {
    return tables.tokenCount.get(this.#task.rows, token) ?? 0
  }

  /** Ordinals of DIDs that have a document. */
  async #ordinals(dids: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const { rows } = this.#task
    await rows.load(() => [...dids].flatMap((did) => headKeys(did)))
    const ordinals = new Map<string, number>()
    for (const did of dids) {
      const key = didKey(did)
      const head = key === undefined ? undefined : tables.didHead.get(rows, key)
      if (head?.status === 'valid') ordinals.set(did, head.ordinal)
    }
    return ordinals
  }

  /** Goes through the chunks of a plan; ends early where the page is full and the number of matches known. */
  async #walk(root: DocumentPlan, from: Position): Promise<void> {
    const first = chunkOf(from.ordinal)
    for await (const { chunk, found } of this.#chunks(root, first)) {
      const { sure, possible } = found
      const passed = chunk === first ? ordinalsBelow(from.ordinal) : undefined
      const candidates = exceptDocuments(possible, passed === undefined ? sure : eitherDocuments(sure, passed))
      const answered = passed === undefined ? sure : exceptDocuments(sure, passed)
      if (await this.#take(chunk, answered, candidates)) return
    }
  }

  /** Yields the matches of a plan, chunk by chunk. */
  async *#chunks(root: DocumentPlan, first: number): AsyncGenerator<{ chunk: number; found: FoundInChunk }, void> {
    const { reader, load } = await this.#reader(root)
    for (let from = first; ;) {
      const chunk = reader.next(from)
      if (chunk === Infinity) return
      if (chunk === notRead) {
        await load()
        continue
      }
      yield { chunk, found: await this.#yielder.run(reader.read(chunk)) }
      from = chunk + 1
      await this.#rest()
    }
  }

  async #reader(root: DocumentPlan): Promise<{ reader: PlanReader; load: () => Promise<void> }> {
    const { tokens, dids } = leavesOf(root)
    const counted = [...tokens].filter(isCounted)
    const found = await this.#task.rows.getMany(counted.map((token) => tables.tokenCount.key(token)))
    const counts = new Map(
      counted.map((token, i) => [token, found[i] === undefined ? 0 : tables.tokenCount.decode(found[i])]),
    )
    const ordinals = await this.#ordinals(dids)
    const sources: PostingSource[] = []
    const reader = new PlanReader(root, {
      source: (token) => {
        const source = new PostingSource(this.#task.rows, token)
        sources.push(source)
        return source
      },
      count: (token) =>
        counts.get(token) ?? (kindOf(token) === tokenKind.expiryMonth ? uncounted.month : uncounted.few),
      ordinal: (did) => ordinals.get(did),
    })
    const load = async () => {
      const lacking = sources.filter(({ isLacking }) => isLacking)
      for (let start = 0; start < lacking.length; start += sourcesAtOnce) {
        await Promise.all(lacking.slice(start, start + sourcesAtOnce).map((source) => source.load()))
        await this.#rest()
      }
    }
    return { reader, load }
  }

  /** Takes the matches of one chunk; whether nothing more is wanted. */
  async #take(chunk: number, sure: DocumentSet, candidates: DocumentSet): Promise<boolean> {
    const base = chunk * chunkOrdinals
    const open = [...ordinalsOf(candidates)].map((ordinal) => base + ordinal)
    const keep = this.#page.mayWant(countDocuments(sure) + open.length)
    const { ordinals, kept } = await this.#examiner.matching(open, keep)
    let matches = sure
    for (const ordinal of ordinals) matches = eitherDocuments(matches, oneDocument(ordinal))
    const wanted = this.#page.wanted(countDocuments(matches))
    if (wanted !== undefined) {
      const answer = [...ordinalsOf(matches)].slice(wanted.skip, wanted.skip + wanted.limit)
      await this.#give(
        answer.map((ordinal) => base + ordinal),
        kept,
      )
    }
    return this.#page.isFull && this.#task.known.total !== undefined
  }

  /** Puts documents into the answer, as far as they fit. */
  async #give(ordinals: readonly number[], read: ReadonlyMap<number, Buffer>): Promise<void> {
    for (let start = 0; start < ordinals.length; start += answersAtOnce) {
      const some = ordinals.slice(start, start + answersAtOnce)
      const missing = some.filter((ordinal) => !read.has(ordinal))
      const documents = await this.#examiner.documents(missing)
      const found = new Map(documents.map(({ ordinal, value }) => [ordinal, value]))
      for (const ordinal of some) {
        if (!this.#page.add(read.get(ordinal) ?? (found.get(ordinal) as Buffer), ordinal)) return
      }
      await this.#rest()
    }
  }

  /** Examines every document from a position on. */
  async #scan(from: Position): Promise<void> {
    const { rows, pageBytes, known } = this.#task
    if (known.total === undefined) this.#examiner.requireRoom(this.#countOf(everythingToken))
    const range = tables.didDocument.range()
    const create = from.ordinal === 0 ? undefined : tables.ordinal.get(rows, from.ordinal)
    const gte = create === undefined ? range.gte : tables.didDocument.key(create)
    for await (const some of rows.pages({ ...range, gte }, pageBytes)) {
      for (const [key, value] of some) {
        if (this.#examiner.matches(key, value) && this.#page.wanted(1) !== undefined) this.#page.add(value)
        if (this.#page.isFull && known.total !== undefined) return
        // Asked here: a promise for each document would be a part of what it takes.
        if (this.#yielder.over) await this.#giveWay()
      }
    }
  }

  /** Lets other work run between slices. */
  async #rest(): Promise<void> {
    if (this.#yielder.over) await this.#giveWay()
  }

  async #giveWay(): Promise<void> {
    await this.#yielder.next()
    this.#task.goOn()
  }
}

/** The key of the head of a DID; none of a text that is no DID. */
function headKeys(did: string): Buffer[] {
  const key = didKey(did)
  return key === undefined ? [] : [tables.didHead.key(key)]
}

/** Ordinals of a chunk that are below one in it. */
function ordinalsBelow(ordinal: number): DocumentSet {
  const below = noDocuments()
  const within = ordinal % chunkOrdinals
  for (let i = 0; i < within; i++) below[i >> 5] = (below[i >> 5] as number) | (1 << (i & 31))
  return below
}
