import type { Steps } from '../../base/primitives/steps.js'
import {
  bothDocuments,
  type DocumentSet,
  documentsOf,
  eitherDocuments,
  exceptDocuments,
  noDocuments,
  oneDocument,
} from './chunk-sets.js'
import { joinAll, joinAny, mapPart, notRead, type PlanPart, type PlanRows, type Union } from './plan-part.js'
import type { DocumentPlan } from './plan.js'
import { chunkOf } from './posting-chunk.js'
import { elementPart, type Elements, overflowing, postingsAt } from './read-elements.js'
import { everythingToken, kindOf, overflowToken, type Token } from './token.js'

/** Documents of one chunk that match: surely, and possibly (the sure ones among them). */
export interface FoundInChunk {
  readonly sure: DocumentSet
  readonly possible: DocumentSet
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

function documentPart(plan: DocumentPlan, rows: PlanRows): PlanPart<FoundInChunk> {
  switch (plan.kind) {
    case 'element':
      return documentsPart(elementPart(plan.of, rows))
    case 'part':
      return mapPart(documentPart(plan.of, rows), ({ possible }) => ({ sure: noDocuments(), possible }))
    case 'did':
      return didPart(rows.ordinal(plan.did))
    case 'leftOut':
      return leftOutPart(plan.token, rows)
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

function didPart(ordinal: number | undefined): PlanPart<FoundInChunk> {
  const own = ordinal === undefined ? Infinity : chunkOf(ordinal)
  return {
    next: (chunk) => (chunk <= own ? own : Infinity),
    read: (chunk) => didSteps(chunk === own ? ordinal : undefined),
    size: 1,
  }
}

function* didSteps(ordinal: number | undefined): Steps<FoundInChunk> {
  const found = ordinal === undefined ? noDocuments() : oneDocument(ordinal)
  return { sure: found, possible: found }
}

/** Every document except those of a part. */
function exceptPart(part: PlanPart<FoundInChunk>, rows: PlanRows): PlanPart<FoundInChunk> {
  const every = rows.source(everythingToken)
  return {
    next: (chunk) => {
      const at = every.seek(chunk)
      return at === notRead || at === Infinity || part.next(at) !== notRead ? at : notRead
    },
    read: (chunk) => exceptSteps(documentsOf(postingsAt(every, chunk)), part.read(chunk)),
    size: rows.count(everythingToken),
  }
}

function* exceptSteps(all: DocumentSet, steps: Steps<FoundInChunk>): Steps<FoundInChunk> {
  const { sure, possible } = yield* steps
  return { sure: exceptDocuments(all, possible), possible: exceptDocuments(all, sure) }
}

/** Documents whose posting of a token may have been left out; chunks without such documents are passed over. */
function leftOutPart(token: Token, rows: PlanRows): PlanPart<FoundInChunk> {
  const source = rows.source(token)
  const overflow = rows.source(overflowToken)
  const leftAt = (chunk: number) => overflowing(overflow, chunk, kindOf(token))
  return {
    next: (chunk) => {
      let at = overflow.seek(chunk)
      while (at !== notRead && at !== Infinity && leftAt(at).length === 0) at = overflow.seek(at + 1)
      return at === notRead || at === Infinity || source.seek(at) !== notRead ? at : notRead
    },
    read: (chunk) => leftOutSteps(documentsOf(postingsAt(source, chunk)), () => leftAt(chunk)),
    size: rows.count(overflowToken),
  }
}

function* leftOutSteps(held: DocumentSet, left: () => Uint16Array): Steps<FoundInChunk> {
  yield
  return { sure: noDocuments(), possible: exceptDocuments(documentsOf(left()), held) }
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
