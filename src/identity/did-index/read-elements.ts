import type { Steps } from '../../base/primitives/steps.js'
import {
  bothDocuments,
  bothPostings,
  type DocumentSet,
  documentsOf,
  eitherDocuments,
  eitherPostings,
  PostingUnion,
  postingsWithin,
} from './chunk-sets.js'
import {
  type ChunkSource,
  earlier,
  joinAll,
  joinAny,
  mapPart,
  type PlanPart,
  type PlanRows,
  type Union,
} from './plan-part.js'
import type { ElementPlan } from './plan.js'
import { kindOf, mayOverflow, overflowToken, type Token } from './token.js'

/** Postings of one chunk; `anywhere` are documents that may have a posting at any element. */
export interface Elements {
  readonly sure: Uint16Array
  readonly possible: Uint16Array
  readonly anywhere: DocumentSet | undefined
}

const noPostings = new Uint16Array(0)

/** The postings of a plan that joins by element. */
export function elementPart(plan: ElementPlan, rows: PlanRows): PlanPart<Elements> {
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
    read: (chunk) => {
      const anywhere = overflow === undefined ? noPostings : overflowing(overflow, chunk, kind)
      return elementSteps(postingsAt(source, chunk), exact, anywhere)
    },
    size: rows.count(token),
  }
}

function* elementSteps(possible: Uint16Array, exact: boolean, anywhere: Uint16Array): Steps<Elements> {
  yield
  const documents = anywhere.length === 0 ? undefined : documentsOf(anywhere)
  return { sure: exact ? possible : noPostings, possible, anywhere: documents }
}

/** Postings of documents that have more of a kind of token than the index takes. */
export function overflowing(overflow: ChunkSource, chunk: number, kind: number): Uint16Array {
  return postingsAt(overflow, chunk).filter((posting) => (posting & 255) === kind)
}

/** The postings of a chunk, none unless the source is at it. */
export function postingsAt(source: ChunkSource, chunk: number): Uint16Array {
  return source.seek(chunk) === chunk ? source.postings() : noPostings
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

class ElementUnion implements Union<Elements> {
  readonly #sure = new PostingUnion()
  /** Possible postings of parts that are not sure of all of theirs. */
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
