import { RuleError } from '../errors/rule-error.js'
import type { ReadOperation } from './did-versions.js'
import { historyLimits } from './history-limits.js'
import type { Places } from './places.js'
import type { Slice } from './resolve-request.js'

export interface HistoryReading {
  readonly did: string
  /** Number of operations of the DID. */
  readonly count: number
  /** Undefined: all of them. */
  readonly slice: Slice | undefined
  readonly places: Places
  /** Stops the reading. */
  readonly signal?: AbortSignal | undefined
  /** Reads the operations from number `start` on, before number `end`, newest first; all of one branch. */
  read(start: number, end: number): Promise<readonly ReadOperation[]>
}

/**
 * The operations asked for, newest first, a few at a time. `history-size` for a whole history beyond the limits; a slice ends early
 * there.
 */
export async function readHistory(reading: HistoryReading): Promise<ReadOperation[]> {
  const { count, slice, places, signal, read } = reading
  if (slice === undefined && count > historyLimits.operations) throw tooLarge(reading)
  const newest = Math.max(0, count - (slice?.skip ?? 0))
  const oldest = slice === undefined ? 0 : Math.max(0, newest - slice.limit)
  const found: ReadOperation[] = []
  let bytes = 0
  let release: (() => void) | undefined
  try {
    for (let end = newest; end > oldest; end -= historyLimits.atOnce) {
      signal?.throwIfAborted()
      for (const entry of await read(Math.max(oldest, end - historyLimits.atOnce), end)) {
        bytes += entry.bytes
        if (bytes > historyLimits.bytes && found.length > 0) {
          if (slice === undefined) throw tooLarge(reading)
          return found
        }
        found.push(entry)
      }
      if (bytes > historyLimits.unplaced) release ??= await places.take(signal)
    }
    return found
  } finally {
    release?.()
  }
}

function tooLarge({ did, count }: HistoryReading): RuleError {
  const { bytes, operations } = historyLimits
  const most = `${operations} operations or ${bytes} bytes at once`
  return new RuleError(
    'history-size',
    `${did} has ${count} operations, more than ${most}; ask for parts of its history with skip and limit`,
  )
}
