/** Media types of answers, and the choice of the one that a request prefers (RFC 9110 §12.5.1). */

export const resolutionType = 'application/did-resolution'
export const dereferencingType = 'application/did-url-dereferencing'
export const uriListType = 'text/uri-list'
/** The representations of a document, or of a part of it. */
export const documentTypes = [
  'application/did',
  'application/did+json',
  'application/did+ld+json',
  'application/ld+json',
  'application/json',
] as const

/** Types in the order of preference among equal weights. */
export const mediaTypes = [resolutionType, ...documentTypes, dereferencingType, uriListType] as const

export type MediaType = (typeof mediaTypes)[number]

/** A member of Accept: its weight in thousandths. */
interface MediaRange {
  readonly type: string
  readonly weight: number
}

const wildcard = '*/*'
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const range = new RegExp(`^(${token}/${token})$`)
const weight = /^(?:0(?:\.([0-9]{0,3}))?|1(?:\.0{0,3})?)$/

/**
 * Returns the available type that Accept prefers: with the highest weight, then the more specific, then in the order of {@link mediaTypes}.
 * Without Accept, and if only the full wildcard matches it, `first` if that is acceptable. Undefined: none is acceptable. Parameters other
 * than `q` and malformed members are ignored.
 */
export function negotiate(
  accept: string | undefined,
  available: readonly MediaType[],
  first: MediaType,
): MediaType | undefined {
  if (accept === undefined || accept.trim() === '') return first
  const ranges = rangesOf(accept)
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
  const names = [wildcard, `${type.slice(0, type.indexOf('/'))}/*`, type]
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
  const type = range.exec(name)?.[1]?.toLowerCase()
  if (type === undefined) return undefined
  const q = parameters.map((parameter) => /^q\s*=\s*(.*)$/is.exec(parameter)?.[1]).find((text) => text !== undefined)
  const thousandths = q === undefined ? 1000 : thousandthsOf(q)
  return thousandths === undefined ? undefined : { type, weight: thousandths }
}

function thousandthsOf(text: string): number | undefined {
  const fields = weight.exec(text)
  if (fields === null) return undefined
  return text.startsWith('1') ? 1000 : Number((fields[1] ?? '').padEnd(3, '0'))
}

/** Parts of a header value; a separator in a quoted string is none. */
function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (quoted && character === '\\') at++
    else if (character === '"') quoted = !quoted
    else if (!quoted && character === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}
