import type { Command } from 'commander'
import type { CliContext } from '../../src/cli/cli-context.js'
import { createProgram } from '../../src/cli/cli-program.js'

const width = 110

/** docs/cli.md: every command, by its own help. */
export function cliPage(): string {
  const sections = commandsOf(createProgram(context)).map(
    (command) => `## ${nameOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  )
  return `# Commands

Generated from the help of the commands by \`npm run docs\`.

In a clone of this repository each command begins with \`npx\`. Exit codes: 0 done, 1 failed, 2 wrongly called. With \`--json\` a
command prints one JSON value, and a failure as \`{"error": {"code", "message"}}\` on standard error. \`DEBUG=didledger\` adds the
stack of a failure.

${sections.join('\n')}`
}

/** Every command with an action, in the order of the help. */
export function commandsOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(commandsOf)
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
const context: CliContext = {
  clock: { now: () => 0 },
  random: { bytes: (length) => new Uint8Array(length) },
  env: {},
  out: () => {},
  err: () => {},
  prompt: undefined,
}
