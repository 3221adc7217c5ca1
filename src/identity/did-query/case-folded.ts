/** The simple case folding of Unicode, by which regular expressions ignore case: one letter for one, so that ß is not SS. */

/** Foldings of the document that is examined: a condition may ask for the same text in each of its parts. */
const known = new Map<string, string>()

/** Forgets the texts of the document before. */
export function beginFolding(): void {
  if (known.size > 0) known.clear()
}

/** The {@link caseFolded} text, made once for a document. */
export function foldedOnce(text: string): string {
  const before = known.get(text)
  if (before !== undefined) return before
  const folded = caseFolded(text)
  known.set(text, folded)
  return folded
}

/**
 * A text in which letters that differ only in case are the same. Letters are taken one by one: neither their neighbours nor the language
 * count.
 */
export function caseFolded(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  let folded = ''
  for (let start = 0; start < text.length; start += unitsAtOnce) folded += foldedPart(text, start)
  return folded
}

/** As many arguments as a call takes well. */
const unitsAtOnce = 4096
const part = new Uint16Array(unitsAtOnce)

function foldedPart(text: string, start: number): string {
  const length = Math.min(unitsAtOnce, text.length - start)
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(start + i)
    part[i] = isHalf(unit) ? foldedHalf(text, start + i) : foldedLetter(unit)
  }
  const units: Uint16Array = length === unitsAtOnce ? part : part.subarray(0, length)
  return Reflect.apply(String.fromCharCode, undefined, units)
}

/** Whether a unit is one of two of a letter, if it stands beside the other. */
function isHalf(unit: number): boolean {
  return (unit & 0xf800) === 0xd800
}

/** The unit at a place where a half is. */
function foldedHalf(text: string, at: number): number {
  const isSecond = (text.charCodeAt(at) & 0xfc00) === 0xdc00
  const letter = text.codePointAt(isSecond ? at - 1 : at) ?? 0
  if (letter < 0x10000) return text.charCodeAt(at)
  const folded = foldedLetter(letter) - 0x10000
  return isSecond ? 0xdc00 | (folded & 0x3ff) : 0xd800 | (folded >> 10)
}

/** Letters from here on have no case. */
const end = 0x20000
/** Foldings by letter, one more than each; 0: not known yet. Made when the first is asked for. */
let foldings: Uint32Array | undefined

function foldedLetter(letter: number): number {
  if (letter >= end) return letter
  foldings ??= new Uint32Array(end)
  const before = foldings[letter] as number
  if (before !== 0) return before - 1
  const folded = foldedText(String.fromCodePoint(letter)).codePointAt(0) as number
  foldings[letter] = folded + 1
  return folded
}

function foldedText(letter: string): string {
  return alike.get(letter) ?? (letter === dotlessI ? letter : oneFor(oneFor(letter, 'toUpperCase'), 'toLowerCase'))
}

/** Letters that are encoded twice, whose other cases are several letters; the folding joins them since Unicode 15.1. */
const alike: ReadonlyMap<string, string> = new Map([
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
])

/** Turkish alone has it for another case of i. */
const dotlessI = '\u0131'

/** The other case of a letter, if it is one letter of as many units. */
function oneFor(letter: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const other = letter[change]()
  return other.length === letter.length ? other : letter
}
