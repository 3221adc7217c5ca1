/** Control and format characters, which steer a terminal or turn text around, line separators, and halves of pairs. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu
/** The same without those below U+0080, which JSON escapes itself; all are single code units of one line of JSON, or pairs. */
const unseenInJson = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

/** A text that may come from a client or peer as one harmless line: cut at `most` characters, what cannot be seen as `\x1b`. */
export function visible(text: string, most: number): string {
  return cut(text, most).replace(unseen, (character) => {
    const code = character.codePointAt(0) as number
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
  })
}

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

/** A line of JSON that means the same and steers no terminal. */
export function visibleJson(line: string): string {
  return line.replace(unseenInJson, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}
