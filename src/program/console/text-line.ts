import type { LogLevel } from '../../base/runtime/env.js'
import type { LiveCategory, LiveLine } from '../../base/runtime/live-log.js'
import { visible } from '../../base/runtime/visible-text.js'
import { coloured, type Piece, type Pieces } from './door.js'

/** Lines for people: local time, kind, text. Texts of others are bounded here, and are one line. */

/** @tuning characters: text of one line of the log */
const longestText = 500
/** @tuning characters: fields of one line of the log, stacks included */
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

  live(now: number, category: LiveCategory, { text, failed }: Pick<LiveLine, 'text' | 'failed'>): Pieces {
    const shown = visible(cut(text, longestText))
    return this.#line(now, category, failed ? this.#coloured(red, shown) : [shown])
  }

  levelled(now: number, level: Exclude<LogLevel, 'silent'>, message: string, fields: object): Pieces {
    const members = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${fieldText(value)}`)
    const text = visible(cut(message, longestText))
    const shown = visible(cut(members.join(' '), longestFields))
    const begin = level === 'error' ? this.#coloured(red, text) : [text]
    return this.#line(now, level, [...begin, ...(shown === '' ? [] : [`  ${shown}`])])
  }

  #line(now: number, kind: keyof typeof kinds, text: readonly Piece[]): Pieces {
    const [name, colour] = kinds[kind]
    const pieces = [
      ...this.#coloured(dim, this.#timeOf(now)),
      ' ',
      ...this.#coloured(colour, name.padEnd(kindWidth)),
      ' ',
      ...text,
    ]
    return this.#colours ? pieces : pieces.join('')
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

  #coloured(colour: number, text: string): Piece[] {
    return this.#colours ? coloured(colour, text) : [text]
  }
}

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
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
