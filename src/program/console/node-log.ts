import { pino } from 'pino'
import { type Clock, type Log, type LogLevel, logLevels, type Timers } from '../../base/runtime/env.js'
import { liveCategories, type LiveCategory, type LiveLine, type LiveLog } from '../../base/runtime/live-log.js'
import type { LineSink } from './console.js'
import type { Pieces } from './door.js'
import { RateSummary, type Unshown } from './rate-summary.js'
import { TextLines } from './text-line.js'

/** The log of a running node: lines with levels, and the live log. */
export interface NodeLog extends Log {
  readonly live: LiveLog
  /** Writes what is still counted. */
  close(): void
}

export interface NodeLogOptions {
  readonly sink: LineSink
  readonly format: 'text' | 'json'
  readonly level: LogLevel
  /** Categories of the live log. */
  readonly shown: Iterable<LiveCategory>
  readonly colours: boolean
  readonly clock: Clock
  readonly timers: Timers
}

type Level = Exclude<LogLevel, 'silent'>

/** Makes the lines of one format. */
interface Lines {
  live(category: LiveCategory, line: LiveLine): Pieces
  levelled(level: Level, message: string, fields: Record<string, unknown>): Pieces
}

export function nodeLog(options: NodeLogOptions): NodeLog {
  const { sink, format, shown, clock, timers } = options
  let { level } = options
  const lines = format === 'json' ? jsonLines(clock) : textLines(options.colours, clock)
  /** Lines that the sink could not take. */
  let lost = 0
  const put = (line: Pieces) => {
    if (lost > 0) {
      const message = 'lines of the log are missing: what takes them was too slow, or full'
      if (sink.line(lines.levelled('warn', message, { lines: lost }))) lost = 0
    }
    if (lost > 0 || !sink.line(line)) lost++
  }
  const levelled = (own: Level) => (fields: Record<string, unknown>, message: string) => {
    if (logLevels.indexOf(own) >= logLevels.indexOf(level)) put(lines.levelled(own, message, fields))
  }
  const live = new LiveLines(shown, timers, (category, line) => put(lines.live(category, line)))
  return {
    debug: levelled('debug'),
    info: levelled('info'),
    warn: levelled('warn'),
    error: levelled('error'),
    get level() {
      return level
    },
    setLevel: (chosen) => {
      level = chosen
    },
    live,
    close: () => live.flush(),
  }
}

/** The live log: too many lines at once become one. */
class LiveLines implements LiveLog {
  readonly #put: (category: LiveCategory, line: LiveLine) => void
  readonly #rates: Readonly<Record<LiveCategory, RateSummary>>
  #shown: ReadonlySet<LiveCategory>

  constructor(shown: Iterable<LiveCategory>, timers: Timers, put: (category: LiveCategory, line: LiveLine) => void) {
    this.#shown = new Set(shown)
    this.#put = put
    const rate = (category: LiveCategory) =>
      new RateSummary(timers, (unshown) => put(category, summaryOf(category, unshown)))
    this.#rates = Object.fromEntries(liveCategories.map((category) => [category, rate(category)])) as Record<
      LiveCategory,
      RateSummary
    >
  }

  get shown(): ReadonlySet<LiveCategory> {
    return this.#shown
  }

  show(categories: Iterable<LiveCategory>): void {
    this.flush()
    this.#shown = new Set(categories)
  }

  wants(category: LiveCategory, failed = false): boolean {
    return this.#shown.has(category) && this.#rates[category].admit(failed)
  }

  write(category: LiveCategory, line: LiveLine): void {
    this.#put(category, line)
  }

  flush(): void {
    for (const rate of Object.values(this.#rates)) rate.flush()
  }
}

const nouns: Readonly<Record<LiveCategory, string>> = {
  calls: 'calls',
  transactions: 'transactions',
  blocks: 'blocks',
  peers: 'changes of peers',
  votes: 'changes of the vote',
  sync: 'lines of the sync',
  node: 'lines of the node',
}

function summaryOf(category: LiveCategory, { more, failed }: Unshown): LiveLine {
  const count = (number: number) => number.toLocaleString('en-US')
  const refused = failed === 0 ? '' : `, ${count(failed)} of them failed`
  return { text: `… ${count(more)} more ${nouns[category]}${refused}`, fields: { more, failed }, failed: failed > 0 }
}

function textLines(colours: boolean, clock: Clock): Lines {
  const text = new TextLines(colours)
  return {
    live: (category, line) => text.live(clock.now(), category, line),
    levelled: (level, message, fields) => text.levelled(clock.now(), level, message, fields),
  }
}

/** JSON lines by pino: `level`, `time` in milliseconds, the fields, `msg`; those of the live log have a `category`. */
function jsonLines(clock: Clock): Lines {
  let made = ''
  const log = pino(
    { level: 'debug', base: null, timestamp: () => `,"time":${clock.now()}` },
    { write: (line: string) => (made = line) },
  )
  const line = () => made.trimEnd()
  return {
    live: (category, { text, fields }) => {
      log.info({ category, ...fields }, text)
      return line()
    },
    levelled: (level, message, fields) => {
      log[level](fields, message)
      return line()
    },
  }
}
