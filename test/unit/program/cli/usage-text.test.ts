import { Command, InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import { usageText, withoutArguments } from '../../../../src/program/cli/usage-text.js'

const number = () => {
  throw new InvalidArgumentError('Not a number.')
}

/** What a wrong call of commander itself is turned into. */
function said(...args: string[]): string {
  let text = ''
  const program = new Command('tool')
    .exitOverride()
    .configureOutput({ writeErr: (line) => (text += line), outputError: (line, write) => write(usageText(line)) })
  program
    .command('make')
    .argument('<count>', 'how many', number)
    .option('-s, --size <n>', 'how large', number)
    .action(() => {})
  program
    .command('pay')
    .requiredOption('--to <address>', 'whom')
    .action(() => {})
  program
    .command('name')
    .argument('<what>')
    .action(() => {})
  const own = program.command('own').action(() => {})
  program.commands.forEach((command) => command.copyInheritedSettings(program))
  withoutArguments(own, 'it is that of the account')
  try {
    program.parse(args, { from: 'user' })
  } catch {
    // The text is what counts.
  }
  return text
}

describe('a wrong call', () => {
  it.each([
    [['make', 'x'], 'error: count x: Not a number.\n'],
    [['make', '--size', "it's"], "error: --size it's: Not a number.\n"],
    [['make', '--size'], 'error: --size needs a value: -s, --size <n>\n'],
    [['name'], 'error: <what> is missing\n'],
    [['pay'], 'error: --to <address> is missing\n'],
    [['name', 'a', 'b'], 'error: name takes 1 argument, not 2; quote a value with spaces\n'],
    [['pay', 'a', '--to', 'b'], 'error: pay takes options alone\n'],
    [['own', 'a'], 'error: own takes options alone: it is that of the account\n'],
    [['own', '--what'], "error: unknown option '--what'\n"],
    [['nonsense'], "error: unknown command 'nonsense'\n"],
  ])('%j', (args, text) => {
    expect(said(...args)).toBe(text)
  })
})
