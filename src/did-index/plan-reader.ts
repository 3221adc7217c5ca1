import { type Steps } from '../primitives/steps.js'
import { chunkOf } from './posting-chunk.js'
import {
  bothDocuments,
  bothPostings,
  type DocumentSet,
  documentsOf,
  eitherDocuments,
  eitherPostings,
  exceptDocuments,
  noDocuments,
  oneDocument,
  PostingUnion,
  postingsWithin,
} from './chunk-sets.js'
import type { DocumentPlan, ElementPlan } from './plan.js'
import { everythingToken, kindOf, mayOverflow, overflowToken, type Token } from './token.js'

/** The postings of one token, read forwards. */
export interface ChunkSource {
  /**
   * Moves to the first chunk from `chunk` on that has postings, and returns it: Infinity if there is none, {@link notRead} if rows
   * have to be read first. Never goes back.
   */
  seek(chunk: number): number
  /** Postings of the chunk it is at. */
  postings(): Uint16Array
}

/** Result of a step that needs rows which were not read yet. */
export const notRead = -1

/** What a plan needs of the rows. */
export interface PlanRows {
  source(token: Token): ChunkSource
  /** About how many documents have a token: those with the fewest lead. */
  count(token: Token): number
  /** The ordinal of a DID that has a document; undefined for others. */
  ordinal(did: string): number | undefined
}

/** Documents of one chunk that match: surely, and possibly (the sure ones among them). */
export interface FoundInChunk {
  readonly sure: DocumentSet
  readonly possible: DocumentSet
}

/** Part of a plan over its sources. A chunk is read where {@link next} led to it. */
interface PlanPart<T> {
  /** The first chunk from `chunk` on that may have a match; as {@link ChunkSource.seek}. */
  next(chunk: number): number
  /** A step for each part: hundreds of them may have tens of thousands of postings each in one chunk. */
  read(chunk: number): Steps<T>
  /** About how many documents it finds. */
  readonly size: number
}

/** Reads a plan chunk by chunk, forwards. */
export class PlanReader {
  readonly #root: PlanPart<FoundInChunk>

  constructor(plan: DocumentPlan, rows: PlanRows) {
    this.#root = documentPart(plan, rows)
  }

  next(chunk: number): number {
    return this.#root.next(chunk)
  }

  read(chunk: number): Steps<FoundInChunk> {
    return this.#root.read(chunk)
  }
}

/** Postings of one chunk; `anywhere` are documents that may have a posting at any element. */
interface Elements {
  readonly sure: Uint16Array
  readonly possible: Uint16Array
  readonly anywhere: DocumentSet | undefined
}

const noPostings = new Uint16Array(0)

function documentPart(plan: DocumentPlan, rows: PlanRows): PlanPart<FoundInChunk> {
  switch (plan.kind) {
    case 'element':
      return documentsPart(elementPart(plan.of, rows))
    case 'part':
      return mapPart(documentPart(plan.of, rows), ({ possible }) => ({ sure: noDocuments(), possible }))
    case 'did':
      return didPart(rows.ordinal(plan.did))
    case 'except':
      return exceptPart(documentPart(plan.of, rows), rows)
    case 'all':
      return joinAll(
        plan.parts.map((one) => documentPart(one, rows)),
        (a, b) => joinFound(a, b, bothDocuments),
      )
    default:
      return joinAny(
        plan.parts.map((one) => documentPart(one, rows)),
        () => new DocumentUnion(),
      )
  }
}

function joinFound(
  a: FoundInChunk,
  b: FoundInChunk,
  join: (a: DocumentSet, b: DocumentSet) => DocumentSet,
): FoundInChunk {
  const sure = join(a.sure, b.sure)
  return a.sure === a.possible && b.sure === b.possible
    ? { sure, possible: sure }
    : { sure, possible: join(a.possible, b.possible) }
}

function documentsPart(part: PlanPart<Elements>): PlanPart<FoundInChunk> {
  return mapPart(part, ({ sure, possible, anywhere }) => {
    const found = documentsOf(sure)
    const candidates = sure === possible ? found : documentsOf(possible)
    return { sure: found, possible: anywhere === undefined ? candidates : eitherDocuments(candidates, anywhere) }
  })
}

function mapPart<T, R>(part: PlanPart<T>, map: (found: T) => R): PlanPart<R> {
  return {
    next: (chunk) => part.next(chunk),
    read: function* (chunk) {
      return map(yield* part.read(chunk))
    },
    size: part.size,
  }
}

function didPart(ordinal: number | undefined): PlanPart<FoundInChunk> {
  const own = ordinal === undefined ? Infinity : chunkOf(ordinal)
  return {
    next: (chunk) => (chunk <= own ? own : Infinity),
    read: function* (chunk) {
      const found = ordinal !== undefined && chunk === own ? oneDocument(ordinal) : noDocuments()
      return { sure: found, possible: found }
    },
    size: 1,
  }
}

/** Every document except those of a part. */
function exceptPart(part: PlanPart<FoundInChunk>, rows: PlanRows): PlanPart<FoundInChunk> {
  const every = rows.source(everythingToken)
  return {
    next: (chunk) => {
      const at = every.seek(chunk)
      return at === notRead || at === Infinity || part.next(at) !== notRead ? at : notRead
    },
    read: function* (chunk) {
      const all = documentsOf(postingsAt(every, chunk))
      const { sure, possible } = yield* part.read(chunk)
      return { sure: exceptDocuments(all, possible), possible: exceptDocuments(all, sure) }
    },
    size: rows.count(everythingToken),
  }
}

