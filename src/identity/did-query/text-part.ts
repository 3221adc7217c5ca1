import { refusal } from './query-error.js'

/** The text of `$regex`: compared literally, with `^` before it, `$` behind it, both or neither, and `\` before such characters in it. */
export interface TextPart {
  readonly text: string
  readonly fromStart: boolean
  readonly toEnd: boolean
}

const metacharacter = /[\\^$.*+?()[\]{}|]/
/**
 * A character behind `\`, one by its number, as in `\x2d`, or by its name, as a line end is: functions that write a literal for an engine escape
 * blanks and hyphens too.
 */
const escape = /\\(?:x([0-9A-Fa-f]{2})|([nrtf])|([^A-Za-z0-9]))/g
/** A whole literal, as Java writes one; one without its end is taken as far as the text goes, so that each character is looked at once. */
const literal = /\\(?:Q([^]*?)\\E|Q[^]*|[^])/g
/** Characters that have a name behind `\`. */
const named: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f' }

/** Reads the operand of `$regex`; refuses a character of regular expressions that has no `\` before it. */
export function textPart(expression: string, where: string): TextPart {
  const operand = expression.replace(literal, escaped)
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

/** A literal with `\` before each sign; what else stands behind `\`, as it is. */
function escaped(whole: string, text: string | undefined): string {
  return text === undefined ? whole : text.replace(/[^A-Za-z0-9]/g, '\\$&')
}

function unescaped(_: string, code: string | undefined, name: string | undefined, character: string): string {
  if (code !== undefined) return String.fromCharCode(parseInt(code, 16))
  return name === undefined ? character : (named[name] as string)
}
