import type { Command } from 'commander'
import { contextIn } from '../../src/program/cli/cli-context.js'
import { createProgram } from '../../src/program/cli/cli-program.js'
import { linkTo, tableRow } from './shown.js'

const width = 110

/** docs/cli.md: every command, by its own help. */
export function cliPage(): string {
  const commands = commandsOf(createProgram(helpContext))
  const rows = commands.map((command) => {
    const name = nameOf(command)
    return tableRow(linkTo(name, `\`${name}\``), command.description())
  })
  const sections = commands.map((command) => `## ${nameOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`)
  return `# Commands

Generated from the help of the commands by \`npm run docs\`.

| command | does |
| --- | --- |
${rows.join('\n')}

In a clone of this repository each command begins with \`npx\`. Exit codes: 0 done, 1 failed, 2 wrongly called. With \`--json\` a
command prints one JSON value, and a failure as \`{"error": {"code", "message"}}\` on standard error. \`DEBUG=didledger\` adds the
stack of a failure. In all that a command prints, control characters, marks that turn text around and characters that are not seen are
written out in the form of JSON, as \`\\u001b\`: no text of a node or document steers the terminal, and JSON means the same.

A node takes its options from flags, the environment (\`DIDLEDGER_API_HOST=…\`) and a JSON5 file (\`--config FILE\`), in this order;
\`--print-config\` shows what that comes to and where each value is from ([configuration.md](configuration.md)).

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
export const helpContext = contextIn({
  clock: { now: () => 0 },
  random: { bytes: (length) => new Uint8Array(length) },
  env: {},
  out: () => {},
  err: () => {},
  prompt: undefined,
})
