import findMyWay from 'find-my-way'
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

/** Finds the rows of a path. Paths match exactly: case, number of segments, no slash at the end. */
export class PathTable {
  readonly #router: ReturnType<typeof findMyWay>

  /** `longest`: characters of a segment, at most. */
  constructor(rows: readonly PathRow[], longest: number) {
    // The router has one method; those of a path are looked up in its place.
    this.#router = findMyWay({ maxParamLength: longest, onBadUrl: undecodable, querystringParser: noQuery })
    for (const path of new Set(rows.map((row) => row.path))) {
      const atPath = rows.filter((row) => row.path === path)
      const place: Place = { rows: atPath, methods: [...new Set(atPath.flatMap(({ methods }) => methods))].sort() }
      this.#router.on('GET', path, undecodable, place)
    }
  }

  /** The place at a URL; undefined where none is; null where the path is not valid percent-encoding of UTF-8. */
  find(url: string): FoundPlace | undefined | null {
    const found = this.#router.find('GET', url)
    if (found === null) return undefined
    const { store: place, params: segments } = found
    return place === null ? null : { place: place as Place, segments }
  }

  /** The place that a URL names, as far as it can be read: for the form of a refusal. */
  nearest(url: string): Place | undefined {
    return (this.find(url) ?? this.find(url.replaceAll('%', '_')))?.place
  }
}

/** The row of a place that takes a method; one of GET takes HEAD. */
export function rowOf({ rows }: Place, method: string): PathRow | undefined {
  return rows.find(({ methods }) => methods.some((one) => one === (method === 'HEAD' ? 'GET' : method)))
}

// The router calls it for a URL that it cannot decode only where it handles requests itself.
function undecodable(): void {}

function noQuery(): Record<string, never> {
  return {}
}
