import type { LogLevel } from '../runtime/env.js'
import type { LiveCategory, LiveLine } from '../runtime/live-log.js'
import { cut, visible } from './escape.js'

/** Lines for people: local time, kind, text. A line is built of escaped text; colours come last. */

/** @limit characters: text of one line of the log */
const longestText = 500
/** @limit characters: fields of one line of the log, stacks included */
const longestFields = 4_000

/** Name and colour (SGR) of each kind of line. */
const kinds: Readonly<Record<LiveCategory | Exclude<LogLevel, 'silent'>, readonly [string, number]>> = {
  calls: ['call', 36],
  transactions: ['tx', 33],
  blocks: ['block', 32],
  peers: ['peer', 34],
  votes: ['vote', 35],
  sync: ['sync', 36],
  node: ['node', 1],
  debug: ['debug', 2],
  info: ['info', 36],
  warn: ['warn', 33],
  error: ['error', 31],
}
const kindWidth = Math.max(...Object.values(kinds).map(([name]) => name.length))
const dim = 2
const red = 31

/** Makes lines of text; `now` in milliseconds since the Unix epoch. */
export class TextLines {
  readonly #colours: boolean
  #second = NaN
  #time = ''

  constructor(colours: boolean) {
    this.#colours = colours
  }

  live(now: number, category: LiveCategory, { text, failed }: Pick<LiveLine, 'text' | 'failed'>): string {
    const shown = visible(text, longestText)
    return this.#line(now, category, failed ? this.#coloured(red, shown) : shown)
  }

  levelled(now: number, level: Exclude<LogLevel, 'silent'>, message: string, fields: object): string {
    const members = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${fieldText(value)}`)
    const text = visible(message, longestText)
    const grave = level === 'error' ? this.#coloured(red, text) : text
    return this.#line(now, level, [grave, visible(members.join(' '), longestFields)].join('  ').trimEnd())
  }

  #line(now: number, kind: keyof typeof kinds, text: string): string {
    const [name, colour] = kinds[kind]
    return `${this.#coloured(dim, this.#timeOf(now))} ${this.#coloured(colour, name.padEnd(kindWidth))} ${text}`
  }

  /** Local time of day; most lines are of the same second as the one before. */
  #timeOf(now: number): string {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      this.#second = second
      const date = new Date(now)
      this.#time = [date.getHours(), date.getMinutes(), date.getSeconds()]
        .map((part) => String(part).padStart(2, '0'))
        .join(':')
    }
    return this.#time
  }

  #coloured(colour: number, text: string): string {
    return this.#colours ? `\x1b[${colour}m${text}\x1b[0m` : text
  }
}

function fieldText(value: unknown): string {
  if (typeof value === 'string')
    return /^[\w@%+=:,./-]+$/.test(value) ? value : JSON.stringify(cut(value, longestFields))
  try {
    return cut(
      JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member)) ??
        String(value),
      longestFields,
    )
  } catch {
    return '?'
  }
}
