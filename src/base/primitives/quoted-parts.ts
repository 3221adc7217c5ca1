/**
 * Parts of a header value; a separator in a quoted string is none. Read from the end: a proxy appends what it says, so a quote that a client
 * left open before that takes nothing of it.
 */
export function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = []
  let end = text.length
  let quoted = false
  for (let at = text.length - 1; at >= 0; at--) {
    const character = text[at]
    if (character === '"' && !isEscaped(text, at)) quoted = !quoted
    else if (!quoted && character === separator) {
      parts.push(text.slice(at + 1, end))
      end = at
    }
  }
  parts.push(text.slice(0, end))
  return parts.reverse()
}

/** Whether an odd number of backslashes stands before a character. */
function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text[before - 1] === '\\') before--
  return (at - before) % 2 === 1
}
