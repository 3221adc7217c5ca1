import type { Command } from 'commander'
import { linesText } from './print-output.js'

/** commander's texts for wrong calls, and their replacements: the word in the call, then its fault. */
const texts: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [
    /^error: command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)$/s,
    (given, name, why) => `${name} ${given}: ${why}`,
  ],
  [
    /^error: option '(.*)' argument '(.*)' is invalid\. (.*)$/s,
    (flags, given, why) => `${longFlag(flags)} ${given}: ${why}`,
  ],
  [/^error: missing required argument '(.*)'$/, (name) => `<${name}> is missing`],
  [/^error: required option '(.*)' not specified$/, (flags) => `${flags} is missing`],
  [/^error: option '(.*)' argument missing$/, (flags) => `${longFlag(flags)} needs a value: ${flags}`],
  [
    /^error: too many arguments(?: for '(.*)')?\. Expected (\d+) arguments? but got (\d+)\.$/,
    (command, most, given) => {
      const name = command || 'this command'
      if (most === '0') return `${name} takes options alone`
      return `${name} takes ${most} ${most === '1' ? 'argument' : 'arguments'}, not ${given}; quote a value with spaces`
    },
  ],
]

/** Prints of wrong calls of a command why it takes no argument, where one might be expected. */
export function withoutArguments(command: Command, why: string): Command {
  const outputError = (text: string, write: (text: string) => void) => {
    const said = usageText(text)
    const isExcess = text.startsWith('error: too many arguments')
    write(isExcess ? linesText([`${said.trimEnd()}: ${why}`]) : said)
  }
  return command.configureOutput({ outputError })
}

/** A message of commander about a wrong call in the words of the other messages: a line, and one with what may have been meant. */
export function usageText(text: string): string {
  const [, line = text, meant] = /^(.*?)(?:\n(\(Did you mean [^\n]*\)))?$/s.exec(text.trimEnd()) ?? []
  return linesText([saidOf(line), ...(meant === undefined ? [] : [meant])])
}

/** {@link usageText} as the message of a failure. */
export function usageMessage(said: string): string {
  return said
    .trimEnd()
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
}

function saidOf(line: string): string {
  for (const [pattern, said] of texts) {
    const match = pattern.exec(line)
    if (match === null) continue
    const [, ...parts] = match.map((part: string | undefined) => part ?? '')
    return `error: ${said(...parts)}`
  }
  return line
}

/** `-o, --output <file>` → `--output`. */
function longFlag(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags
}
