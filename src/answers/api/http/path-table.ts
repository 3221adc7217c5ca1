import type { PathRow } from './path-row.js'

/** All rows of one path. */
export interface Place {
  readonly rows: readonly PathRow[]
  /** Methods that it takes, in order of the alphabet. */
  readonly methods: readonly string[]
}

export interface FoundPlace {
  readonly place: Place
  /** Values of the `:name` segments, decoded. */
  readonly segments: Readonly<Record<string, string | undefined>>
}

/** Places by the segments of their paths. */
interface Branch {
  readonly fixed: Map<string, Branch>
  /** For a segment `:name`. */
  named: Branch | undefined
  place: Place | undefined
  /** Names of the `:name` segments that lead here. */
  names: readonly string[]
}

/**
 * Finds the rows of a path. Paths match exactly: case, number of segments, no slash at the end. A fixed segment goes before a named one.
 * Nothing is compiled from text: Node can forbid that.
 */
export class PathTable {
  readonly #root = branch()
  readonly #longest: number

  /** `longest`: characters of a named segment, at most. */
  constructor(rows: readonly PathRow[], longest: number) {
    this.#longest = longest
    for (const path of new Set(rows.map((row) => row.path))) {
      const atPath = rows.filter((row) => row.path === path)
      const methods = [...new Set(atPath.flatMap((row) => row.methods))].sort()
      grown(this.#root, path).place = { rows: atPath, methods }
    }
  }

  /** The place at a URL; undefined where none is; null where the path is not valid percent-encoding of UTF-8. */
  find(url: string): FoundPlace | undefined | null {
    const segments = segmentsOf(url)
    if (segments === null) return null
    const values: string[] = []
    const found = this.#at(this.#root, segments, 0, values)
    if (found?.place === undefined) return undefined
    return { place: found.place, segments: Object.fromEntries(found.names.map((name, i) => [name, values[i]])) }
  }

  /** The place that a URL names, as far as it can be read: for the form of a refusal. */
  nearest(url: string): Place | undefined {
    return (this.find(url) ?? this.find(url.replaceAll('%', '_')))?.place
  }

  #at(from: Branch, segments: readonly string[], index: number, values: string[]): Branch | undefined {
    const segment = segments[index]
    if (segment === undefined) return from.place === undefined ? undefined : from
    const next = from.fixed.get(segment)
    const found = next && this.#at(next, segments, index + 1, values)
    if (found !== undefined || from.named === undefined || segment.length > this.#longest) return found
    values.push(segment)
    const named = this.#at(from.named, segments, index + 1, values)
    if (named === undefined) values.pop()
    return named
  }
}

/** The row of a place that takes a method; one of GET takes HEAD. */
export function rowOf({ rows }: Place, method: string): PathRow | undefined {
  return rows.find(({ methods }) => methods.some((one) => one === (method === 'HEAD' ? 'GET' : method)))
}

function branch(): Branch {
  return { fixed: new Map(), named: undefined, place: undefined, names: [] }
}

/** The branch at the end of a path, which is made where it is not there. */
function grown(root: Branch, path: string): Branch {
  let end = root
  const names: string[] = []
  for (const segment of path.split('/').slice(1)) {
    if (segment.startsWith(':')) {
      names.push(segment.slice(1))
      end = end.named ??= branch()
    } else {
      const next = end.fixed.get(segment) ?? branch()
      end.fixed.set(segment, next)
      end = next
    }
  }
  end.names = names
  return end
}

/** Decoded segments of the path of a URL, which may begin with scheme and host (RFC 9112 §3.2.2); null for no valid percent-encoding. */
function segmentsOf(url: string): readonly string[] | null {
  const local = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*\/?/, '/')
  const end = local.search(/[?#]/)
  const path = end < 0 ? local : local.slice(0, end)
  const segments = path.split('/').slice(1)
  if (!path.includes('%')) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch {
    return null
  }
}
