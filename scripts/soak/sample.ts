/** Figures of the measured process. */

/** Taken right after a garbage collection. Sizes in bytes. */
export interface Sample {
  readonly heap: number
  /** Memory of buffers and of native objects, outside the heap. */
  readonly external: number
  readonly resident: number
  /** Maximum of {@link resident} since the last sample. */
  readonly peak: number
  /** Maximum delay of a timer since the last sample, in milliseconds. */
  readonly late: number
  /** Timers, sockets and other handles that keep the process alive, by kind. */
  readonly handles: Readonly<Record<string, number>>
  readonly files: number
  /** Listeners of each long-lived emitter. */
  readonly listeners: Readonly<Record<string, number>>
  /** Live objects by kind. Counting stops the process for seconds, so few samples have this. */
  readonly alive: Readonly<Record<string, number>> | undefined
  readonly height: number
  readonly peers: number
  /** Inbound connections so far that became peers. */
  readonly joined: number
}

export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** A figure that must not rise. */
export interface Series {
  readonly name: string
  readonly unit: string
  /** Allowed rise in an hour: caches that are not full yet, and variations of the traffic. */
  readonly most: number
  of(sample: Sample): number
}

const megabyte = 1_000_000

export const series: readonly Series[] = [
  { name: 'heap', unit: 'MB', most: 12, of: ({ heap }) => heap / megabyte },
  { name: 'external', unit: 'MB', most: 4, of: ({ external }) => external / megabyte },
  { name: 'handles', unit: '', most: 10, of: ({ handles }) => total(handles) },
  { name: 'files', unit: '', most: 10, of: ({ files }) => files },
  { name: 'listeners', unit: '', most: 2, of: ({ listeners }) => total(listeners) },
]

/**
 * Maximum resident bytes beyond those of an idle node, at any time: 300 MB under a flood of requests for large answers, V8's
 * uncollected memory while the node makes and connects its largest block, and 100 MB of caches that are filled once it works.
 */
export const mostBeyondIdle = 500 * megabyte

/** Allowed rise in objects of a kind at the end: open connections vary, but closed ones must leave no object. */
export const mostMoreAlive = 200
