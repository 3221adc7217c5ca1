import { refusal } from './query-error.js'

/** The text of `$regex`: compared literally, with `^` before it, `$` behind it, both or neither, and `\` before such characters in it. */
export interface TextPart {
  readonly text: string
  readonly fromStart: boolean
  readonly toEnd: boolean
}

const metacharacter = /[\\^$.*+?()[\]{}|]/
/** A character behind `\`, and one by its number, as in `\x2d`: functions that write a literal for an engine escape blanks and hyphens too. */
const escape = /\\(?:x([0-9A-Fa-f]{2})|([^A-Za-z0-9]))/g

/** Reads the operand of `$regex`; refuses a character of regular expressions that has no `\` before it. */
export function textPart(operand: string, where: string): TextPart {
  const [whole = '', start = '', pattern = '', end = ''] = /^(\^?)((?:[^\\]|\\[^])*?)(\$?)$/.exec(operand) ?? []
  const found = metacharacter.exec((whole === '' ? operand : pattern).replace(escape, ''))
  if (found !== null) {
    throw refusal(
      where,
      `only text with ^ before it and $ behind it is taken, so ${found[0]} cannot stand in it without \\ before it`,
    )
  }
  return { text: pattern.replace(escape, unescaped), fromStart: start !== '', toEnd: end !== '' }
}

function unescaped(_: string, code: string | undefined, character: string): string {
  return code === undefined ? character : String.fromCharCode(parseInt(code, 16))
}
