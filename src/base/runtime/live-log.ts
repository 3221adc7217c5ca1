/** Activity of a node as it happens: lines for people, beside those of the log with levels. */

/**
 * Categories of the live log: calls of clients, transactions of the pool, blocks, peers, the own vote, catching up, and start and
 * end of the node.
 */
export const liveCategories = ['calls', 'transactions', 'blocks', 'peers', 'votes', 'sync', 'node'] as const
export type LiveCategory = (typeof liveCategories)[number]

/** One line. Its texts may be those of a client or peer: the log escapes and bounds them. */
export interface LiveLine {
  /** As people read it, without time and category. */
  readonly text: string
  /** Its members in JSON. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Whether it reports a failure. */
  readonly failed?: boolean
}

export interface LiveLog {
  /** Categories that are shown now. */
  readonly shown: ReadonlySet<LiveCategory>
  /** Chooses what is shown from now on. */
  show(categories: Iterable<LiveCategory>): void
  /**
   * Whether to make a line now. False: not shown, or too many at once, and then counted. Callers make nothing before, so that a
   * log that is not shown costs nothing.
   */
  wants(category: LiveCategory, failed?: boolean): boolean
  /** Writes a line that is wanted. */
  write(category: LiveCategory, line: LiveLine): void
}

const without = 'no-'

/**
 * Reads a choice: `all`, `none`, or names separated by commas. A choice that begins with `no-` and a name takes from `usual`, any
 * other begins with nothing. Undefined: not a choice.
 */
export function liveChoice(
  text: string,
  usual: Iterable<LiveCategory> = liveCategories,
): ReadonlySet<LiveCategory> | undefined {
  if (text === 'none') return new Set()
  const words = text.split(',')
  const chosen = new Set<LiveCategory>(words[0]?.startsWith(without) ? usual : [])
  for (const word of words) {
    const removed = word.startsWith(without)
    const name = removed ? word.slice(without.length) : word
    const named = name === 'all' && !removed ? liveCategories : liveCategories.filter((category) => category === name)
    if (named.length === 0) return undefined
    for (const category of named) {
      if (removed) chosen.delete(category)
      else chosen.add(category)
    }
  }
  return chosen
}

/** For messages about a text that is no choice. */
export const liveChoiceForm = `all, none, or some of ${liveCategories.join(', ')} separated by commas, each also with no- before`
