import type { Command } from 'commander'
import { contextIn } from '../../src/program/cli/cli-context.js'
import { createProgram } from '../../src/program/cli/cli-program.js'
import { code, filled, linkTo, tableRow } from './shown.js'

const width = 110

/** docs/cli.md: every command, by its own help. */
export async function cliPage(): Promise<string> {
  const commands = commandsOf(await createProgram(helpContext))
  const rows = commands.map((command) => {
    const name = nameOf(command)
    return tableRow(linkTo(name, code(name)), command.description())
  })
  const sections = commands.map((command) => `## ${nameOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`)
  return filled('cli.md', { rows, sections })
}

/** Every command with an action, in the order of the help. */
export function commandsOf(command: Command): Command[] {
  const below = command.commands.flatMap(commandsOf)
  const isOwn = below.length === 0 || (command.parent !== null && command.options.length > 0)
  return isOwn ? [command, ...below] : below
}

/** `didledger did create` and the like. */
export function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => width }).outputHelp()
  return text.trim()
}

/** Help needs no real context. */
export const helpContext = contextIn({
  clock: { now: () => 0 },
  random: { bytes: (length) => new Uint8Array(length) },
  env: {},
  out: () => {},
  err: () => {},
  prompt: undefined,
})
