/**
 * Describes why a text is not hex of `size` bytes, or of any number of them above zero, for its author; undefined if it is. Shows no more
 * of the text than its first character that is no digit: it may be a secret.
 */
export function hexFault(text: unknown, size?: number): string | undefined {
  // Callers without a type checker pass other things.
  if (typeof text !== 'string') return 'it is no text'
  if (text === '') return 'it is empty'
  if (/^0x/i.test(text)) return 'it begins with 0x, which has to be left out here'
  const at = text.search(/[^0-9a-fA-F]/)
  if (at >= 0) return `${characterAt(text, at)} at character ${at + 1} is no hex digit`
  if (size !== undefined && text.length !== 2 * size) return `its length is ${text.length} hex digits, not ${2 * size}`
  if (text.length % 2 !== 0) return `its length of ${text.length} hex digits is odd, and two make a byte`
  return undefined
}

function characterAt(text: string, at: number): string {
  const character = String.fromCodePoint(text.codePointAt(at) as number)
  if (/[!-~]/.test(character)) return `"${character}"`
  return `U+${(text.codePointAt(at) as number).toString(16).toUpperCase().padStart(4, '0')}`
}
