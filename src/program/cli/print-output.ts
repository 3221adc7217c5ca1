import { defaultRestUrl } from '../../clients/client/node-client.js'
import { fileReason } from '../../clients/wallet/files.js'
import { UserError } from '../../base/errors/rule-error.js'
import { visible } from '../../base/runtime/visible-text.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions } from './command-options.js'

/** Prints a result: `value` as JSON with `--json`, else `lines`. */
export function report(context: CliContext, options: OutputOptions, value: unknown, lines: readonly string[]): void {
  context.out(resultText(options, value, lines))
}

/**
 * {@link report} of what is shown once and kept nowhere in words. Where it cannot be written, `undo` takes back what it belongs to, and
 * says that as the end of the failure.
 */
export async function reportOnce(
  context: CliContext,
  options: OutputOptions,
  value: unknown,
  lines: readonly string[],
  undo: () => string,
): Promise<void> {
  try {
    await context.deliver(resultText(options, value, lines))
  } catch (error) {
    throw new UserError(`standard output cannot be written: ${fileReason(error)}; ${undo()}`)
  }
}

function resultText(options: OutputOptions, value: unknown, lines: readonly string[]): string {
  return options.json ? `${JSON.stringify(value, null, 2)}\n` : linesText(lines)
}

/** {@link report} of a command that keeps running: the JSON is one line, so that a script can read it meanwhile. */
export function announce(context: CliContext, options: OutputOptions, value: unknown, lines: readonly string[]): void {
  context.out(options.json ? `${JSON.stringify(value)}\n` : linesText(lines))
}

/** Lines as a text: what ends a line within one of them is written out, so that no text of others makes a line of its own. */
export function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${visible(line)}\n`).join('')
}

/** JSON as lines of a text. */
export function jsonLines(value: unknown): string[] {
  return JSON.stringify(value, null, 2).split('\n')
}

/** "  name    value" lines, the values below each other. */
export function formatTable(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
}

/** Rows of equal columns; numbers end below each other in those that `isNumber` names. */
export function columnLines(
  rows: readonly (readonly string[])[],
  isNumber: (column: number) => boolean = () => false,
): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const padded = (cell: string, i: number) =>
    isNumber(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)
  return rows.map((row) => row.map(padded).join('  ').trimEnd())
}

/** The options to repeat in the next command. */
export function sameOptions(options: {
  wallet?: string
  devnetAccount?: number
  account?: number
  rest?: string
}): string {
  const { wallet, devnetAccount, account, rest } = options
  const words = [
    devnetAccount === undefined ? [] : ['--devnet-account', String(devnetAccount)],
    wallet === undefined ? [] : ['--wallet', wallet],
    account === undefined ? [] : ['--account', String(account)],
    rest === undefined || rest === defaultRestUrl ? [] : ['--rest', rest],
  ].flat()
  return words.map((part) => ` ${shellWord(part)}`).join('')
}

/** Quotes a text as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The help text that shows how a command is used. */
export function examples(...commands: string[]): string {
  const plural = commands.length === 1 ? 'Example' : 'Examples'
  return `\n${plural}:\n${commands.map((command) => `  $ npx didledger ${command}`).join('\n')}`
}
