import JSON5 from 'json5'

/** JSON5, for handwritten texts: JSON with comments, unquoted names and trailing commas. */

/** Comments, strings, punctuation, and anything else between white space. */
const tokenForm =
  /\/\/.*|\/\*[^]*?\*\/|"[^"\\]*(?:\\[^][^"\\]*)*"|'[^'\\]*(?:\\[^][^'\\]*)*'|[{}[\]:,]|[^\s{}[\]:,"'/]+/g

export interface Json5Token {
  readonly text: string
  /** Position in the whole text. */
  readonly index: number
}

/** The tokens of a text that is JSON5, without its comments: a colon among them always follows a name. */
export function* json5Tokens(text: string): Generator<Json5Token> {
  for (const { 0: token, index } of text.matchAll(tokenForm)) if (!token.startsWith('/')) yield { text: token, index }
}

/** The name that the token before a colon spells: in quotes, or with escapes. */
export function json5Name(token: string): string {
  return Object.keys(JSON5.parse<object>(`{${token}:0}`))[0] as string
}

/** The value of a text. A SyntaxError describes the fault, on line `lineNumber`. Of repeated names the last counts. */
export function parseJson5(text: string): unknown {
  try {
    return JSON5.parse(withoutSeparators(text))
  } catch (error) {
    const failure = error as Error
    failure.message = failure.message.replace(/^JSON5: /, '')
    throw failure
  }
}

/** Escapes line separators in strings: otherwise the parser writes a warning to the console. */
function withoutSeparators(text: string): string {
  if (!/[\u2028\u2029]/.test(text)) return text
  const escaped = (found: string) => (found === '\u2028' ? '\\u2028' : found === '\u2029' ? '\\u2029' : found)
  return text.replace(tokenForm, (token) => (/^["']/.test(token) ? token.replace(/\\[^]|[^]/g, escaped) : token))
}
