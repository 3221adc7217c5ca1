import { Argument, type Command } from 'commander'
import type { CliContext } from './cli-context.js'
import { commandTree } from './command-tree.js'
import { type OutputOptions, withOutput } from './command-options.js'
import { completionScript, type Shell, shells } from './completion-scripts.js'
import { examples } from './print-output.js'

/** `didledger completion` */
export function registerCompletion(program: Command, context: CliContext): void {
  withOutput(program.command('completion'))
    .description('print a script that completes the words of this program in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', examples('completion bash > ~/.local/share/bash-completion/completions/didledger'))
    .action((shell: Shell, { json }: OutputOptions) => {
      const script = completionScript(shell, commandTree(program))
      context.out(json ? `${JSON.stringify({ shell, script })}\n` : script)
    })
}
