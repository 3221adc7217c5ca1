import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs, type ParseArgsConfig } from 'node:util'

/**
 * Arguments of the script whose module has this URL, as `parseArgs` reads them. `--help` prints the head of the script; arguments that it
 * does not take end it with code 2.
 */
export function scriptArguments<T extends ParseArgsConfig>(url: string, config: T): ReturnType<typeof parseArgs<T>> {
  const { args = process.argv.slice(2) } = config
  if (args.includes('--help') || args.includes('-h')) {
    console.log(headOf(readFileSync(fileURLToPath(url), 'utf8')))
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (!code.startsWith('ERR_PARSE_ARGS')) throw error
    return refuse(message)
  }
}

/** The number in an argument, `least` or more. */
export function numberIn(name: string, text: string, least = 0): number {
  const value = text.trim() === '' ? NaN : Number(text)
  return value >= least
    ? value
    : refuse(`--${name} takes a number of at least ${least}, and not ${JSON.stringify(text)}`)
}

/** The whole number in an argument, `least` or more. */
export function countIn(name: string, text: string, least = 0): number {
  const value = numberIn(name, text, least)
  return Number.isSafeInteger(value) ? value : refuse(`--${name} takes a whole number, and not ${JSON.stringify(text)}`)
}

/** Ends the script: its arguments are wrong. */
export function refuse(text: string): never {
  console.error(`${text}\n--help prints what it takes.`)
  process.exit(2)
}

/** The comment of a script that names its command, without the marks of a comment. */
export function headOf(source: string): string {
  const comments = source.match(/\/\*\*\n(?: \*.*\n)+/g) ?? []
  const head = comments.find((comment) => comment.includes('npm run')) ?? ''
  return head.replace(/^\/\*\*\n|^ \*\/?[^\S\n]?|\n \*\/\n$/gm, '').trimEnd()
}
