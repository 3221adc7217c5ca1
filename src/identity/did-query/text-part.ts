import { refusal } from './query-error.js'

/** The text of `$regex`: compared literally, with `^` before it, `$` behind it, both or neither, and `\` before such characters in it. */
export interface TextPart {
  readonly text: string
  readonly fromStart: boolean
  readonly toEnd: boolean
}

const metacharacter = /[\\^$.*+?()[\]{}|]/
const escape = new RegExp(`\\\\(${metacharacter.source})`, 'g')

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
  return { text: pattern.replace(escape, '$1'), fromStart: start !== '', toEnd: end !== '' }
}
