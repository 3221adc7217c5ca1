import type { Steps } from '../../base/primitives/steps.js'
import type { Token } from './token.js'

/** Parts of a plan over the postings of tokens, chunk by chunk; what they find is joined in plan-reader.ts and read-elements.ts. */

/** The postings of one token, read forwards. */
export interface ChunkSource {
  /**
   * Moves to the first chunk from `chunk` on that has postings, and returns it: Infinity if there is none, {@link notRead} if rows
   * have to be read first. Never goes back.
   */
  seek(chunk: number): number
  /** Postings of the chunk it is at. */
  postings(): Uint16Array
}

/** Result of a step that needs rows which were not read yet. */
export const notRead = -1

/** Access of a plan to the rows. */
export interface PlanRows {
  source(token: Token): ChunkSource
  /** About how many documents have a token: those with the fewest lead. */
  count(token: Token): number
  /** The ordinal of a DID that has a document; undefined for others. */
  ordinal(did: string): number | undefined
}

/** Part of a plan over its sources. A chunk is read where {@link next} led to it. */
export interface PlanPart<T> {
  /** The first chunk from `chunk` on that may have a match; as {@link ChunkSource.seek}. */
  next(chunk: number): number
  /** A step for each part: hundreds of them may have tens of thousands of postings each in one chunk. */
  read(chunk: number): Steps<T>
  /** About how many documents it finds. */
  readonly size: number
}

export function mapPart<T, R>(part: PlanPart<T>, map: (found: T) => R): PlanPart<R> {
  return {
    next: (chunk) => part.next(chunk),
    read: (chunk) => mappedSteps(part.read(chunk), map),
    size: part.size,
  }
}

function* mappedSteps<T, R>(steps: Steps<T>, map: (found: T) => R): Steps<R> {
  return map(yield* steps)
}

/** The earlier of two chunks; {@link notRead} if one of them is not known. */
export function earlier(a: number, b: number): number {
  return a === notRead || b === notRead ? notRead : Math.min(a, b)
}

/** Gathers what any of some parts found. */
export interface Union<T> {
  add(found: T): void
  readonly all: T
}

/** Chunks that all parts have, led by the one with the fewest documents. */
export function joinAll<T>(parts: readonly PlanPart<T>[], join: (a: T, b: T) => T): PlanPart<T> {
  const bySize = [...parts].sort((a, b) => a.size - b.size)
  return {
    next: (chunk) => {
      let at = chunk
      for (let agreed = 0, i = 0; agreed < bySize.length; i = (i + 1) % bySize.length) {
        const next = (bySize[i] as PlanPart<T>).next(at)
        if (next === notRead || next === Infinity) return next
        agreed = next === at ? agreed + 1 : 1
        at = next
      }
      return at
    },
    read: (chunk) => joinedSteps(bySize, join, chunk),
    size: bySize[0]?.size ?? 0,
  }
}

function* joinedSteps<T>(parts: readonly PlanPart<T>[], join: (a: T, b: T) => T, chunk: number): Steps<T> {
  const [first, ...others] = parts as [PlanPart<T>, ...PlanPart<T>[]]
  let found = yield* first.read(chunk)
  for (const part of others) found = join(found, yield* part.read(chunk))
  return found
}

/** Chunks that any part has. */
export function joinAny<T>(parts: readonly PlanPart<T>[], union: () => Union<T>): PlanPart<T> {
  return {
    // Every part is asked, so that what they lack can be read at once.
    next: (chunk) => parts.map((part) => part.next(chunk)).reduce(earlier, Infinity),
    read: (chunk) => unitedSteps(parts, union(), chunk),
    size: parts.reduce((sum, { size }) => sum + size, 0),
  }
}

function* unitedSteps<T>(parts: readonly PlanPart<T>[], found: Union<T>, chunk: number): Steps<T> {
  for (const part of parts) found.add(yield* part.read(chunk))
  return found.all
}
