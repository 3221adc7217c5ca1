/** The part of the address behind `#`: which page, of what, and how. Pure. */

export interface Route {
  /** Name of the page; empty is the first page. */
  readonly page: string
  /** Subject of the page, decoded. */
  readonly subject: string
  readonly options: ReadonlyMap<string, string>
}

/** Reads `#/page/subject?name=value`. Text that cannot be decoded is taken as it stands. */
export function readRoute(hash: string): Route {
  const [path = '', query = ''] = splitOnce(hash.replace(/^#\/?/, ''), '?')
  const [page = '', subject = ''] = splitOnce(path, '/')
  return { page, subject: decoded(subject), options: new Map(new URLSearchParams(query)) }
}

/** The address of a page. Options that are undefined are left out. */
export function linkTo(
  page: string,
  subject = '',
  options: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(options)) if (value !== undefined) query.set(name, String(value))
  const text = query.toString()
  const path = subject === '' ? page : `${page}/${encodeURIComponent(subject).replaceAll('%3A', ':')}`
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
