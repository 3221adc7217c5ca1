import type { DocumentPlan, ElementPlan, SearchPlan } from './plan.js'
import { everythingToken, kindOf, mayOverflow, overflowToken, type Token, type TokenKind, tokenKind } from './token.js'

/**
 * Tokens and DIDs of which every document that meets a condition has at least one. A document without any of them need not be tested.
 */
export interface Cover {
  readonly tokens: ReadonlySet<Token>
  readonly dids: ReadonlySet<string>
}

/** About how many documents share a token of a kind, against one that hardly any two have. */
const sharing: Readonly<Partial<Record<TokenKind, number>>> = {
  [tokenKind.overflow]: 0,
  [tokenKind.issuer]: 4,
  [tokenKind.controller]: 4,
  [tokenKind.serviceType]: 16,
  [tokenKind.credentialType]: 16,
  [tokenKind.claimName]: 32,
  [tokenKind.expiryMonth]: 64,
}

/** The cover of a condition; undefined where any document may meet it. */
export function coverOf({ root, named }: SearchPlan): Cover | undefined {
  const cover = root === undefined ? undefined : documentCover(root)
  // The index has no posting where a document names its own DID.
  return cover && { tokens: cover.tokens, dids: new Set([...cover.dids, ...named]) }
}

function documentCover(plan: DocumentPlan): Cover | undefined {
  switch (plan.kind) {
    case 'did':
      return { tokens: new Set(), dids: new Set([plan.did]) }
    case 'element':
      return elementCover(plan.of)
    case 'part':
      return documentCover(plan.of)
    case 'all':
      return narrowest(plan.parts.map(documentCover))
    case 'any':
      return united(plan.parts.map(documentCover))
    default:
      return undefined
  }
}

function elementCover(plan: ElementPlan): Cover | undefined {
  switch (plan.kind) {
    case 'token':
      return tokenCover(plan.token)
    case 'part':
      return elementCover(plan.of)
    case 'all':
      return narrowest(plan.parts.map(elementCover))
    default:
      return united(plan.parts.map(elementCover))
  }
}

function tokenCover(token: Token): Cover | undefined {
  if (token === everythingToken) return undefined
  // A document with too many postings of a kind lacks some of them.
  return { tokens: new Set(mayOverflow(token) ? [token, overflowToken] : [token]), dids: new Set() }
}

/** The cover that fewest documents are likely to have. */
function narrowest(covers: readonly (Cover | undefined)[]): Cover | undefined {
  const known = covers.filter((cover) => cover !== undefined)
  return known.length === 0 ? undefined : known.reduce((least, one) => (weight(one) < weight(least) ? one : least))
}

function united(covers: readonly (Cover | undefined)[]): Cover | undefined {
  const known = covers.filter((cover) => cover !== undefined)
  if (known.length < covers.length) return undefined
  return {
    tokens: new Set(known.flatMap(({ tokens }) => [...tokens])),
    dids: new Set(known.flatMap(({ dids }) => [...dids])),
  }
}

function weight({ tokens, dids }: Cover): number {
  return [...tokens].reduce((sum, token) => sum + (sharing[kindOf(token)] ?? 1), dids.size)
}
