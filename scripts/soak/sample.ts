/** What is looked at of the measured process. */

/** Taken right after the garbage was collected. Sizes in bytes. */
export interface Sample {
  readonly heap: number
  /** Memory of buffers and of what is bound to objects, outside the heap. */
  readonly external: number
  readonly resident: number
  /** The most that {@link resident} was since the last sample. */
  readonly peak: number
  /** Milliseconds by which a timer came late at the most since the last sample. */
  readonly late: number
  /** Timers, sockets and the like that keep the process alive, by kind. */
  readonly handles: Readonly<Record<string, number>>
  readonly files: number
  /** Of each long-lived emitter. */
  readonly listeners: Readonly<Record<string, number>>
  /** Objects that are alive, by their kind. To count them stops the process for seconds, so few samples have this. */
  readonly alive: Readonly<Record<string, number>> | undefined
  readonly height: number
  readonly peers: number
  /** Connections that came in so far and became peers. */
  readonly joined: number
}

export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** A figure that must not rise. */
export interface Series {
  readonly name: string
  readonly unit: string
  /** What it may rise by in an hour: bounded caches that are not full yet, and the turns of the traffic. */
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
 * Bytes of resident memory beyond those of an idle node that it may take at any time: 300 MB under a flood of requests for large
 * answers, and what V8 leaves uncollected while the node makes and connects its largest block meanwhile.
 */
export const mostBeyondIdle = 400 * megabyte

/** By how many more objects of a kind there may be at the end: those of connections that come and go, but none of those that went. */
export const mostMoreAlive = 200
