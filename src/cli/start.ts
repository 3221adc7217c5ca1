import { type Command, Option } from 'commander'
import type { ProgramHash } from '../primitives/address.js'
import type { CliContext } from './context.js'
import { namingTheRepair } from './damage.js'
import { recipientOption } from './options.js'
import { examples } from './output.js'
import { runNode, type ServeOptions, startOf, withServing } from './serve.js'
import { loadSpec } from './spec.js'

interface StartOptions extends ServeOptions {
  readonly genesis: string
  readonly mine?: { readonly address: string; readonly programHash: ProgramHash }
}

export function registerStart(program: Command, context: CliContext): void {
  withServing(program.command('start'))
    .description('run a node of a chain')
    .requiredOption('--genesis <name|file>', 'chain spec: devnet, pow or a file')
    .addOption(
      new Option('--mine <address>', 'mine on a chain without validators and pay this address').argParser(
        recipientOption,
      ),
    )
    .addHelpText('after', examples('start --genesis pow --data-dir ./pow'))
    .action((options: StartOptions) => {
      const mineTo = options.mine === undefined ? {} : { mineTo: options.mine.programHash }
      return namingTheRepair(options, () =>
        runNode(context, options, { spec: loadSpec(options.genesis), ...mineTo }, (node, ports) => {
          const { start, lines } = startOf(node, ports)
          return { value: start, lines }
        }),
      )
    })
}
