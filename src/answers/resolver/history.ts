import { RuleError } from '../../base/errors/rule-error.js'
import type { ReadOperation } from './did-versions.js'
import { historyLimits } from './history-limits.js'
import type { WorkSlots } from '../../base/runtime/work-slots.js'
import type { Slice } from './resolve-request.js'

/** Who waits for a history, and what is done where it turns out to be long. */
export interface HistoryOptions {
  /** Stops the reading. */
  readonly signal?: AbortSignal | undefined
  /** Bytes of transactions above which the reading ends with {@link LongHistory}. */
  readonly most?: number
  /** Waits for memory for {@link historyLimits.bytes} of transactions, before more than `unplaced` of them are read. */
  readonly reserve?: () => Promise<void>
}

/** A history has more bytes than its reader may hold. */
export class LongHistory extends Error {}

export interface HistoryReading extends HistoryOptions {
  readonly did: string
  /** Number of operations of the DID. */
  readonly count: number
  /** Undefined: all of them. */
  readonly slice: Slice | undefined
  /** Number of the first operation that can be read; those before it are left out. */
  readonly first?: number
  readonly places: WorkSlots
  /** Reads the operations from number `start` on, before number `end`, newest first; all of one branch. */
  read(start: number, end: number): Promise<readonly ReadOperation[]>
}

/**
 * The operations asked for, newest first, a few at a time. `history-size` for a whole history beyond the limits; a slice ends early
 * there.
 */
export async function readHistory(reading: HistoryReading): Promise<ReadOperation[]> {
  const { count, slice, first = 0, places, signal, most = Infinity, read } = reading
  if (slice === undefined && count > historyLimits.operations) throw tooLarge(reading)
  const newest = Math.max(0, count - (slice?.skip ?? 0))
  const oldest = Math.max(first, slice === undefined ? 0 : newest - slice.limit)
  const found: ReadOperation[] = []
  let bytes = 0
  let release: (() => void) | undefined
  try {
    for (let end = newest; end > oldest; end -= historyLimits.atOnce) {
      signal?.throwIfAborted()
      for (const entry of await read(Math.max(oldest, end - historyLimits.atOnce), end)) {
        bytes += entry.bytes
        if (bytes > most) throw new LongHistory()
        if (bytes > historyLimits.bytes && found.length > 0) {
          if (slice === undefined) throw tooLarge(reading)
          return found
        }
        found.push(entry)
      }
      if (bytes <= historyLimits.unplaced || release !== undefined) continue
      release = await places.take({ signal })
      await reading.reserve?.()
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
