import type { Command } from 'commander'
import { nodeOptions } from '../config/options.js'
import { UserError } from '../errors.js'
import { miningOptions } from '../mining/options.js'
import { parseAddress } from '../primitives/address.js'
import { storageOptions } from '../storage/options.js'
import { waysToSet, withConfig } from './config-options.js'
import type { CliContext } from './context.js'
import { namingTheRepair } from './damage.js'
import { examples } from './output.js'
import { runNode, startOf } from './serve.js'
import { loadSpec } from './spec.js'

export function registerStart(program: Command, context: CliContext): void {
  withConfig(program.command('start'), 'start', context, (config, output) => {
    const genesis = config.get(nodeOptions.genesis)
    if (genesis === undefined) throw new UserError(`which chain? Give ${waysToSet(nodeOptions.genesis)}`, 2)
    const payTo = parseAddress(config.get(miningOptions.payTo) ?? '')
    const mineTo = payTo === undefined ? {} : { mineTo: payTo }
    return namingTheRepair({ genesis, dataDir: config.get(storageOptions.dataDir) }, () =>
      runNode(context, config, output, { spec: loadSpec(genesis), ...mineTo }, (node, ports) => {
        const { start, lines } = startOf(node, ports)
        return { value: start, lines }
      }),
    )
  })
    .description('run a node of a chain')
    .addHelpText('after', examples('start --genesis pow --data-dir ./pow', 'start --config node.json5 --print-config'))
}
