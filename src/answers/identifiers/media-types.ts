/** Media types of answers, and the choice of the one that a request prefers (RFC 9110 §12.5.1). */

import { splitOutsideQuotes } from '../../base/primitives/quoted-parts.js'

export const resolutionType = 'application/did-resolution'
export const dereferencingType = 'application/did-url-dereferencing'
export const uriListType = 'text/uri-list'
/** The result of resolution as clients from before 2025 ask for it, and the Universal Resolver still does. */
export const earlierResolutionType = 'application/ld+json;profile="https://w3id.org/did-resolution"'
/** The result of dereferencing as clients from before 2025 ask for it. */
export const earlierDereferencingType = 'application/ld+json;profile="https://w3id.org/did-url-dereferencing"'
/** The representations of a document, or of a part of it. */
export const documentTypes = [
  'application/did',
  'application/did+json',
  'application/did+ld+json',
  'application/ld+json',
  'application/json',
] as const

/** Types in the order of preference among equal weights. */
export const mediaTypes = [
  resolutionType,
  ...documentTypes,
  dereferencingType,
  uriListType,
  earlierResolutionType,
  earlierDereferencingType,
] as const

export type MediaType = (typeof mediaTypes)[number]

/** The types of whole results: of a resolution or of dereferencing, in either form. */
export type ResultType = typeof resolutionType | typeof earlierResolutionType | DereferencingType

export type DereferencingType = typeof dereferencingType | typeof earlierDereferencingType

export function isDereferencing(type: MediaType): type is DereferencingType {
  return type === dereferencingType || type === earlierDereferencingType
}

/** Representations in JSON-LD, of which any part needs a context. */
export const jsonLdTypes: readonly MediaType[] = ['application/did+ld+json', 'application/ld+json']

/** A member of Accept. */
interface MediaRange {
  readonly type: string
  /** In thousandths. */
  readonly weight: number
}

const wildcard = '*/*'
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const range = new RegExp(`^(?!\\*/[^*])(${token}/${token})$`)
const fullWeight = 1000

/**
 * Returns the available type that Accept prefers: with the highest weight, then the more specific, then in the order of {@link mediaTypes}.
 * Without Accept, and if only the full wildcard matches it, `first` if that is acceptable. Undefined: none is acceptable.
 *
 * Accept is a hint (RFC 9110 §12.4.1), so what is malformed refuses nothing: such members are ignored, a header of nothing else is no
 * Accept, and a weight that is no number counts as 1. Parameters other than `q` and the profiles of the earlier types are
 * ignored.
 */
export function negotiate(
  accept: string | undefined,
  available: readonly MediaType[],
  first: MediaType,
): MediaType | undefined {
  const ranges = rangesOf(accept ?? '')
  if (ranges.size === 0) return first
  const ordered = [first, ...available.filter((type) => type !== first)]
  let best: { readonly type: MediaType; readonly weight: number; readonly specificity: number } | undefined
  for (const type of available) {
    const match = matchOf(type, ranges)
    if (match === undefined || match.weight === 0) continue
    const isBetter =
      best === undefined ||
      match.weight > best.weight ||
      (match.weight === best.weight && match.specificity > best.specificity)
    if (isBetter) best = { type, ...match }
  }
  if (best?.specificity !== 0) return best?.type
  // Nothing but the wildcard chose it.
  const { weight } = best
  return ordered.find((type) => matchOf(type, ranges)?.weight === weight)
}

/** The weight that the most specific member gives a type; of equal members the greatest. */
function matchOf(
  type: MediaType,
  ranges: ReadonlyMap<string, number>,
): { readonly weight: number; readonly specificity: number } | undefined {
  // No wildcard means a form that only its name asks for.
  const names =
    type === earlierResolutionType || type === earlierDereferencingType
      ? ['', '', type]
      : [wildcard, `${type.slice(0, type.indexOf('/'))}/*`, type]
  for (let specificity = 2; specificity >= 0; specificity--) {
    const weight = ranges.get(names[specificity] as string)
    if (weight !== undefined) return { weight, specificity }
  }
  return undefined
}

function rangesOf(accept: string): ReadonlyMap<string, number> {
  const ranges = new Map<string, number>()
  for (const member of splitOutsideQuotes(accept, ',')) {
    const read = rangeOf(member)
    if (read !== undefined) ranges.set(read.type, Math.max(read.weight, ranges.get(read.type) ?? 0))
  }
  return ranges
}

function rangeOf(member: string): MediaRange | undefined {
  const [name = '', ...parameters] = splitOutsideQuotes(member, ';').map((part) => part.trim())
  // Java's HttpURLConnection sends one asterisk.
  const type = range.exec(name === '*' ? wildcard : name)?.[1]?.toLowerCase()
  if (type === undefined) return undefined
  const q = valueOf(parameters, 'q')
  const weight = q === undefined ? fullWeight : thousandthsOf(q)
  const profile = type === 'application/ld+json' ? valueOf(parameters, 'profile')?.split(/\s+/) : undefined
  const earlier = [earlierResolutionType, earlierDereferencingType].find((one) =>
    profile?.some((uri) => one.endsWith(`"${uri}"`)),
  )
  return { type: earlier ?? type, weight }
}

/** The value of a parameter, without quotes. */
function valueOf(parameters: readonly string[], name: string): string | undefined {
  for (const parameter of parameters) {
    const at = parameter.indexOf('=')
    if (at >= 0 && parameter.slice(0, at).trim().toLowerCase() === name) {
      return parameter
        .slice(at + 1)
        .trim()
        .replace(/^"(.*)"$/s, '$1')
    }
  }
  return undefined
}

/** A weight as programs write it: `.2`, `0.33333`, `2`. Only zero refuses a type. */
function thousandthsOf(text: string): number {
  if (!/^(?:\d+\.?\d*|\.\d+)$/.test(text)) return fullWeight
  const thousandths = Math.min(fullWeight, Math.round(Number(text) * fullWeight))
  return Number(text) > 0 ? Math.max(1, thousandths) : 0
}
