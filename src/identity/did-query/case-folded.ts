/** The simple case folding of Unicode, by which regular expressions ignore case: one letter for one, so that ß is not SS. */

/**
 * A text in which letters that differ only in case are the same. Letters are taken one by one: neither their neighbours nor the language
 * count.
 */
export function caseFolded(text: string): string {
  return text.replace(/[A-Z]+|[^\0-\x7f]+/g, (part) => (part < '\x80' ? part.toLowerCase() : foldedLetters(part)))
}

function foldedLetters(text: string): string {
  let folded = ''
  for (const letter of text)
    folded += letter === dotlessI ? letter : oneFor(oneFor(letter, 'toUpperCase'), 'toLowerCase')
  return folded
}

/** Turkish alone has it for another case of i. */
const dotlessI = '\u0131'

/** The other case of a letter, if it is one letter too. */
function oneFor(letter: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const other = letter[change]()
  return other.length === letter.length || [...other].length === 1 ? other : letter
}
