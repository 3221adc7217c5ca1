import { didMethod } from '../base/primitives/did-method.js'

/** The part of the address behind `#`: which page, of what, and how. Pure. */

export interface Route {
  /** Name of the page; empty is the first page. */
  readonly page: string
  /** Subject of the page, decoded. */
  readonly subject: string
  readonly options: ReadonlyMap<string, string>
}

/** Names of all pages; the first one is empty. */
export const pageNames = [
  '',
  'address',
  'block',
  'blocks',
  'charts',
  'credential',
  'devnet',
  'did',
  'find',
  'interfaces',
  'node',
  'operations',
  'search',
  'transaction',
  'validators',
] as const
export type PageName = (typeof pageNames)[number]

/** Names of pages that other explorers use. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['tx', 'transaction'],
  ['addr', 'address'],
  ['account', 'address'],
])
/** Ids that name their page by themselves: a DID, a hash, an address or an identifier, a height. */
const idForm = /^(did(:|%3a).*|(0x)?[0-9a-f]{64}|[E8i][1-9A-HJ-NP-Za-km-z]{33}|\d+)$/i

/**
 * An id that stands alone but for signs of a sentence behind it, which what makes links of texts takes into them. A name of a DID, which has no
 * capitals, may end with such a sign.
 */
const aroundId = new RegExp(
  `^((?:0x)?[0-9a-fA-F]{64}|(?:did:${didMethod}:)?(?=.*[A-Z])[E8i][1-9A-HJ-NP-Za-km-z]{33}|\\d+)[\\p{Pe}\\p{Pf}"'>.,;:!?]+$`,
  'u',
)

/**
 * Reads `#/page/subject?name=value`; an id alone is looked for by the page of searches. Text that cannot be decoded is taken as it stands,
 * a hash in the form of the node: in small letters, without 0x.
 */
export function readRoute(hash: string): Route {
  const [written = '', query = ''] = splitOnce(hash.replace(/^#\/?/, ''), '?')
  const path = written.replace(/\/+$/, '')
  const options = new Map(new URLSearchParams(query))
  if (idForm.test(path)) return { page: 'search', subject: decoded(path), options }
  const [page = '', rest = ''] = splitOnce(path, '/')
  const subject = decoded(rest).trim().replace(aroundId, '$1')
  return { page: otherNames.get(page) ?? decoded(page), subject: hashIn(subject) ?? subject, options }
}

/** The hash that a text is, in display hex as the node writes it; undefined for other text. */
export function hashIn(text: string): string | undefined {
  return /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1]?.toLowerCase()
}

/** The address of a page. Options that are undefined are left out; half of a surrogate pair, which no address can hold, is replaced. */
export function linkTo(
  page: string,
  subject = '',
  options: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(options)) if (value !== undefined) query.set(name, String(value))
  const text = query.toString()
  const path =
    subject === ''
      ? page
      : `${page}/${encodeURIComponent(subject.replace(/\p{Cs}/gu, '\ufffd')).replaceAll('%3A', ':')}`
  return `#/${path}${text === '' ? '' : `?${text}`}`
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
