/**
 * Finds documents by what is in them: tokens of a document, their lists of postings, and how a condition reads these.
 *
 *   document text -> tokenSteps                     document-tokens.ts, token.ts: tokens, and the elements of each
 *     -> Posting lists of storage                   posting-chunk.ts: 256 documents of a token in one row
 *   condition     -> planSearch                     plan.ts: AND and OR over tokens, exact or to be verified
 *     -> PlanReader.next, read                      plan-reader.ts, read-elements.ts over chunk-sets.ts: chunk against chunk
 *     -> documents that match surely, and those that may
 *
 * Imports primitives; used by storage, state, events, resolver, api; conditions come as did-query reads them.
 * - Tokens are a pure function of the document's text, which is stored: another function is another layout.
 * - Which document a posting means is its ordinal, the number of its DID in the order of creation.
 * - The room reads no rows: the caller passes chunks.
 */
import { anyUtf8 } from '../../base/primitives/bytes.js'
import { eachSteps, type Steps } from '../../base/primitives/steps.js'
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

/** The greatest element: one byte of a posting. */
const lastElement = 255

/** The tokens of a document, and of each the elements with it: indices in the document's list, without repeats, in any order. */
export type DocumentTokens = ReadonlyMap<Token, readonly number[]>

interface StoredCredential {
  readonly type: readonly string[]
  readonly issuer: string
  readonly credentialSubject: Readonly<Record<string, unknown>>
}

interface ReadDocument {
  readonly id: string
  readonly publicKey?: readonly { readonly controller: string; readonly publicKeyBase58: string }[]
  readonly verifiableCredential?: readonly StoredCredential[]
  readonly service?: readonly { readonly type: string }[]
  readonly expires: string
}

/** Postings or claims worked out in one step. */
const stepItems = 64

/**
 * The tokens of a normalised document, given as the JSON text that is stored, in UTF-8. Throws a SyntaxError for what is no JSON.
 * Elements above 255, which no shipped chain permits, count as 255. In steps: the largest documents have thousands of tokens.
 */
export function tokenSteps(row: Uint8Array): Steps<DocumentTokens> {
  // The chain accepted the text: any parser reads the same.
  return documentTokenSteps(JSON.parse(anyUtf8(row)) as object)
}

/** The same of a normalised document as JSON.parse returns it. */
export function* documentTokenSteps(document: object): Steps<DocumentTokens> {
  const { id, publicKey = [], verifiableCredential = [], service = [], expires } = document as ReadDocument
  const found = new FoundTokens()
  found.add(everythingToken, 0)
  found.add(monthToken(expires.slice(0, 7)), 0)
  yield* eachSteps(
    publicKey,
    ({ controller, publicKeyBase58 }, element) => {
      found.add(tokenOf(tokenKind.publicKey, publicKeyBase58), element)
      if (controller !== id) found.add(tokenOf(tokenKind.controller, controller), element)
    },
    stepItems,
  )
  const addService = ({ type }: { readonly type: string }, element: number) =>
    found.add(tokenOf(tokenKind.serviceType, type), element)
  yield* eachSteps(service, addService, stepItems)
  const types = new Bounded(found, credentialTypesAtMost, tokenKind.credentialType)
  const names = new Bounded(found, claimNamesAtMost, tokenKind.claimName)
  const scalars = new Bounded(found, claimValuesAtMost, tokenKind.claimValue)
  for (let element = 0; element < verifiableCredential.length; element++) {
    const { type, issuer, credentialSubject } = verifiableCredential[element] as StoredCredential
    yield* eachSteps(type, (one) => types.add(() => tokenOf(tokenKind.credentialType, one), element), stepItems)
    if (issuer !== id) found.add(tokenOf(tokenKind.issuer, issuer), element)
    const addClaim = (name: string) => {
      if (name === 'id') return
      names.add(() => tokenOf(tokenKind.claimName, name), element)
      for (const scalar of scalarsOf(credentialSubject[name])) scalars.add(() => claimValueToken(name, scalar), element)
    }
    yield* eachSteps(Object.keys(credentialSubject), addClaim, stepItems)
    yield
  }
  return found.tokens
}

function scalarsOf(value: unknown): readonly (null | boolean | number | string)[] {
  // Once each: a list may repeat one value as often as the document has room, and each would be hashed.
  const values: readonly unknown[] = Array.isArray(value) ? [...new Set<unknown>(value)] : [value]
  return values.filter((one) => one === null || typeof one !== 'object') as (null | boolean | number | string)[]
}

/** Tokens as they are found. */
class FoundTokens {
  readonly tokens = new Map<Token, number[]>()

  has(token: Token, element: number): boolean {
    return this.tokens.get(token)?.includes(Math.min(element, lastElement)) === true
  }

  add(token: Token, element: number): void {
    const one = Math.min(element, lastElement)
    const elements = this.tokens.get(token)
    if (elements === undefined) this.tokens.set(token, [one])
    else if (!elements.includes(one)) elements.push(one)
  }
}

/** Tokens of one kind with their elements up to a number of pairs; what is above leaves an element of the overflow. */
class Bounded {
  readonly #found: FoundTokens
  readonly #kind: number
  #left: number

  constructor(found: FoundTokens, atMost: number, kind: number) {
    this.#found = found
    this.#left = atMost
    this.#kind = kind
  }

  add(token: () => Token | undefined, element: number): void {
    // Hashing stops at the limit: a document may have thousands of claims and types.
    if (this.#left < 0) return
    const made = token()
    if (made === undefined || this.#found.has(made, element)) return
    if (this.#left-- > 0) this.#found.add(made, element)
    else this.#found.add(overflowToken, this.#kind)
  }
}
