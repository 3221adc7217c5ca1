/**
 * Characters that steer a terminal, turn text around, or are not seen: controls, formats, separators of lines, halves of pairs, and all
 * that draws nothing by itself. Format characters of Arabic, Syriac and Kaithi that draw a sign of their own are seen.
 */
const unseen =
  /(?![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** A letter of a script whose words are written with joiners: they choose the form of a letter. */
const letter = /* @__PURE__ */ oneOf([
  ...['Arabic', 'Syriac', 'Mandaic', 'Nko', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya'],
  ...['Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan', 'Balinese', 'Javanese'],
])
/** Characters that {@link isNeeded} judges by where they stand. */
const forming = /[\u200c\u200d\ufe0e\ufe0f\u180b-\u180d\u180f]/
const picture = /^[\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}]$/u
const mongolian = /^\p{Script=Mongolian}$/u

/** A text that may come from others as one harmless line: what is not seen, or ends a line, as `\u001b`. */
export function visible(text: string): string {
  return text.replace(unseen, shown)
}

/** {@link visible} lines: their ends are left. */
export function visibleLines(text: string): string {
  return text.replace(unseen, (character, at: number, all: string) =>
    character === '\n' ? character : shown(character, at, all),
  )
}

/**
 * A text that may come from others as one line that steers nothing; what forms letters and pictures is left as it is, for
 * {@link visible} where the line is shown. Small: for programs that run in browsers.
 */
export function oneLine(text: string): string {
  return text.replace(unseen, (character) => (forming.test(character) ? character : escaped(character)))
}

function shown(character: string, at: number, text: string): string {
  return isNeeded(character, at, text) ? character : escaped(character)
}

/** The form of JSON, so that JSON in which each character is replaced means the same. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    return `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  }).join('')
}

/** Whether a character is part of the spelling where it stands: a joiner between letters or pictures, or the form of what is before it. */
function isNeeded(character: string, at: number, text: string): boolean {
  const before = characterBefore(text, at)
  if (character === '\u200c' || character === '\u200d') {
    const after = String.fromCodePoint(text.codePointAt(at + 1) ?? 0)
    if (letter.test(before) && letter.test(after)) return true
    return character === '\u200d' && picture.test(after) && picture.test(pictureBefore(text, at))
  }
  if (character === '\ufe0e' || character === '\ufe0f') return picture.test(before)
  return /^[\u180b-\u180d\u180f]$/.test(character) && mongolian.test(before)
}

function oneOf(scripts: readonly string[]): RegExp {
  return new RegExp(`^[${scripts.map((script) => `\\p{Script=${script}}`).join('')}]$`, 'u')
}

function characterBefore(text: string, at: number): string {
  const pair = text.slice(Math.max(0, at - 2), at)
  return pair.length === 2 && pair.codePointAt(0) !== pair.charCodeAt(0) ? pair : text.slice(Math.max(0, at - 1), at)
}

/** The picture before a place, without the character that chooses its form. */
function pictureBefore(text: string, at: number): string {
  return characterBefore(text, text[at - 1] === '\ufe0f' ? at - 1 : at)
}