function elementPart(plan: ElementPlan, rows: PlanRows): PlanPart<Elements> {
  switch (plan.kind) {
    case 'token':
      return tokenPart(plan.token, plan.exact, rows)
    case 'part':
      return mapPart(elementPart(plan.of, rows), (found) => ({ ...found, sure: noPostings }))
    case 'all':
      return joinAll(
        plan.parts.map((one) => elementPart(one, rows)),
        meet,
      )
    default:
      return joinAny(
        plan.parts.map((one) => elementPart(one, rows)),
        () => new ElementUnion(),
      )
  }
}

function tokenPart(token: Token, exact: boolean, rows: PlanRows): PlanPart<Elements> {
  const source = rows.source(token)
  const kind = kindOf(token)
  const overflow = mayOverflow(token) ? rows.source(overflowToken) : undefined
  return {
    next: (chunk) => earlier(source.seek(chunk), overflow?.seek(chunk) ?? Infinity),
    read: function* (chunk) {
      const possible = postingsAt(source, chunk)
      const left = overflow === undefined ? noPostings : postingsAt(overflow, chunk)
      const anywhere = left.filter((posting) => (posting & 255) === kind)
      yield
      return {
        sure: exact ? possible : noPostings,
        possible,
        anywhere: anywhere.length === 0 ? undefined : documentsOf(anywhere),
      }
    },
    size: rows.count(token),
  }
}

function postingsAt(source: ChunkSource, chunk: number): Uint16Array {
  return source.seek(chunk) === chunk ? source.postings() : noPostings
}

function earlier(a: number, b: number): number {
  return a === notRead || b === notRead ? notRead : Math.min(a, b)
}

/** Postings that meet in one element. */
function meet(a: Elements, b: Elements): Elements {
  const sure = bothPostings(a.sure, b.sure)
  const isSure = a.sure === a.possible && b.sure === b.possible
  let possible = isSure ? sure : bothPostings(a.possible, b.possible)
  if (a.anywhere !== undefined) possible = eitherPostings(possible, postingsWithin(b.possible, a.anywhere))
  if (b.anywhere !== undefined) possible = eitherPostings(possible, postingsWithin(a.possible, b.anywhere))
  const anywhere = a.anywhere && b.anywhere && bothDocuments(a.anywhere, b.anywhere)
  return { sure, possible, anywhere }
}

/** Gathers what any of some parts found. */
interface Union<T> {
  add(found: T): void
  readonly all: T
}

class ElementUnion implements Union<Elements> {
  readonly #sure = new PostingUnion()
  /** Of parts that are not sure of all that is possible. */
  readonly #open = new PostingUnion()
  #anywhere: DocumentSet | undefined

  add({ sure, possible, anywhere }: Elements): void {
    this.#sure.add(sure)
    if (possible !== sure) this.#open.add(possible)
    if (anywhere === undefined) return
    this.#anywhere = this.#anywhere === undefined ? anywhere : eitherDocuments(this.#anywhere, anywhere)
  }

  get all(): Elements {
    const sure = this.#sure.postings
    const open = this.#open.postings
    return { sure, possible: open.length === 0 ? sure : eitherPostings(sure, open), anywhere: this.#anywhere }
  }
}

class DocumentUnion implements Union<FoundInChunk> {
  #all: FoundInChunk

  constructor() {
    const none = noDocuments()
    this.#all = { sure: none, possible: none }
  }

  add(found: FoundInChunk): void {
    this.#all = joinFound(this.#all, found, eitherDocuments)
  }

  get all(): FoundInChunk {
    return this.#all
  }
}

/** Chunks that all parts have, led by the one with the fewest documents. */
function joinAll<T>(parts: readonly PlanPart<T>[], join: (a: T, b: T) => T): PlanPart<T> {
  const bySize = [...parts].sort((a, b) => a.size - b.size)
  return {
    next: (chunk) => {
      let at = chunk
      for (let agreed = 0, i = 0; agreed < bySize.length; i = (i + 1) % bySize.length) {
        const next = (bySize[i] as PlanPart<T>).next(at)
        if (next === notRead || next === Infinity) return next
        agreed = next === at ? agreed + 1 : 1
        at = next
      }
      return at
    },
    read: function* (chunk) {
      const [first, ...others] = bySize as [PlanPart<T>, ...PlanPart<T>[]]
      let found = yield* first.read(chunk)
      for (const part of others) found = join(found, yield* part.read(chunk))
      return found
    },
    size: bySize[0]?.size ?? 0,
  }
}

/** Chunks that any part has. */
function joinAny<T>(parts: readonly PlanPart<T>[], union: () => Union<T>): PlanPart<T> {
  return {
    // Every part is asked, so that what they lack can be read at once.
    next: (chunk) => parts.map((part) => part.next(chunk)).reduce(earlier, Infinity),
    read: function* (chunk) {
      const found = union()
      for (const part of parts) found.add(yield* part.read(chunk))
      return found.all
    },
    size: parts.reduce((sum, { size }) => sum + size, 0),
  }
}
