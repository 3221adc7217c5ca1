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
  /** For `*`: any segments that are left, at least an empty one. */
  rest: Place | undefined
  place: Place | undefined
  /** Names of the `:name` segments that lead here. */
  names: readonly string[]
}

interface Found {
  readonly branch: Branch
  readonly place: Place
}

/**
 * Finds the rows of a path. Paths match exactly: case, number of segments, no slash at the end. A fixed segment goes before a named one,
 * and both before a `*` at the end, which takes all segments that are left, of any length.
 * Nothing is compiled from text: Node can forbid that.
 */
export class PathTable {
  readonly #root = branch()
  /** Places whose paths have fixed segments alone, by these paths: most requests name one as it stands. */
  readonly #fixed = new Map<string, FoundPlace>()
  readonly #longest: number

  /** `longest`: characters of a named segment, at most. */
  constructor(rows: readonly PathRow[], longest: number) {
    this.#longest = longest
    for (const path of new Set(rows.map((row) => row.path))) {
      const atPath = rows.filter((row) => row.path === path)
      const methods = [...new Set(atPath.flatMap(methodsOf))].sort()
      const place = { rows: atPath, methods }
      if (!/[:*%]/.test(path)) this.#fixed.set(path, { place, segments: {} })
      if (path.endsWith('/*')) grown(this.#root, path.slice(0, -2)).rest = place
      else grown(this.#root, path).place = place
    }
  }

  /** The place at a URL; undefined where none is; null where the path is not valid percent-encoding of UTF-8. */
  find(url: string): FoundPlace | undefined | null {
    const fixed = this.#fixed.get(url)
    if (fixed !== undefined) return fixed
    const segments = segmentsOf(url)
    if (segments === undefined || segments === null) return segments
    const values: string[] = []
    const found = this.#at(this.#root, segments, 0, values)
    if (found === undefined) return undefined
    const { branch, place } = found
    return { place, segments: Object.fromEntries(branch.names.map((name, i) => [name, values[i]])) }
  }

  /** The place that a URL names, as far as it can be read: for the form of a refusal. */
  nearest(url: string): Place | undefined {
    return (this.find(url) ?? this.find(url.replaceAll('%', '_')))?.place
  }

  #at(branch: Branch, segments: readonly string[], index: number, values: string[]): Found | undefined {
    const segment = segments[index]
    if (segment === undefined) return branch.place && { branch, place: branch.place }
    const next = branch.fixed.get(segment)
    return (
      (next && this.#at(next, segments, index + 1, values)) ??
      this.#named(branch, segments, index, values) ??
      (branch.rest && { branch, place: branch.rest })
    )
  }

  #named({ named }: Branch, segments: readonly string[], index: number, values: string[]): Found | undefined {
    const segment = segments[index]
    if (named === undefined || segment === undefined || segment.length > this.#longest) return undefined
    values.push(segment)
    const found = this.#at(named, segments, index + 1, values)
    if (found === undefined) values.pop()
    return found
  }
}

/** Methods that a row takes: HEAD wherever it takes GET. */
function methodsOf({ methods }: PathRow): readonly string[] {
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods
}

/** The row of a place that takes a method; one of GET takes HEAD. */
export function rowOf({ rows }: Place, method: string): PathRow | undefined {
  return rows.find(({ methods }) => methods.some((one) => one === (method === 'HEAD' ? 'GET' : method)))
}

function branch(): Branch {
  return { fixed: new Map(), named: undefined, rest: undefined, place: undefined, names: [] }
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

/**
 * Decoded segments of the path of a URL, which may begin with scheme and host (RFC 9112 §3.2.2); undefined where it has no path, null for
 * no valid percent-encoding.
 */
function segmentsOf(url: string): readonly string[] | undefined | null {
  const local = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*\/?/, '/')
  if (!local.startsWith('/')) return undefined
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
