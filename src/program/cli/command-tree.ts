import type { Argument, Command, Option } from 'commander'
import { takesPath } from '../../base/runtime/home-folder.js'

/** A command as completions and the manual page show it. */
export interface CommandNode {
  /** Names from the program on: `['didledger', 'wallet', 'send']`. */
  readonly path: readonly string[]
  readonly description: string
  readonly options: readonly CommandFlag[]
  readonly operands: readonly Operand[]
  readonly children: readonly CommandNode[]
}

export interface CommandFlag {
  /** As they are written: `-o`, `--output`. */
  readonly names: readonly string[]
  /** As the help shows it: `-o, --output <file>`. */
  readonly usage: string
  readonly description: string
  readonly takes: Values
}

export interface Operand {
  readonly usage: string
  readonly description: string
  readonly takes: Values
}

/** Values that can follow: nothing, one of some words, a file, or a text that no shell can guess. */
export type Values =
  | { readonly kind: 'nothing' | 'file' | 'text' }
  | { readonly kind: 'words'; readonly words: readonly string[] }

/** The tree of a program, with the help that every command has. */
export function commandTree(command: Command, above: readonly string[] = []): CommandNode {
  const path = [...above, command.name()]
  const help = command.createHelp()
  return {
    path,
    description: command.description(),
    options: help.visibleOptions(command).map(flagOf),
    operands: command.registeredArguments.map(operandOf),
    children: command.commands.map((child) => commandTree(child, path)),
  }
}

/** A command and all below it, in the order of the help. */
export function everyCommand(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(everyCommand)]
}

/** Commands that do something by themselves: those without others below, and those with options of their own. */
export function ownCommands(root: CommandNode): CommandNode[] {
  const isOwn = ({ children, options }: CommandNode) =>
    children.length === 0 || options.some(({ names }) => !names.includes('--help'))
  return everyCommand(root).filter((node) => node !== root && isOwn(node))
}

function flagOf(option: Option): CommandFlag {
  const { flags, description, argChoices, required, optional } = option
  const names = [option.short, option.long].filter((name) => name !== undefined)
  const takes = required || optional ? valuesOf(flags, argChoices) : ({ kind: 'nothing' } as const)
  return { names, usage: flags, description, takes }
}

function operandOf(argument: Argument): Operand {
  const shown = `${argument.name()}${argument.variadic ? '...' : ''}`
  const usage = argument.required ? `<${shown}>` : `[${shown}]`
  return { usage, description: argument.description, takes: valuesOf(usage, argument.argChoices) }
}

function valuesOf(usage: string, words: readonly string[] | undefined): Values {
  if (words !== undefined) return { kind: 'words', words }
  return { kind: takesPath(usage) ? 'file' : 'text' }
}
