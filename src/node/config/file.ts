import { UserError } from '../../base/errors/rule-error.js'
import { json5Name, json5Tokens, parseJson5 } from '../../base/runtime/json5.js'

/** A member of a configuration file. */
export interface FileMember {
  /** Names from the outermost on, with dots between: `api.host`. */
  readonly path: string
  readonly value: unknown
  /** From 1 on. */
  readonly line: number
}

/** Longest name that a message prints in full; longer ones are no options. */
const longestName = 80

/**
 * The members of a configuration file: JSON5, one object per module; `isSection` decides which paths are modules. Any other text,
 * or a repeated name, is a {@link UserError} with exit code 2 that names file and line.
 */
export function readConfigText(text: string, file: string, isSection: (path: string) => boolean): FileMember[] {
  const root = parse(text, file)
  if (!isObject(root)) throw new UserError(`${file}: a configuration is an object of objects, such as { api: {} }`, 2)
  const lines = linesOf(text, file)
  const members: FileMember[] = []
  const visit = (object: object, prefix: string) => {
    for (const [name, value] of Object.entries(object)) {
      const path = prefix + name
      const line = lines.get(path) as number
      if (!isSection(path)) members.push({ path, value, line })
      else if (isObject(value)) visit(value, `${path}.`)
      else throw new UserError(`${file}:${line}: ${path} has to be an object of options`, 2)
    }
  }
  visit(root, '')
  return members
}

function parse(text: string, file: string): unknown {
  try {
    return parseJson5(text)
  } catch (error) {
    const { message, lineNumber } = error as Error & { lineNumber?: number }
    const place = lineNumber === undefined ? file : `${file}:${lineNumber}`
    throw new UserError(`${place}: not JSON5: ${message.slice(0, 200)}`, 2)
  }
}

/** The line of every member by its path; the text has been parsed before, so tokens suffice. */
function linesOf(text: string, file: string): Map<string, number> {
  const lines = new Map<string, number>()
  const prefixes: string[] = []
  let prefix = ''
  let before = { text: '', at: 0 }
  let line = 1
  let counted = 0
  for (const { text: found, index } of json5Tokens(text)) {
    if (found === ':') {
      for (; counted < before.at; counted++) if (text[counted] === '\n') line++
      const path = (prefixes.at(-1) ?? '') + json5Name(before.text)
      if (lines.has(path)) {
        throw new UserError(
          `${file}:${line}: ${shortened(path)} stands here a second time, after line ${lines.get(path)}`,
          2,
        )
      }
      lines.set(path, line)
      prefix = `${path}.`
    } else if (found === '{') {
      // Objects inside the value of an option get a path that no option can have.
      const isSection = before.text === ':' && prefixes.length === 1
      prefixes.push(isSection ? prefix : prefixes.length === 0 ? '' : `[${index}].`)
    } else if (found === '[') {
      prefixes.push('')
    } else if (found === '}' || found === ']') {
      prefixes.pop()
    }
    before = { text: found, at: index }
  }
  return lines
}

/** A name for a message. */
export function shortened(name: string): string {
  const text = name.length > longestName ? `${name.slice(0, longestName)}…` : name
  return /^[\w.-]+$/.test(text) ? text : JSON.stringify(text)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
