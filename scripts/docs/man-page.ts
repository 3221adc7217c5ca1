import { type CommandNode, commandTree, ownCommands } from '../../src/program/cli/command-tree.js'
import { createProgram } from '../../src/program/cli/cli-program.js'
import { packageVersion } from '../../src/base/runtime/package-files.js'
import { helpContext } from './cli-page.js'
import { filled } from './shown.js'

/** man/didledger.1: every command with its options, in the form that `man` reads. */
export async function manPage(): Promise<string> {
  const root = commandTree(await createProgram(helpContext))
  const commands = ownCommands(root)
  const parts = { version: packageVersion(), description: roff(root.description), commands: commands.flatMap(section) }
  return filled('didledger.1', parts)
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
