import { visible, visibleLines } from '../../base/runtime/visible-text.js'

/**
 * The one way of text to a terminal, a pipe or a log file. A text is a string, in which everything that steers a terminal is written
 * out; what the program steers itself is a mark, an object that no string can hold.
 */
declare const letOut: unique symbol
/** Text that went through the door: nothing else makes it, and streams take nothing else. */
export type ShownText = string & { readonly [letOut]: true }

class Mark {
  readonly #sequence: string

  constructor(sequence: string) {
    this.#sequence = sequence
  }

  static sequenceOf(mark: Mark): string {
    return mark.#sequence
  }
}

/** Strings, of any origin, and marks among them. */
export type Piece = string | Mark
export type Pieces = string | readonly Piece[]

/** Clears the line that the cursor is in. */
export const clearLine: Piece = new Mark('\r\x1b[K')

/** Goes up some lines, and clears all from there. */
export function clearLines(count: number): Piece {
  return new Mark(`\x1b[${count}A\r\x1b[J`)
}

/** A text in a colour (SGR). */
export function coloured(colour: number, text: string): Piece[] {
  return [new Mark(`\x1b[${colour}m`), text, new Mark('\x1b[0m')]
}

/** Lets text out: line ends remain, and the program's own marks. JSON remains JSON, and means the same. */
export function throughDoor(pieces: Pieces): ShownText {
  return render(pieces, visibleLines)
}

/** Lets one line out, and ends it: an end of a line within a text is written out too. */
export function lineThroughDoor(pieces: Pieces): ShownText {
  return `${render(pieces, visible)}\n` as ShownText
}

function render(pieces: Pieces, escape: (text: string) => string): ShownText {
  const all = typeof pieces === 'string' ? [pieces] : pieces
  const texts = all.map((piece) => (typeof piece === 'string' ? escape(piece) : Mark.sequenceOf(piece)))
  return texts.join('') as ShownText
}
