/**
 * Finds documents by what is in them: tokens of a document, their lists of postings, and how a condition reads these.
 *
 *   document text -> postingSteps                   document-tokens.ts, token.ts: (token, element) pairs
 *     -> Posting lists of storage                   posting-chunk.ts: 256 documents of a token in one row
 *   condition     -> planSearch                     plan.ts: AND and OR over tokens, exact or to be verified
 *     -> PlanReader.next, read                      plan-reader.ts, read-elements.ts over chunk-sets.ts: chunk against chunk
 *     -> documents that match surely, and those that may
 *
 * Imports primitives; used by storage, resolver, api; conditions come as did-query reads them.
 * - Tokens are a pure function of the document's text, which is stored: another function is another layout.
 * - Which document a posting means is its ordinal, the number of its DID in the order of creation.
 * - The room reads no rows: chunks are handed in.
 */
import { eachSteps, finish, type Steps } from '../primitives/steps.js'
import { claimValueToken, everythingToken, monthToken, overflowToken, type Token, tokenKind, tokenOf } from './token.js'

/**
 * Names of claims of one document that the index has; the rest are left out, and the document is verified instead.
 * @limit count: distinct names of claims of a document that a search finds by the index
 */
const claimNamesAtMost = 1024
/** @limit count: distinct types of credentials of a document that a search finds by the index */
const credentialTypesAtMost = 1024
/** @limit count: distinct values of claims of a document that a search finds by the index */
const claimValuesAtMost = 256

/** The greatest element: a posting has one byte for it. */
const lastElement = 255

/** A token and an element, an index in the document's list: one character behind the token. */
export type Posting = string

/** The token of a posting. */
export function tokenOfPosting(posting: Posting): Token {
  return posting.slice(0, -1)
}

/** The element of a posting. */
export function elementOfPosting(posting: Posting): number {
  return posting.charCodeAt(posting.length - 1)
}

interface ReadDocument {
  readonly id: string
  readonly publicKey?: readonly { readonly controller: string; readonly publicKeyBase58: string }[]
  readonly verifiableCredential?: readonly {
    readonly type: readonly string[]
    readonly issuer: string
    readonly credentialSubject: Readonly<Record<string, unknown>>
  }[]
  readonly service?: readonly { readonly type: string }[]
  readonly expires: string
}

/**
 * The postings of a normalised document, given as the JSON text that is stored. Throws a SyntaxError for text that is no JSON.
 * Elements above 255, which no shipped chain permits, count as 255.
 */
export function postingsOf(text: string): ReadonlySet<Posting> {
  return finish(postingSteps(text))
}

/** The same in steps: the largest documents have thousands of postings. */
export function* postingSteps(text: string): Steps<ReadonlySet<Posting>> {
  // The chain accepted the text: any parser reads the same.
  const { id, publicKey = [], verifiableCredential = [], service = [], expires } = JSON.parse(text) as ReadDocument
  const postings = new Set<Posting>([posting(everythingToken, 0), posting(monthToken(expires.slice(0, 7)), 0)])
  yield
  yield* eachSteps(publicKey, ({ controller, publicKeyBase58 }, element) => {
    postings.add(posting(tokenOf(tokenKind.publicKey, publicKeyBase58), element))
    if (controller !== id) postings.add(posting(tokenOf(tokenKind.controller, controller), element))
  })
  yield* eachSteps(service, ({ type }, element) => {
    postings.add(posting(tokenOf(tokenKind.serviceType, type), element))
  })
  const types = new Bounded(postings, credentialTypesAtMost, tokenKind.credentialType)
  const names = new Bounded(postings, claimNamesAtMost, tokenKind.claimName)
  const scalars = new Bounded(postings, claimValuesAtMost, tokenKind.claimValue)
  for (const [element, { type, issuer, credentialSubject }] of verifiableCredential.entries()) {
    yield* eachSteps(type, (one) => types.add(() => tokenOf(tokenKind.credentialType, one), element))
    if (issuer !== id) postings.add(posting(tokenOf(tokenKind.issuer, issuer), element))
    for (const [name, value] of Object.entries(credentialSubject)) {
      if (name === 'id') continue
      names.add(() => tokenOf(tokenKind.claimName, name), element)
      for (const scalar of scalarsOf(value)) scalars.add(() => claimValueToken(name, scalar), element)
      yield
    }
  }
  return postings
}

function posting(token: Token, element: number): Posting {
  return token + String.fromCharCode(Math.min(element, lastElement))
}

function scalarsOf(value: unknown): (null | boolean | number | string)[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((one) => one === null || typeof one !== 'object') as (null | boolean | number | string)[]
}

/** Postings of one kind up to a number; what is above leaves a posting of the overflow. */
class Bounded {
  readonly #postings: Set<Posting>
  readonly #kind: number
  #left: number

  constructor(postings: Set<Posting>, atMost: number, kind: number) {
    this.#postings = postings
    this.#left = atMost
    this.#kind = kind
  }

  add(token: () => Token | undefined, element: number): void {
    // Hashing stops at the limit: a document may have thousands of claims and types.
    if (this.#left < 0) return
    const made = token()
    if (made === undefined) return
    const added = posting(made, element)
    if (this.#postings.has(added)) return
    if (this.#left-- > 0) this.#postings.add(added)
    else this.#postings.add(posting(overflowToken, this.#kind))
  }
}
