import { type Months, MonthBudget } from './expiry-months.js'
import { everythingToken, type Token } from './token.js'

/**
 * A condition as AND and OR over tokens. Each part has two readings: documents that match surely, and documents that may. A token
 * that answers its part of the condition is exact, both are equal; else it is necessary alone, and nothing is sure.
 */

/** Postings, joined by element. */
export type ElementPlan =
  | { readonly kind: 'token'; readonly token: Token; readonly exact: boolean }
  | { readonly kind: 'all' | 'any'; readonly parts: readonly ElementPlan[] }
  /** Less than the condition asks: what it finds has to be verified. */
  | { readonly kind: 'part'; readonly of: ElementPlan }

/** Documents. */
export type DocumentPlan =
  /** Those with an element in which all of it meets. */
  | { readonly kind: 'element'; readonly of: ElementPlan }
  | { readonly kind: 'all' | 'any'; readonly parts: readonly DocumentPlan[] }
  | { readonly kind: 'part'; readonly of: DocumentPlan }
  | { readonly kind: 'except'; readonly of: DocumentPlan }
  /** The document of one DID. */
  | { readonly kind: 'did'; readonly did: string }
  /** Those that have too many postings of the token's kind for the index, and none of the token. */
  | { readonly kind: 'leftOut'; readonly token: Token }

/** How the index answers a condition. */
export interface SearchPlan {
  /** Undefined: the index is of no use, every document has to be read. */
  readonly root: DocumentPlan | undefined
  /** Whether nothing has to be verified, except documents of {@link named} and those with too many claims for the index. */
  readonly exact: boolean
  /**
   * DIDs that the condition names as issuer or controller. The index has no posting where a document names its own DID, so these
   * documents are verified in any case.
   */
  readonly named: readonly string[]
  /** Parts of the condition that the index does not answer, as paths. */
  readonly open: readonly string[]
}

/** Gathers what a plan needs beside its tree. */
export class Planning {
  readonly named = new Set<string>()
  readonly open = new Set<string>()
  readonly months = new MonthBudget()

  /** Notes a part that the index does not answer, and returns the plan for it: none. */
  unknown(where: string): undefined {
    this.open.add(where === '' ? 'the condition' : where)
    return undefined
  }
}

/** Either kind of plan. */
export type Plan<P> = P | undefined
type Joined<P> = P | { readonly kind: 'all' | 'any'; readonly parts: readonly P[] } | { readonly kind: 'part'; of: P }

/** All of some parts. Unknown ones leave a plan that finds more; without any other there is none. */
export function allOf<P>(parts: readonly Plan<P>[]): Plan<Joined<P>> {
  const known = parts.filter((part): part is P & {} => part !== undefined)
  if (known.length === 0) return undefined
  const all = known.length === 1 ? (known[0] as P) : ({ kind: 'all', parts: known } as const)
  return known.length === parts.length ? all : { kind: 'part', of: all as P }
}

/** Any of some parts, of none for no part; unknown if one of them is. */
export function anyOf<P>(parts: readonly Plan<P>[]): Plan<Joined<P>> {
  const known = parts.filter((part): part is P & {} => part !== undefined)
  if (known.length < parts.length) return undefined
  return known.length === 1 ? known[0] : { kind: 'any', parts: known }
}

/** The plan of a token. */
export function tokenPlan(token: Token, exact: boolean): ElementPlan {
  return { kind: 'token', token, exact }
}

/** Every document. */
export const everyDocument: DocumentPlan = { kind: 'element', of: tokenPlan(everythingToken, true) }

/** Documents that expire in some months. */
export function monthsPlan({ sure, possible, outside }: Months): DocumentPlan {
  const of = [...sure.map((token) => tokenPlan(token, true)), ...possible.map((token) => tokenPlan(token, false))]
  const within: DocumentPlan = { kind: 'element', of: { kind: 'any', parts: of } }
  return outside ? { kind: 'except', of: within } : within
}

/** Whether a plan needs no verification. */
export function isExact(plan: DocumentPlan | ElementPlan): boolean {
  switch (plan.kind) {
    case 'token':
      return plan.exact
    case 'did':
      return true
    case 'part':
    case 'leftOut':
      return false
    case 'element':
    case 'except':
      return isExact(plan.of)
    default:
      return plan.parts.every(isExact)
  }
}

/** Tokens and DIDs in a plan. */
export interface PlanLeaves {
  readonly tokens: ReadonlySet<Token>
  readonly dids: ReadonlySet<string>
}

export function leavesOf(plan: DocumentPlan): PlanLeaves {
  const tokens = new Set<Token>()
  const dids = new Set<string>()
  const visit = (part: DocumentPlan | ElementPlan): void => {
    if ('token' in part) tokens.add(part.token)
    else if (part.kind === 'did') dids.add(part.did)
    else if ('of' in part) visit(part.of)
    else part.parts.forEach(visit)
  }
  visit(plan)
  return { tokens, dids }
}

/** A plan that also finds the documents of the DIDs that the condition names; they are to be verified. */
export function withNamed({ root, named }: SearchPlan): DocumentPlan | undefined {
  if (root === undefined || named.length === 0) return root
  const documents = named.map((did): DocumentPlan => ({ kind: 'part', of: { kind: 'did', did } }))
  return { kind: 'any', parts: [root, ...documents] }
}

/** The token whose number of documents is the number of matches; undefined if the plan is not that simple. */
export function soleToken({ root, exact }: SearchPlan): Token | undefined {
  if (!exact || root?.kind !== 'element' || root.of.kind !== 'token') return undefined
  return root.of.token
}
