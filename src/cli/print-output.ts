import { defaultRestUrl } from '../client/node-client.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions } from './command-options.js'

/** Prints a result: `value` as JSON with `--json`, else `lines`. */
export function report(context: CliContext, options: OutputOptions, value: unknown, lines: readonly string[]): void {
  const text = options.json ? JSON.stringify(value, null, 2) : lines.join('\n')
  context.out(`${text}\n`)
}

/** "  name    value" lines, the values below each other. */
export function formatTable(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
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

/** A text of others in one line, without characters that would move the cursor or hide something. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
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
