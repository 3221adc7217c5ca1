/** References of RFC 3986, as texts: nothing is normalised but dot segments. */

/** The five components of a reference; undefined ones are absent, which differs from empty. */
interface Components {
  readonly scheme: string | undefined
  readonly authority: string | undefined
  readonly path: string
  readonly query: string | undefined
  readonly fragment: string | undefined
}

/** The expression of RFC 3986, Appendix B: matches every text. */
const components = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s
const scheme = /^[A-Za-z][A-Za-z0-9+.-]*$/
/** Characters of a URI but : / ? #; a percent sign only before two hex digits. Brackets are let through beyond IPv6 addresses, as elsewhere. */
const plain = "(?:[A-Za-z0-9._~[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
const withMarks = `(?:${plain}|[:/?])*`
const uriText = new RegExp(`^(?:${plain}|[:/?#])*$`)
/** A relative reference of RFC 3986 §4.2: without a scheme, and no colon in the first segment of its path; `:b` has none of both. */
export const relativeReference = `^${plain}*(?:[/?]${withMarks})?(?:#${withMarks})?$`
const authority = /^(?:[^@[\]]*@)?(?:[^@:[\]]+|\[[0-9A-Fa-fv:.]+\])(?::[0-9]*)?$/

function split(text: string): Components {
  const [, scheme, authority, path = '', query, fragment] = components.exec(text) as RegExpExecArray
  return { scheme, authority, path, query, fragment }
}

function joined({ scheme, authority, path, query, fragment }: Components): string {
  return [
    scheme === undefined ? '' : `${scheme}:`,
    authority === undefined ? '' : `//${authority}`,
    path,
    query === undefined ? '' : `?${query}`,
    fragment === undefined ? '' : `#${fragment}`,
  ].join('')
}

/** The URI that a reference has below a base: RFC 3986 §5.2, strict. The base is absolute; its own fragment does not count. */
export function resolveReference(reference: string, base: string): string {
  const from = split(base)
  const to = split(reference)
  const { fragment } = to
  if (to.scheme !== undefined) return joined({ ...to, path: withoutDots(to.path) })
  if (to.authority !== undefined) return joined({ ...to, scheme: from.scheme, path: withoutDots(to.path) })
  if (to.path === '') return joined({ ...from, query: to.query ?? from.query, fragment })
  const path = withoutDots(to.path.startsWith('/') ? to.path : merged(from, to.path))
  return joined({ ...from, path, query: to.query, fragment })
}

/** §5.2.3: the base's path up to its last slash, then the reference's. */
function merged({ authority, path }: Components, relative: string): string {
  if (authority !== undefined && path === '') return `/${relative}`
  return path.slice(0, path.lastIndexOf('/') + 1) + relative
}

/** §5.2.4, in one pass over the segments. */
function withoutDots(path: string): string {
  const kept: string[] = []
  const segments = path.split('/')
  const rooted = segments[0] === '' && segments.length > 1
  if (rooted) segments.shift()
  segments.forEach((segment, i) => {
    const isLast = i === segments.length - 1
    if (segment === '..') kept.pop()
    if (segment !== '.' && segment !== '..') kept.push(segment)
    else if (isLast) kept.push('')
  })
  return (rooted ? '/' : '') + kept.join('/')
}

/**
 * The location of an endpoint: an absolute http or https URI with a host. `fragment` is appended; undefined where the URI has one
 * already, and for every other endpoint.
 */
export function locationOf(uri: string, fragment: string | undefined): string | undefined {
  const parts = split(uri)
  if (!uriText.test(uri) || !scheme.test(parts.scheme ?? '') || !authority.test(parts.authority ?? '')) return undefined
  if (!['http', 'https'].includes((parts.scheme as string).toLowerCase())) return undefined
  if (parts.fragment?.includes('#') === true) return undefined
  if (fragment === undefined) return uri
  return parts.fragment === undefined ? `${uri}#${fragment}` : undefined
}
