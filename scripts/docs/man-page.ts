import { type CommandNode, commandTree, everyCommand } from '../../src/program/cli/command-tree.js'
import { createProgram } from '../../src/program/cli/cli-program.js'
import { packageVersion } from '../../src/base/runtime/package-files.js'
import { helpContext } from './cli-page.js'

/** man/didledger.1: every command with its options, in the form that `man` reads. */
export function manPage(): string {
  const root = commandTree(createProgram(helpContext))
  const commands = everyCommand(root).filter(({ children }) => children.length === 0)
  return `${[
    `.TH DIDLEDGER 1 "" "didledger ${packageVersion()}" "User Commands"`,
    '.SH NAME',
    `didledger \\- ${roff(root.description)}`,
    '.SH SYNOPSIS',
    '.B didledger',
    '.I command',
    '[options]',
    '.SH DESCRIPTION',
    'Each command prints text, or one JSON value with \\fB\\-\\-json\\fR, and its own help with \\fB\\-\\-help\\fR.',
    'A node takes its options from flags, the environment and a JSON5 file, in this order.',
    '.SH COMMANDS',
    ...commands.flatMap(section),
    '.SH EXIT STATUS',
    '0 done, 1 failed, 2 wrongly called.',
    '.SH ENVIRONMENT',
    ...entry('DIDLEDGER_PASSWORD', 'password of a keystore, where no file and no terminal gives it'),
    ...entry('DIDLEDGER_CONFIG', 'configuration file of a node'),
    ...entry('DIDLEDGER_…', 'every option of a node, by its name in the configuration: DIDLEDGER_API_HOST'),
    ...entry('XDG_DATA_HOME', 'where start keeps its chains, by default ~/.local/share'),
    ...entry('DEBUG', 'with didledger in it: the stack of a failure'),
    '.SH FILES',
    ...entry('~/.local/share/didledger/<chain>-<genesis>', 'data directory of start, which holds admin.token'),
    ...entry('wallet.json', 'keystore of the wallet commands, in the directory where they run'),
  ].join('\n')}\n`
}

function section({ path, description, operands, options }: CommandNode): string[] {
  const usage = [...path, ...operands.map((operand) => operand.usage)].join(' ')
  return [
    `.SS "${roff(usage)}"`,
    roff(`${description}.`),
    ...operands.filter((operand) => operand.description !== '').flatMap((one) => entry(one.usage, one.description)),
    ...options.flatMap((flag) => entry(flag.usage, flag.description)),
  ]
}

function entry(name: string, text: string): string[] {
  return ['.TP', `.B ${roff(name)}`, roff(text)]
}

/** A text as roff prints it unchanged: a control character at its beginning and a hyphen are none. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll('…', '...')
    .replace(/^(['.])/, '\\&$1')
}
